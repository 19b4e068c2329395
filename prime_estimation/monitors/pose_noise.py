# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Noise of motion capture poses by themselves, before there is an estimate to compare them with."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from ..types import PoseSample

# s between poses, at most: over more the third difference of a trotting trunk is one of its motion
SPACING, EVEN = 0.02, 0.3  # and share by which the times between them may differ
FEWEST = 20  # third differences that tell a deviation to a seventh
THIRD = np.array([-1.0, 3.0, -3.0, 1.0])
MEDIAN = 2.366  # of chi-square with three degrees of freedom


def pose_noise(poses: Sequence[PoseSample]) -> tuple[float, float] | None:
    """Standard deviations of position [m] and rotation [rad] by axis; None: too few poses.

    White noise of deviation s has third differences d of variance `20 s^2`, and a trunk hardly any
    from one pose to the next. With the median of |d|^2 over four poses in a row, of which single
    ones may be outliers,

        s^2 = median |d|^2 / (20 chi2_3(0.5))
    """
    if len(poses) < FEWEST:
        return None
    times = 1e-9 * np.array([pose.stamp_ns for pose in poses])
    places = np.array([pose.position_world for pose in poses])
    quats = [pin.Quaternion(np.array(pose.quat_world_body)).normalized() for pose in poses]
    turns, steps, squares = [quat.toRotationMatrix() for quat in quats], np.diff(times), []
    for k in range(len(poses) - 3):
        three = steps[k : k + 3]
        even = np.ptp(three) < EVEN * three.mean()
        if not even or three.min() <= 0.0 or three.max() > SPACING:
            continue
        rotations = np.array([pin.log3(turns[k].T @ turn) for turn in turns[k : k + 4]])
        away = THIRD @ places[k : k + 4], THIRD @ rotations
        squares.append([d @ d for d in away])
    if len(squares) < FEWEST:
        return None
    position, rotation = np.sqrt(np.median(squares, axis=0) / (MEDIAN * (THIRD @ THIRD)))
    return float(position), float(rotation)
