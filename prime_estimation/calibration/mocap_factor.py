# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Factor of motion capture: pose of the tracked body."""

from __future__ import annotations

import numpy as np

from .factor import GRAVITY, Bend, Factor, columns_of, side_by_side
from .offsets import Offsets
from .recording import KinematicRecording
from .rotations import (
    bending,
    outer,
    rotate,
    sine_jacobian,
    sine_vector,
    skew,
    transpose,
)
from .trajectory import POSITION, ROTATION, VELOCITY, Trajectory


def mocap_pose(x: Trajectory, recording: KinematicRecording, offsets: Offsets) -> Factor:
    """Position (world axes) and rotation (body axes) of the tracked body."""
    m = recording.mocap
    p, R, v = x.position[m.node], x.rotation[m.node], x.velocity[m.node]
    C = offsets.imu_rotation.T
    arm = C @ (offsets.mocap_position - offsets.imu_position)
    Rt = R @ m.turn  # of the IMU at the pose
    own = m.shift + m.turn @ arm  # IMU axes at the node
    age = m.age[:, None]
    position = p + v * age + 0.5 * GRAVITY * age**2 + rotate(R, own)
    body = C @ offsets.mocap_rotation
    E = transpose(m.rotation) @ Rt @ body
    r = np.concatenate([position - m.position, sine_vector(E)], axis=1)
    S, n, Z = sine_jacobian(E), len(r), np.zeros((3, 3))
    one = np.eye(3)
    rows = [
        [np.broadcast_to(one, (n, 3, 3)), -R @ skew(own), age[:, :, None] * one],
        [Z, S @ transpose(m.turn @ body), Z],
    ]
    J = np.concatenate([side_by_side((n, 3), row, r.dtype) for row in rows], axis=1)
    at = offsets.columns
    parameters = np.concatenate(
        [np.r_[at[k]] for k in ("imu_rotation", "imu_position", "mocap_rotation", "mocap_position")]
    )
    columns = np.array(columns_of(POSITION, ROTATION, VELOCITY))

    def by_offsets() -> np.ndarray:
        rows = [[Rt @ skew(arm), -Rt @ C, Z, Rt @ C], [-S @ body.T, Z, S, Z]]
        return np.concatenate([side_by_side((n, 3), row, r.dtype) for row in rows], axis=1)

    def curvature(force: np.ndarray) -> list[Bend]:
        N = -0.5 * m.turn @ body @ skew(force[:, 3:]) @ transpose(m.rotation) @ R
        pulled = rotate(transpose(R), force[:, :3])
        return [Bend(ROTATION, ROTATION, bending(N) + bending(outer(own, pulled)))]

    return Factor("mocap", m.node, r, columns, J, parameters, by_offsets, curvature)
