# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Leg odometry against motions with a known answer."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from prime_estimation.contact.leg_odometry import BANDWIDTH, SLIP, LegOdometry
from prime_estimation.robot import GRAVITY

UP = np.array([0.0, 0.0, 1.0])


def test_the_imu_alone_carries_velocity_and_vertical_along():
    """A base that turns about a skew axis and speeds up in the world, by steps of 0.5 ms."""
    rate, acceleration, start = np.array([0.5, -0.8, 1.2]), np.array([1.0, -2.0, 0.5]), UP
    dt, steps = 5e-4, 1000
    odometry = LegOdometry()
    odometry.start(GRAVITY * start)
    for k in range(steps):
        R = pin.exp3((k + 0.5) * dt * rate)
        odometry.predict(R.T @ (acceleration + GRAVITY * UP), rate, dt)
    R, t = pin.exp3(dt * steps * rate), dt * steps
    np.testing.assert_allclose(odometry.up, R.T @ UP, atol=1e-3)
    np.testing.assert_allclose(odometry.velocity, R.T @ (t * acceleration), atol=5e-3)


def test_feet_at_rest_bring_a_tilt_back_as_a_critically_damped_system():
    """`v = -g d_0 t exp(-b t)`, `d = d_0 (1 + b t) exp(-b t)` after a tilt d_0."""
    tilt, dt, odometry = 1e-3, 5e-4, LegOdometry()
    odometry.start(np.array([np.sin(tilt), 0.0, np.cos(tilt)]))
    for k in range(1, 1001):
        odometry.correct(np.zeros((2, 3)), dt)
        odometry.predict(GRAVITY * UP, np.zeros(3), dt)
        if k % 200 == 0:
            t, fades = k * dt, np.exp(-BANDWIDTH * k * dt)
            expected = -GRAVITY * tilt * t * fades, tilt * (1.0 + BANDWIDTH * t) * fades
            found = odometry.velocity[0], odometry.up[0]
            np.testing.assert_allclose(found, expected, rtol=0.01)


@pytest.mark.parametrize("error, believed", [(0.5 * SLIP, 0.5 * SLIP), (10.0 * SLIP, SLIP)])
def test_a_foot_that_moves_fast_is_believed_up_to_a_slip(error, believed):
    odometry, dt = LegOdometry(), 0.01
    odometry.start(GRAVITY * UP)
    odometry.correct(np.array([[0.0, error, 0.0]]), dt)
    np.testing.assert_allclose(odometry.velocity, [0.0, 2.0 * BANDWIDTH * dt * believed, 0.0])
    turned = np.arctan2(-odometry.up[1], odometry.up[2])
    assert turned == pytest.approx(BANDWIDTH**2 / GRAVITY * dt * believed, rel=1e-3)


def test_most_feet_count_and_none_change_nothing():
    odometry = LegOdometry()
    odometry.start(GRAVITY * UP)
    odometry.correct(np.zeros((0, 3)), 0.01)
    odometry.correct(np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [2.0, 0.0, 0.0]]), 0.01)
    np.testing.assert_array_equal(odometry.velocity, 0.0)
    np.testing.assert_array_equal(odometry.up, UP)
