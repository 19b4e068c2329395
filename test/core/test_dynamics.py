# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The contact step against its numpy twin, inertia coordinates, and bad input."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from helpers.models import ROBOTS, SITUATIONS, problem, random_point
from reference.dynamics import ReferenceDynamics

from prime_estimation import _core
from prime_estimation.joint_friction import joint_losses


def step(dynamics, p, guess):
    return dynamics.step(p.q, p.v, p.force, p.xi, p.parameters, guess)


@pytest.mark.parametrize("situation", SITUATIONS)
@pytest.mark.parametrize("name", ROBOTS)
def test_residual_equals_reference(name, situation):
    model_problem = problem(name)
    rng = np.random.default_rng(1)
    for _ in range(5):
        p = random_point(model_problem, rng, situation)
        reference = ReferenceDynamics(model_problem, p)
        v_next = p.v + 0.1 * rng.normal(size=len(p.v))
        g = model_problem.dynamics.residual(p.q, p.v, p.force, p.xi, p.parameters, v_next)
        expected = reference.residual(v_next)
        np.testing.assert_allclose(g, expected, atol=1e-9 * abs(expected).max())


@pytest.mark.parametrize("situation", SITUATIONS)
@pytest.mark.parametrize("name", ROBOTS)
def test_step_equals_reference(name, situation):
    """From a point near the solution of the C++ core the plain Newton iteration finds the same one,
    with the same impulses."""
    model_problem = problem(name)
    rng = np.random.default_rng(2)
    for _ in range(1 if name == "g1" else 3):
        p = random_point(model_problem, rng, situation)
        out = step(model_problem.dynamics, p, p.v)
        reference = ReferenceDynamics(model_problem, p)
        v_next = reference.solve(out["v_next"] + 1e-5 * rng.normal(size=len(p.v)))
        np.testing.assert_allclose(out["v_next"], v_next, atol=1e-9 * max(1.0, abs(v_next).max()))
        impulses = reference.impulses(v_next)
        np.testing.assert_allclose(
            out["impulse"], impulses, atol=1e-9 * max(1.0, abs(impulses).max(initial=0.0))
        )
        np.testing.assert_allclose(out["gap"], [c[3] for c in reference.contacts], atol=1e-12)


def test_without_contact_and_losses_it_is_forward_dynamics():
    model_problem = problem("kinova_free")
    robot, rng = model_problem.robot, np.random.default_rng(3)
    options = _core.DynamicsOptions()
    lossless = _core.JointModel(np.zeros(robot.nj), np.zeros(robot.nj))
    free = _core.SmoothedDynamics(robot.model, [], [], lossless, False, options)
    p = replace(random_point(model_problem, rng, "stance"), theta=np.zeros(0))
    acceleration = pin.aba(robot.model, robot.model.createData(), p.q, p.v, p.force)
    np.testing.assert_allclose(
        step(free, p, p.v)["v_next"], p.v + options.dt * acceleration, rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize("name", ["go2", "g1"])
def test_standing_robot_carries_its_weight(name):
    """Contact impulses balance gravity where torques hold the posture.

    Sum of normal forces = m g.
    """
    model_problem = problem(name)
    robot, dt = model_problem.robot, model_problem.dt
    p = random_point(model_problem, np.random.default_rng(4), "stance")
    p = replace(p, v=0 * p.v, xi=0 * p.xi, theta=model_problem.theta_nominal, force=0 * p.force)
    out = step(model_problem.dynamics, p, p.v)
    # linear momentum: m (v_com+ - v_com)/dt = m g + sum f
    before, after = robot.model.createData(), robot.model.createData()
    pin.computeCentroidalMomentum(robot.model, before, p.q, p.v)
    pin.computeCentroidalMomentum(robot.model, after, p.q, out["v_next"])
    gravity = robot.total_mass * np.array([0.0, 0.0, -9.81])
    total = out["impulse"].reshape(-1, 3).sum(axis=0) / dt
    np.testing.assert_allclose(
        (after.hg.linear - before.hg.linear) / dt,
        gravity + total,
        atol=1e-6 * np.linalg.norm(gravity),
    )


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize(
    "argument, message",
    [
        ("q", "configuration"),
        ("v", "velocity"),
        ("force", "generalized force"),
        ("xi", "disturbance"),
        ("theta", "inertia"),
    ],
)
def test_input_that_is_not_finite_is_named(argument, message, bad):
    model_problem = problem("go2")
    p = random_point(model_problem, np.random.default_rng(6), "stance")
    value = np.array(getattr(p, argument))
    value[-1] = bad
    with pytest.raises(_core.SolveError, match=message):
        step(model_problem.dynamics, replace(p, **{argument: value}), p.v)


@pytest.mark.parametrize("argument", ["height", "friction"])
def test_ground_that_is_not_finite_raises(argument):
    model_problem = problem("go2")
    p = random_point(model_problem, np.random.default_rng(6), "stance")
    with pytest.raises(_core.SolveError, match="contact dynamics"):
        step(model_problem.dynamics, replace(p, **{argument: getattr(p, argument) * np.nan}), p.v)


@pytest.mark.parametrize("change", [-1, 1])
def test_parameters_of_another_robot_are_refused(change):
    """Theta, heights, logarithm of friction coefficient, slopes and softness come as one vector."""
    dynamics = problem("go2").dynamics
    p = random_point(problem("go2"), np.random.default_rng(6), "stance")
    size = dynamics.nparameters
    assert len(p.parameters) == size == dynamics.ntheta + 3 * dynamics.nfeet + 2
    with pytest.raises(ValueError, match=f"parameters has {size + change} entries, not {size}"):
        dynamics.step(p.q, p.v, p.force, p.xi, np.resize(p.parameters, size + change), p.v)


def test_a_guess_that_is_not_finite_is_replaced():
    model_problem = problem("go2")
    p = random_point(model_problem, np.random.default_rng(6), "stance")
    out = step(model_problem.dynamics, p, np.full(len(p.v), np.nan))
    np.testing.assert_allclose(
        out["v_next"], step(model_problem.dynamics, p, p.v)["v_next"], atol=1e-9
    )


def test_joint_losses_are_those_of_the_dynamics():
    """At the rate in the middle of the step."""
    of, rng = problem("go2"), np.random.default_rng(7)
    robot, options, none = of.robot, _core.DynamicsOptions(), np.zeros(0)
    p = replace(random_point(of, rng, "stance"), theta=none, xi=none, height=none)
    p = replace(p, slope=none, softness=none)
    after, residuals = p.v + rng.normal(size=of.nv), []
    for share in (1.0, 0.0):
        joints = _core.JointModel(share * robot.joint_damping, share * robot.joint_friction)
        lossy = _core.SmoothedDynamics(robot.model, [], [], joints, True, options)
        residuals.append(lossy.residual(p.q, p.v, p.force, p.xi, p.parameters, after)[6:])
    expected = options.dt * joint_losses(robot, 0.5 * (p.v + after)[6:])
    np.testing.assert_allclose(residuals[0] - residuals[1], expected, rtol=1e-9, atol=1e-12)


def test_compliance_must_be_positive():
    robot, options = problem("go2").robot, _core.DynamicsOptions()
    law = _core.ContactLaw()
    law.compliance = 0.0
    options.law = law
    with pytest.raises(ValueError, match="compliance"):
        joints = _core.JointModel(robot.joint_damping, robot.joint_friction)
        _core.SmoothedDynamics(robot.model, [], [], joints, True, options)
