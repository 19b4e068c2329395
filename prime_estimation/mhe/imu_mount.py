# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Mount of the IMU: fixed on the base, or on a link that joints move against it."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from .. import _core
from ..robot import Robot


class ImuMount:
    """Pose and motion of the IMU relative to the base.

    Args:
        robot: without IMU, or without floating base, the mount is the base frame itself.

    Attributes:
        core: the same, for the C++ nodes. `rigid`: no joint between base and IMU.
    """

    def __init__(self, robot: Robot):
        self._model, self._coordinates = robot.model, robot.coordinates
        there = robot.imu_joint is not None and robot.config.floating_base
        self.core = _core.ImuMount(
            robot.model,
            *((robot.imu_joint, robot.imu_placement) if there else (1, pin.SE3.Identity())),
        )
        self.rigid = self.core.size == 0
        self._placement = robot.imu_placement if there else pin.SE3.Identity()
        self.move(np.zeros(3), np.zeros(3))

    def move(self, phi: np.ndarray, lever: np.ndarray) -> None:
        """Let the IMU be turned by `exp(phi)` [rad] and away by a lever [m], its axes in the model.

        Both against where the model has it.
        """
        self._moved = pin.SE3(pin.exp3(np.array(phi)), np.array(lever))
        self._fixed = self._placement * self._moved, pin.Motion.Zero()

    def base_rate(
        self, gyro: np.ndarray, joint_position: np.ndarray, joint_velocity: np.ndarray | None
    ) -> np.ndarray:
        """Angular velocity (3,) of the base by a reading of the gyro, base axes [rad/s].

        Args:
            gyro: (3,) without bias, axes of the IMU [rad/s].
            joint_position: (nj,) as of `motion`.
            joint_velocity: (nj,) as of `motion`.
        """
        base_M_imu, moved = self.motion(joint_position, joint_velocity)
        return base_M_imu.rotation @ (gyro - moved.angular)

    def motion(
        self, joint_position: np.ndarray | None = None, joint_velocity: np.ndarray | None = None
    ) -> tuple[pin.SE3, pin.Motion]:
        """Pose of the IMU in the base [m], and its twist relative to it, in its own axes.

        Args:
            joint_position: (nj,) rad; like the rates, not needed where the IMU sits on the base.
            joint_velocity: (nj,) rad/s; None: at rest.
        """
        if self.rigid:
            return self._fixed
        joints = self._coordinates(joint_position)
        q, v = np.zeros(self._model.nq), np.zeros(self._model.nv)
        q[len(q) - len(joints) :] = joints
        if joint_velocity is not None:
            v[len(v) - len(joint_velocity) :] = joint_velocity
        pose, twist = self.core.pose(q, v)
        return pose * self._moved, self._moved.actInv(twist)
