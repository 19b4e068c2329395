# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Base state of an estimate: axes, covariances and contacts with known answers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from helpers.estimates import make_estimate
from scipy.spatial.transform import Rotation
from scipy.stats import norm

from prime_estimation import Robot
from prime_estimation.policy.base_state import Joints, base_state
from prime_estimation.robot import GRAVITY


def state_of(robot: Robot, **changes):
    joints = Joints(*np.zeros((2, robot.nj)))
    return base_state(make_estimate(robot, 0, **changes), "", tuple(robot.feet), joints)


def test_gravity_and_covariances_are_in_base_axes():
    """Of a robot that pitches its nose down by 0.3 rad; about gravity a turn changes nothing."""
    rng = np.random.default_rng(0)
    pose, twist = (np.diag(rng.uniform(1.0, 2.0, 6)) for _ in range(2))
    quat = Rotation.from_rotvec([0.0, 0.3, 0.0]).as_quat()
    go2 = Robot.load("go2")
    state = state_of(go2, quat_world_base=quat, pose_covariance=pose, twist_covariance=twist)
    gravity = np.array([np.sin(0.3), 0.0, -np.cos(0.3)])
    np.testing.assert_allclose(state.projected_gravity, gravity, atol=1e-12)
    np.testing.assert_array_equal(state.linear_velocity_covariance, twist[:3, :3])
    np.testing.assert_array_equal(state.angular_velocity_covariance, twist[3:, 3:])
    step, eye = 1e-6, np.eye(3)
    turned = [Rotation.from_rotvec(step * e).inv().apply(gravity) for e in eye]
    slopes = (np.array(turned).T - gravity[:, None]) / step  # of gravity by turns about the axes
    expected = slopes @ pose[3:, 3:] @ slopes.T
    np.testing.assert_allclose(state.projected_gravity_covariance, expected, atol=1e-5)


def test_corners_of_a_foot_carry_together():
    """Means and variances of their vertical forces add up, against a share of the weight."""
    g1 = Robot.load("g1")
    foot = g1.feet[0]
    corners = [c.foot == foot for c in g1.contacts]
    weight = 0.05 * GRAVITY * g1.total_mass  # N, above which a foot is in contact
    force, covariance = np.array([3.0, -1.0, (weight + 2.0) / sum(corners)]), np.diag([9.0, 9.0, 4])

    estimate = make_estimate(g1, 0)
    contacts = tuple(
        replace(
            c, force_world=force if own else np.zeros(3), force_covariance=covariance / sum(corners)
        )
        for c, own in zip(estimate.contacts, corners)
    )
    state = state_of(g1, contacts=contacts)
    np.testing.assert_allclose(state.contact_force_world[0], sum(corners) * force)
    assert state.contact_probability[0] == pytest.approx(norm.cdf(1.0))
    assert state.contact_probability[1] == pytest.approx(norm.cdf(-weight / 2.0))
    assert state.contacts.tolist() == [True, False]
