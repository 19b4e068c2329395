# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Soles and forces of the legs against the readable twin."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from helpers import models
from reference import leg_forces

from prime_estimation import _core
from prime_estimation.contact.leg_forces import LegForces, contact_points
from prime_estimation.joint_friction import JointLosses
from prime_estimation.robot import GRAVITY, Robot


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


def test_other_losses_count_as_those_of_the_yaml(rng):
    losses = {"armature": 0.03, "damping": 0.4, "dry_friction": 0.7, "gear_loss": 0.05}
    keys = {"damping": "joint_damping", "dry_friction": "joint_friction"}
    plain = models.robot("go2")
    yaml = replace(plain.config, **{keys.get(k, k): v for k, v in losses.items()})
    q, v, a, torque = state(plain, rng)
    legs = LegForces(plain)
    told = {name: np.full(plain.nj, value) for name, value in losses.items()}
    legs.losses = JointLosses.of(plain, told)
    expected = LegForces(Robot(yaml)).evaluate(q, v, a, torque)[2]
    assert legs.evaluate(q, v, a, torque)[2] == pytest.approx(np.array(expected))


@pytest.mark.parametrize("name", ["go2", "g1"])
def test_losses_are_those_of_the_readable_form(name, rng):
    robot = models.robot(name)
    legs, nj = LegForces(robot), robot.nj
    lost, gain = rng.uniform(0.0, 0.3, (6, nj)), rng.uniform(0.9, 1.1, nj)
    offset, stribeck = lost[4:]
    velocity = rng.uniform(0.2, 0.8, nj)
    legs.losses = JointLosses(*lost[:4], gain, offset, stribeck, velocity)
    q, v, a, torque = state(robot, rng)
    passed = legs.losses.passed(torque, v[-nj:], a[-nj:])
    expected = legs.evaluate(q, v, a, torque)[2]
    none = np.zeros(nj)
    legs.losses = JointLosses(*[none] * 4, np.ones(nj), none, none, np.ones(nj))
    np.testing.assert_allclose(legs.evaluate(q, v, a, passed)[2], expected, rtol=1e-12)


@pytest.mark.parametrize("name", ["go2", "g1"])
def test_what_feet_carry_at_rest(name, rng):
    """A robot whose base feels g along an axis stands with this axis upright."""
    robot = models.robot(name)
    legs, model, nj = LegForces(robot), robot.model, robot.nj
    q, v, _, torque = state(robot, rng)
    lower, upper = robot.joint_range
    q[7:] = np.clip(q[7:], lower + 0.1, upper - 0.1)  # away from the stops
    felt = 9.6 * np.array([0.1, -0.2, 0.97])
    at_rest, rates = pin.neutral(model), np.zeros(model.nv)
    up = pin.Quaternion.FromTwoVectors(felt, np.array([0.0, 0.0, 1.0]))
    at_rest[3:7], at_rest[7:], rates[6:] = up.coeffs(), q[7:], v[6:]
    normal = legs.evaluate(at_rest, rates, np.zeros(model.nv), torque)[2]
    lacks = np.linalg.norm(felt) / GRAVITY - normal.sum() / legs.weight
    joints = robot.positions(q)
    assert legs.deficit(felt, joints, v[-nj:], torque) == pytest.approx(lacks, rel=1e-9)


def test_a_motor_that_presses_its_stop_tells_of_no_load():
    """The other way, it carries: 20 Nm away from the stop, or short of it."""
    robot = models.robot("go2")
    legs, (_, upper), rates = LegForces(robot), robot.joint_range, np.zeros(robot.nj)
    felt, calves = np.array([0.0, 0.0, GRAVITY]), slice(2, None, 3)

    def lacks(posture, torque):
        joints, torques = np.tile([0.0, 0.3, posture], 4), np.zeros(robot.nj)
        torques[calves] = torque
        return legs.deficit(felt, joints, rates, torques)

    stop = upper[2]
    assert lacks(stop, 20.0) == lacks(stop, 0.0) > 0.9
    assert lacks(stop + 0.02, 20.0) > 0.9 > -1.0 > lacks(stop - 0.1, 20.0)
    assert lacks(stop, -20.0) > 2.0


def test_sizes_are_checked():
    robot = models.robot("go2")
    legs, q = LegForces(robot), pin.neutral(robot.model)
    rates, torque = np.zeros((2, robot.model.nv)), np.zeros(robot.nj)
    with pytest.raises(ValueError, match="torque has 13 entries, not 12"):
        legs.evaluate(q, *rates, np.zeros(robot.nj + 1))
    with pytest.raises(ValueError, match="leg forces: q has 3 entries, not 19"):
        legs.evaluate(q[:3], *rates, torque)
    with pytest.raises(ValueError, match="one loss of each kind"):
        legs.losses = JointLosses(*np.ones((8, robot.nj + 1)))
