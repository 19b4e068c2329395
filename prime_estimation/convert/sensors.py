# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Sections of a mapping to readings in the robot's words: joint axes, IMU axes, world with z up."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation as Turn

from .mapping import Columns, Feet, Imu, Joints, Mocap, Targets
from .series import Rows, Series, without_garbage


class JointRows:
    """Joint quantities on the rows of their file, in the axes of the URDF.

    Attributes:
        position, velocity, effort, command: (n, nj) rad, rad/s, Nm; None where the log has none.
    """

    def __init__(self, joints: Joints, rows: Rows):
        self.joints, self._rows = joints, rows
        count = len(joints.names)
        self._signs = np.array(joints.signs or [1.0] * count, float)
        self._offsets = np.array(joints.offsets or [0.0] * count, float)
        self.position = self._turned(joints.position, "angle", "position") + self._offsets
        self.velocity = self._turned(joints.velocity, "rate", "velocity")
        self.effort = self._turned(joints.effort, "torque", "effort")
        self.command = self._turned(joints.command, "torque", "command")
        if joints.targets is not None:
            self.command = self._commanded(joints.targets)

    def _read(self, part: Columns | None, kind: str, name: str) -> np.ndarray | None:
        return None if part is None else self._rows.quantity(part, len(self._signs), kind, name)

    def _turned(self, part: Columns | None, kind: str, name: str) -> np.ndarray | None:
        values = self._read(part, kind, name)
        return None if values is None else self._signs * values

    def _commanded(self, targets: Targets) -> np.ndarray:
        """(n, nj) `tau_ff + kp (q_des - q) + kd (dq_des - dq)`."""
        command = np.zeros_like(self.position)
        effort = self._turned(targets.effort, "torque", "targets.effort")
        if effort is not None:
            command = command + effort
        kp = self._read(targets.kp, "stiffness", "targets.kp")
        wanted = self._turned(targets.position, "angle", "targets.position")
        if kp is not None and wanted is not None:
            command = command + kp * (wanted + self._offsets - self.position)
        kd = self._read(targets.kd, "damping", "targets.kd")
        if kd is not None and self.velocity is not None:
            wanted = self._turned(targets.velocity, "rate", "targets.velocity")
            command = command + kd * ((0.0 if wanted is None else wanted) - self.velocity)
        return command

    def states(self, times: np.ndarray) -> Series:
        """Topic joint_states."""
        values = {"position": self.position, "velocity": self.velocity, "effort": self.effort}
        series = Series("joint_states", times, {k: v for k, v in values.items() if v is not None})
        without_garbage(series, {name: getattr(self.joints, name).limit for name in series.values})
        return series

    def commands(self, times: np.ndarray) -> Series | None:
        """Topic joint_commands; None where the log has none."""
        if self.command is None:
            return None
        late = times + self.joints.command_delay
        series = Series("joint_commands", late, {"effort": self.command})
        command = self.joints.command
        without_garbage(series, {"effort": command.limit} if command is not None else {})
        return series


def imu_series(imu: Imu, rows: Rows) -> Series:
    """Topic imu: rate, specific force and orientation in the axes of the robot's imu_frame."""
    turn = Turn.from_euler("xyz", imu.rotation)
    values = {
        "angular_velocity": turn.apply(rows.quantity(imu.gyro, 3, "rate", "gyro")),
        "linear_acceleration": turn.apply(
            rows.quantity(imu.accelerometer, 3, "acceleration", "accelerometer")
        ),
    }
    limits = {
        "angular_velocity": imu.gyro.limit,
        "linear_acceleration": imu.accelerometer.limit,
    }
    if imu.orientation is not None:
        values["quat_world_imu"] = rows.rotation(imu.orientation, "orientation")
    series = Series("imu", rows.times - imu.delay, values)
    without_garbage(series, limits)
    if "quat_world_imu" in values:
        quat = Turn.from_quat(series.values["quat_world_imu"])
        series.values["quat_world_imu"] = (quat * turn.inv()).as_quat()
    return series


def mocap_series(mocap: Mocap, rows: Rows) -> Series:
    """Topic mocap/pose, in a world whose z points upwards."""
    up = Turn.from_euler("xyz", mocap.world_rotation)
    position = up.apply(rows.quantity(mocap.position, 3, "length", "position"))
    quat = rows.rotation(mocap.orientation, "orientation")
    series = Series("mocap/pose", rows.times - mocap.delay, {"position": position, "quat": quat})
    without_garbage(series, {"position": mocap.position.limit})
    series.values["quat"] = (up * Turn.from_quat(series.values["quat"])).as_quat()
    return series


def feet_series(feet: Feet, rows: Rows, topic: str) -> Series:
    """Topic foot_force, or contacts as flags 0 and 1."""
    values = rows.quantity(feet.values, len(feet.names), "force", "values")
    series = Series(topic, rows.times - feet.delay, {"force": values})
    without_garbage(series, {"force": feet.values.limit})
    if topic == "contacts":
        series.values["force"] = (series.values["force"] > feet.threshold).astype(float)
    return series
