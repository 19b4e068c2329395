# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Noise of poses by themselves: found beside the motion of a trunk, and beside outliers."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from prime_estimation.monitors.pose_noise import FEWEST, pose_noise
from prime_estimation.types import PoseSample


def trot(rate: float, position: float, rotation: float, seconds: float = 2.0):
    """Poses [Hz] of a trunk that trots, with noise of these deviations by axis [m, rad]."""
    rng, poses = np.random.default_rng(3), []
    for t in np.arange(0.0, seconds, 1.0 / rate):
        sway = np.sin(2.0 * np.pi * 2.5 * t + np.arange(3.0))
        place = np.array([0.5 * t, 0.0, 0.3]) + 0.01 * sway + position * rng.standard_normal(3)
        turn = pin.exp3(0.05 * sway) @ pin.exp3(rotation * rng.standard_normal(3))
        poses.append(PoseSample(round(1e9 * t), place, pin.Quaternion(turn).coeffs()))
    return poses


@pytest.mark.parametrize("deviations", [(1e-3, 0.01), (5e-3, 0.03), (2e-2, 0.1)])
@pytest.mark.parametrize("rate", [100.0, 240.0])
def test_pose_noise_is_found(rate, deviations):
    assert pose_noise(trot(rate, *deviations)) == pytest.approx(deviations, rel=0.25)


def test_motion_is_no_noise():
    position, rotation = pose_noise(trot(120.0, 0.0, 0.0))
    assert position < 1e-4 and rotation < 1e-3


def test_outliers_are_no_noise():
    poses = trot(120.0, 2e-3, 0.01)
    for k in range(5, len(poses), 30):
        far = poses[k].position_world + np.array([0.4, 0.0, 0.0])
        poses[k] = PoseSample(poses[k].stamp_ns, far, poses[k].quat_world_body)
    assert pose_noise(poses) == pytest.approx((2e-3, 0.01), rel=0.35)


def test_poses_that_are_few_or_far_apart_tell_nothing():
    assert pose_noise(trot(120.0, 1e-3, 0.01)[: FEWEST - 1]) is None
    assert pose_noise(trot(30.0, 1e-3, 0.01, 5.0)) is None
    # every second one is missing at times: what is left in a row counts
    gaps = [pose for k, pose in enumerate(trot(120.0, 1e-3, 0.01)) if k % 3]
    assert pose_noise(gaps) is None
