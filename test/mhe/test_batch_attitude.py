# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Attitude of a start batch: by what is felt, by poses, and with the heading of before."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from prime_estimation.errors import InitializationError
from prime_estimation.mhe.batch_attitude import ImuMotion, first_attitude, nearest_rotation
from prime_estimation.types import Measurement, PoseSample

FIRST = pin.rpy.rpyToMatrix(0.2, -0.1, 0.0)
MOUNT = pin.rpy.rpyToMatrix(0.0, 0.4, 1.0)  # of the IMU in the base
TURNS = [pin.exp3(k * np.array([0.02, -0.03, 0.05])) for k in range(30)]
IMU = ImuMotion([MOUNT] * 30, [], TURNS, [])


def felt(R0: np.ndarray) -> list[Measurement]:
    """What an IMU feels of a base that turns on the spot, from an attitude (3, 3) on."""
    forces = [(R0 @ turn @ MOUNT).T @ [0.0, 0.0, 9.81] for turn in TURNS]
    return [Measurement(k, None, None, None, accelerometer=f) for k, f in enumerate(forces)]


def up_of(R: np.ndarray) -> np.ndarray:
    return R[2]


def test_the_specific_force_tells_the_vertical_of_a_base_that_turns():
    np.testing.assert_allclose(up_of(first_attitude(felt(FIRST), IMU, None)), up_of(FIRST))


def test_the_heading_is_that_of_the_estimate_before():
    before = np.zeros(7)
    before[3:7] = pin.Quaternion(pin.rpy.rpyToMatrix(0.3, 0.1, 2.0)).coeffs()
    found = first_attitude(felt(FIRST), IMU, before)
    np.testing.assert_allclose(up_of(found), up_of(FIRST), atol=1e-12)
    assert np.arctan2(found[1, 0], found[0, 0]) == pytest.approx(2.0)


def test_poses_tell_the_attitude_at_the_first_node():
    """Whichever node has them, in the mean, and whatever length their quaternions have."""
    R0, ms = pin.rpy.rpyToMatrix(0.2, -0.1, 2.5), felt(np.eye(3))
    for k, error in ((4, 0.1), (20, -0.1)):
        R = pin.exp3(np.array([0.0, 0.0, error])) @ R0 @ TURNS[k]
        pose = PoseSample(k, np.zeros(3), 3.0 * pin.Quaternion(R).coeffs())
        ms[k] = Measurement(k, None, None, None, readings={"mocap": (pose,)})
    np.testing.assert_allclose(first_attitude(ms, IMU, None), R0, atol=1e-12)


def test_what_feels_nothing_has_no_vertical():
    ms = [Measurement(0, None, None, None, accelerometer=np.zeros(3))] * 30
    with pytest.raises(InitializationError, match="up is unknown"):
        first_attitude(ms, IMU, None)


def test_nearest_rotation_is_one_even_to_a_reflection():
    R = pin.rpy.rpyToMatrix(0.3, -0.5, 1.0)
    np.testing.assert_allclose(nearest_rotation(7.0 * R), R, atol=1e-12)
    found = nearest_rotation(R @ np.diag([3.0, 2.0, -1.0]))
    np.testing.assert_allclose(found, R, atol=1e-12)
    assert np.linalg.det(found) == pytest.approx(1.0)
