# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""What the yardstick filter reads off the legs.

Foot positions and rates in the IMU frame, contact from joint torques, or as flags say.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from prime_estimation.errors import RobotError
from prime_estimation.robot import Robot


@dataclass(frozen=True)
class Feet:
    """Feet of one joint sample, in axes and about the origin of the IMU frame.

    `position` (n, 3) centres of the foot spheres [m]; `jacobian` (n, 3, nj) of these by the joints;
    `turn` (n, 3, nj) angular Jacobian of the bodies that carry them; `force` (n, 3) on the foot by
    the ground [N], NaN without torque.
    """

    position: np.ndarray
    jacobian: np.ndarray
    turn: np.ndarray
    force: np.ndarray


class Legs:
    """Leg kinematics and forces of a robot with one contact sphere per foot.

    The force is quasi-static: `f = J^-T (tau_model - tau)`, with the leg's weight and the base's
    acceleration (from the IMU) in `tau_model`, dry and viscous joint friction in `tau`, joint
    accelerations left out.
    """

    def __init__(self, robot: Robot):
        if len(robot.contacts) != len(robot.feet) or not robot.feet or robot.imu_placement is None:
            raise RobotError(
                f"{robot.name}: this filter is for robots with an IMU and one contact sphere per "
                "foot",
                robot.feet,
            )
        self.robot, self.contacts = robot, robot.contacts
        self.frames = [robot.model.getFrameId(c.frame) for c in self.contacts]
        self.centres = [np.array(c.position) for c in self.contacts]
        self.radius = np.array([c.radius for c in self.contacts])
        self.placement = robot.imu_placement  # pose_base_imu
        self.model = robot.model.copy()
        self.model.gravity.linear[:] = 0.0  # the accelerometer's specific force already holds it
        self.data = self.model.createData()
        self._q = pin.neutral(self.model)
        self._v, self._a = np.zeros(self.model.nv), np.zeros(self.model.nv)

    def feet(self, position, velocity, effort, gyro, specific_force) -> Feet:
        """Feet from one joint sample and the IMU reading that goes with it (IMU frame).

        `effort` None: no torque is known.
        """
        model, data, nj = self.model, self.data, self.robot.nj
        R = self.placement.rotation
        self._q[7:], self._v[6:] = position, velocity
        self._v[3:6], self._a[:3] = R @ gyro, R @ specific_force
        effort = np.nan if effort is None else effort
        tau_model = pin.rnea(model, data, self._q, self._v, self._a)[6:]
        pin.computeJointJacobians(model, data, self._q)
        pin.updateFramePlacements(model, data)
        rate = velocity / np.sqrt(velocity**2 + 0.05**2)
        load = (
            tau_model
            - effort
            + self.robot.joint_friction * rate
            + self.robot.joint_damping * velocity
        )
        shape = (len(self.frames), 3)
        feet = Feet(
            np.zeros(shape), np.zeros((*shape, nj)), np.zeros((*shape, nj)), np.zeros(shape)
        )
        for i, (frame, centre) in enumerate(zip(self.frames, self.centres)):
            J = pin.getFrameJacobian(model, data, frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
            arm = data.oMf[frame].rotation @ centre
            linear = J[:3, 6:] - pin.skew(arm) @ J[3:, 6:]
            feet.position[i] = R.T @ (
                data.oMf[frame].translation + arm - self.placement.translation
            )
            feet.jacobian[i], feet.turn[i] = R.T @ linear, R.T @ J[3:, 6:]
            # least squares with a little damping: near a stretched leg the force along it cannot be
            # told
            A = feet.jacobian[i].T
            feet.force[i] = np.linalg.solve(A.T @ A + 1e-5 * np.eye(3), A.T @ load)
        return feet


class ContactDetector:
    """Contact of each foot from its low-passed vertical force, with hysteresis.

    Args:
        feet: number of feet.
        on, off: thresholds as shares of the weight per foot.
        weight: of the robot [N].
        time_constant: of the low pass [s].
    """

    def __init__(
        self, feet: int, weight: float, on: float, off: float, time_constant: float = 0.004
    ):
        self.on, self.off = on * weight / feet, off * weight / feet
        self.time_constant = time_constant
        self.force = np.zeros(feet)
        self.since = np.zeros(feet)  # s, duration of the present contact
        self.contact = np.zeros(feet, bool)

    def update(self, vertical: np.ndarray, dt: float) -> np.ndarray:
        """New contact flags from the vertical forces [N] of a sample, `dt` [s] after the last."""
        self.force += (vertical - self.force) * min(1.0, dt / (self.time_constant + dt))
        return self.take(self.force > np.where(self.contact, self.off, self.on), dt)

    def take(self, now: np.ndarray, dt: float) -> np.ndarray:
        """New contact flags (n,) that are known `dt` [s] after the last."""
        self.since = np.where(now & self.contact, self.since + dt, 0.0)
        self.contact = now
        return now
