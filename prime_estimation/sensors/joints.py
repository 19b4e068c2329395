# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Joint sensors: encoders, joint rates and motor torques of sensor_msgs/JointState."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..declaration import param
from ..types import Measurement
from .joint_targets import NAME as TARGETS
from .sensor import INSTANT, READ_SELDOM, Role, Sensor, Wearer

_NOT_MEASURED = ("command", "cmd", "desired", "target", "reference")


class Joints(Sensor):
    """Encoders and joint rates, rows `encoders` and `rates` of a node.

    Position: per joint the last reading or the mean of all of the step carried to the node by the
    rates, whichever is better known. Rate: mean over the past step.
    """

    name = "joint_states"
    role = Role(("sensor_msgs/msg/JointState",), ("joint_states",), _NOT_MEASURED)
    innovations = ("encoders", "rates")

    @dataclass(frozen=True)
    class Noise:
        """Standard deviation of one sample of encoders and joint rates."""

        encoder: float = param(0.002, "joint position", "rad", 1e-6, 1.0, tunable=True)
        joint_velocity: float = param(0.05, "joint rate", "rad/s", 1e-5, 10.0, tunable=True)
        joint_velocity_sampling: float = param(
            0.06,
            "share of its change between samples 2.5 ms apart that their mean misses",
            "",
            0.0,
            1.0,
            tunable=True,
        )

    def seen(self, m: Measurement) -> bool:
        """Joint positions are there."""
        return m.position is not None

    def remark(self, m: Measurement) -> str:
        """Says that they are read seldom."""
        return READ_SELDOM.format(1e3 * m.joint_interval) if m.joints_seldom else ""

    def give_state(self, given, m: Measurement, noise, wearer: Wearer) -> None:
        """Encoders and rates with their weights."""
        if m.position is not None:
            position, stddev = self._position(m, noise, wearer.step)
            given.set("encoders", wearer.joints(position), self._weight(position, stddev))
        if m.velocity is not None:
            sampled = noise.joint_velocity / math.sqrt(m.velocity_samples)
            missed = noise.joint_velocity_sampling * m.velocity_change
            given.set("rates", m.velocity, self._weight(m.velocity, np.hypot(sampled, missed)))

    @staticmethod
    def _weight(reading: np.ndarray, stddev: np.ndarray | float) -> np.ndarray:
        """Weights (nj,) of a reading (nj,) with this standard deviation, or that of each joint."""
        weight = 1.0 / stddev
        return weight if isinstance(weight, np.ndarray) else np.full(len(reading), weight)

    @staticmethod
    def _position(m: Measurement, noise, step: float) -> tuple[np.ndarray, np.ndarray | float]:
        """Joint positions (nj,) [rad] and their standard deviation."""
        last = np.hypot(noise.encoder, m.position_change)
        if m.position_carried is None:
            return m.position, last
        samples = math.sqrt(m.velocity_samples)
        rate = np.hypot(noise.joint_velocity / samples, INSTANT * m.velocity_change)
        carried = np.hypot(noise.encoder / samples, step * rate)
        better = carried < last
        return np.where(better, m.position_carried, m.position), np.minimum(carried, last)


class Torque(Sensor):
    """Motor torque, which drives the dynamics of the step before the measurement's node.

    It has no rows of its own: what it does not explain is the disturbance (w, xi), rows `model`.
    """

    name = "torque"
    innovations = ("model",)

    @dataclass(frozen=True)
    class Noise:
        """Standard deviation of one sample of joint torque."""

        joint_torque: float = param(0.5, "joint torque", "Nm", 1e-4, 100.0, tunable=True)
        joint_torque_sampling: float = param(
            0.12,
            "share of its change that the mean of samples misses beside those 2.5 ms apart",
            "",
            0.0,
            1.0,
            tunable=True,
        )

    def seen(self, m: Measurement) -> bool:
        """Torque is measured or commanded."""
        return m.torque is not None

    def remark(self, m: Measurement) -> str:
        """Says that torques are commands, or made of targets."""
        if TARGETS in m.readings:
            return "made of joint targets, not measured"
        return "commanded, not measured" if m.torque_commanded else ""

    @staticmethod
    def stddev(m: Measurement, noise) -> np.ndarray | float:
        """Standard deviation [Nm] of the torque of a measurement: of all joints, or (nj,) of each.

        Made of targets, it has the errors of position and rate times the gains, and what the
        motors made of them.
        """
        if (held := m.readings.get(TARGETS)) is None:
            sampled = noise.joint_torque / np.sqrt(m.torque_samples)
            return np.hypot(sampled, noise.joint_torque_sampling * m.torque_change)
        noisy = np.hypot(held.stiffness * noise.encoder, held.damping * noise.joint_velocity)
        obeyed = np.hypot(noise.joint_targets, noise.joint_targets_share * m.torque)
        return np.hypot(noisy / np.sqrt(m.torque_samples), obeyed)


class Commands(Sensor):
    """Commanded torques, which stand in for measured ones that are not there."""

    name = "joint_commands"
    role = Role(("sensor_msgs/msg/JointState",), ("joint_commands",), by_name_only=True)

    def seen(self, m: Measurement) -> bool:
        """It shows as torque."""
        return False
