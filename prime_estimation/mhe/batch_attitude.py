# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Attitude of a start batch: rotations by gyro, vertical by specific force or motion capture."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from ..errors import InitializationError
from ..types import Measurement
from .problem import Problem

UPWARDS = np.array([0.0, 0.0, 1.0])
NOTHING = 1e-3  # m/s2, norm of a sum of specific forces that has no direction


@dataclass(frozen=True)
class ImuMotion:
    """Motion of the base at the nodes of a batch, from the IMU.

    Attributes:
        rotations: of the IMU in the base. rates: (3,) of the base, base axes [rad/s].
        turns: rotation of the base since the first node.
        offsets: (3,) velocity of the IMU relative to the base's, base axes [m/s].
    """

    rotations: list[np.ndarray]
    rates: list[np.ndarray]
    turns: list[np.ndarray]
    offsets: list[np.ndarray]

    def felt(self, R0: np.ndarray, ms: list[Measurement], problem: Problem) -> np.ndarray:
        """Velocity (n, 3) [m/s] that the IMU has gained since the first node, world axes.

        Nothing in steps in which nothing is felt.

        Args:
            R0: attitude (3, 3) of the base at the first node.
            ms: measurements of the nodes.
            problem: its gravity and step.
        """
        gravity, changes = problem.robot.model.gravity.linear, [np.zeros(3)]
        for turn, rotation, m in zip(self.turns, self.rotations, ms[1:]):
            f = m.accelerometer
            felt = np.zeros(3) if f is None else R0 @ turn @ rotation @ f + gravity
            changes.append(problem.dt * felt)
        return np.cumsum(changes, axis=0)

    def gained(self, R0: np.ndarray, ms: list[Measurement], problem: Problem) -> np.ndarray | None:
        """The same of the base; None where it is not felt all the time. Arguments as of `felt`."""
        if any(m.accelerometer is None for m in ms[1:]):
            return None
        offsets = np.array([R0 @ turn @ own for turn, own in zip(self.turns, self.offsets)])
        return self.felt(R0, ms, problem) - (offsets - offsets[0])


def imu_motion(problem: Problem, ms: list[Measurement], xs: list[np.ndarray]) -> ImuMotion:
    """Motion of the base at nodes of which the joints are known."""
    poses = [problem.imu_motion(x) for x in xs]
    rates = [
        X.rotation @ (m.gyro - moved.angular) if m.gyro is not None else np.zeros(3)
        for m, (X, moved) in zip(ms, poses)
    ]
    turns = [np.eye(3)]
    for rate in rates[1:]:
        turns.append(turns[-1] @ pin.exp3(problem.dt * rate))
    offsets = [
        np.cross(rate, X.translation) + X.rotation @ moved.linear
        for rate, (X, moved) in zip(rates, poses)
    ]
    return ImuMotion([X.rotation for X, _ in poses], rates, turns, offsets)


def first_attitude(
    ms: list[Measurement], imu: ImuMotion, previous_state: np.ndarray | None
) -> np.ndarray:
    """Attitude (3, 3) of the base at the first node."""
    poses = [(pose, turn) for m, turn in zip(ms, imu.turns) for pose in m.mocap]
    if poses:
        seen = [
            pin.Quaternion(p.quat_world_body / np.linalg.norm(p.quat_world_body)) for p, _ in poses
        ]
        return nearest_rotation(
            sum(quat.toRotationMatrix() @ turn.T for quat, (_, turn) in zip(seen, poses))
        )
    up = sum(
        (
            turn @ R @ m.accelerometer
            for m, turn, R in zip(ms, imu.turns, imu.rotations)
            if m.accelerometer is not None
        ),
        np.zeros(3),
    )
    if np.linalg.norm(up) < NOTHING:
        what = "cannot start: no specific force and no motion capture, so that up is unknown"
        raise InitializationError(what, ms)
    level = pin.Quaternion.FromTwoVectors(up / np.linalg.norm(up), UPWARDS).toRotationMatrix()
    if previous_state is None:
        return level
    previous = pin.Quaternion(previous_state[3:7].copy()).toRotationMatrix()
    heading = _heading(previous) - _heading(level)
    return pin.exp3(np.array([0.0, 0.0, heading])) @ level


def _heading(R: np.ndarray) -> float:
    """Direction of the first axis around the vertical [rad]."""
    return float(np.arctan2(R[1, 0], R[0, 0]))


def nearest_rotation(matrix: np.ndarray) -> np.ndarray:
    """Rotation R (3, 3) with the largest `tr(R^T M)` for a matrix M (3, 3) (Wahba's problem)."""
    u, _, vt = np.linalg.svd(matrix)
    return u @ np.diag([1.0, 1.0, np.linalg.det(u @ vt)]) @ vt
