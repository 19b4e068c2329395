# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Soles and forces of the legs against the readable twin."""

import numpy as np
import pinocchio as pin
import pytest
from helpers import models
from reference import leg_forces

from prime_estimation import _core
from prime_estimation.contact.leg_forces import LegForces, contact_points


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def state(robot, rng):
    """Random posture on its legs, rates, accelerations and torques."""
    model = robot.model
    q = pin.integrate(model, pin.neutral(model), rng.uniform(-0.7, 0.7, model.nv))
    return q, *rng.normal(size=(2, model.nv)), rng.normal(0.0, 10.0, robot.nj)


@pytest.mark.parametrize("name", ["go1", "go2", "g1"])
def test_against_the_twin(name, rng):
    robot = models.robot(name)
    legs = LegForces(robot)
    for _ in range(20):
        at = state(robot, rng)
        for ours, theirs in zip(legs.evaluate(*at), leg_forces.evaluate(robot, *at)):
            np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["go2", "g1"])
def test_a_stretched_leg_hides_the_force_along_it(name, rng):
    robot = models.robot(name)
    q, v, a, torque = state(robot, rng)
    q[7:] = 0.0
    force = LegForces(robot).evaluate(q, v, a, torque)[2]
    np.testing.assert_allclose(force, leg_forces.evaluate(robot, q, v, a, torque)[2], rtol=1e-6)
    assert np.abs(force).max() < 1e4


def test_a_torque_that_is_not_finite_hides_the_force_of_its_leg_only(rng):
    robot = models.robot("go2")
    legs = LegForces(robot)
    q, v, a, torque = state(robot, rng)
    expected = legs.evaluate(q, v, a, torque)[2]
    torque[4] = np.nan
    force = legs.evaluate(q, v, a, torque)[2]
    assert np.isnan(force).sum() == 1
    np.testing.assert_array_equal(force[np.isfinite(force)], expected[np.isfinite(force)])
    assert np.isnan(legs.evaluate(q, v, a, None)[2]).all()


def test_a_foot_needs_joints_of_its_own():
    robot = models.robot("go2")
    with pytest.raises(ValueError, match="joints that are its own"):
        _core.LegForces(
            robot.model, contact_points(robot), [[6, 7, 8], [9, 10, 11], [12, 13, 14], []], 1e-3
        )
