# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Initial trajectory of a recording: states from motion capture and encoders."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import gaussian_filter1d
from scipy.spatial.transform import Rotation, Slerp

from .leg_factors import leg_terms
from .leg_kinematics import Leg
from .offsets import Offsets
from .recording import KinematicRecording
from .rotations import rotate
from .trajectory import Trajectory


def initial_trajectory(
    legs: list[Leg], recording: KinematicRecording, offsets: Offsets
) -> Trajectory:
    """States from motion capture and encoders, biases zero."""
    m, n = recording.mocap, len(recording)
    times, first = np.unique(recording.step * m.node + m.age, return_index=True)
    at = np.clip(recording.step * np.arange(n), times[0], times[-1])
    body = Slerp(times, Rotation.from_matrix(m.rotation[first]))(at).as_matrix()
    R = body @ offsets.mocap_rotation.T @ offsets.imu_rotation
    place = np.stack([np.interp(at, times, c) for c in m.position[first].T], axis=1)
    p = place - R @ offsets.imu_rotation.T @ (offsets.mocap_position - offsets.imu_position)
    v = np.gradient(gaussian_filter1d(p, 1.5, axis=0), recording.step, axis=0)
    points = [leg_terms(leg, i, recording, offsets).point for i, leg in enumerate(legs)]
    feet = [p + rotate(R, point) for point in points]
    zero = np.zeros((n, 3))
    return Trajectory(p, R, v, zero, zero, np.stack(feet, axis=1))
