# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Joint losses, gears and gains in the contact step: values, derivatives against differences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from helpers.differences import jacobian, relative_error
from helpers.models import config, problem, random_point, robot
from helpers.nodes import by_point, exact_dynamics, random_node

from prime_estimation import _core
from prime_estimation.mhe.problem import Problem
from prime_estimation.robot import Robot

ALL = "losses,stribeck,gains,offsets,delay"
WIDTH, TORQUE_WIDTH = 0.05, 0.1  # rad/s, Nm: of the smoothing
LEAD = 0.009  # s


def ahead_problem(name: str) -> Problem:
    """Of a robot whose dry friction turns before its joints."""
    ahead = Robot(replace(robot(name).config, friction_lead=LEAD))
    return Problem(ahead, config(name, joint_parameters=ALL), ("mocap",))


def random_parameters(of, rng) -> np.ndarray:
    """Of all joint blocks of the dynamics, within their priors."""
    return np.concatenate([b.mean + b.stddev * rng.normal(size=len(b.labels)) for b in of.joints])


def values(of, z: np.ndarray) -> dict[str, np.ndarray]:
    """Values (nj,) of the joints by kind."""
    out, first = {}, 0
    for block in of.joints:
        out[block.name] = block.per_joint(z[first : first + len(block.labels)])
        first += len(block.labels)
    return out


@pytest.mark.parametrize("name", ["go2", "g1", "kinova"])
def test_the_residual_is_that_of_the_formula(name):
    of, rng = ahead_problem(name), np.random.default_rng(1)
    plain = problem(name)
    p = random_point(plain, rng, "stance")
    z, nj = random_parameters(of, rng), of.nj
    after = p.v + 0.3 * rng.normal(size=of.nv)
    parameters = np.concatenate([p.parameters, z])
    g = of.dynamics.residual(p.q, p.v, p.force, p.xi, parameters, after)
    without = plain.dynamics.residual(p.q, p.v, p.force, p.xi, p.parameters, after)
    v, own, dt = values(of, z), of.robot, of.dt
    rate, reading = (0.5 * (p.v + after))[-nj:], p.force[-nj:]
    acceleration = (after - p.v)[-nj:] / dt
    ahead = rate + LEAD * acceleration
    sign, plainly = ahead / np.hypot(ahead, WIDTH), rate / np.hypot(rate, WIDTH)
    tau = np.exp(-v["torque_gain"]) * (reading - v["torque_offset"])
    lost = v["damping"] * rate + v["dry_friction"] * sign + reading - tau  # of the whole reading
    lost += v["gear_loss"] * (np.hypot(tau, TORQUE_WIDTH) - TORQUE_WIDTH) * sign
    lost += v["stribeck"] * np.exp(-((rate / v["stribeck_velocity"]) ** 2)) * sign
    nominal = own.joint_damping * rate + own.joint_friction * plainly
    armature = (v["armature"] - own.model.armature[-nj:]) * dt * acceleration
    np.testing.assert_allclose(
        (g - without)[-nj:], dt * (lost - nominal) + armature, rtol=1e-9, atol=1e-12
    )
    np.testing.assert_allclose((g - without)[:-nj], 0.0, atol=1e-12)


@pytest.mark.parametrize("name", ["go2", "g1", "kinova"])
@pytest.mark.parametrize("situation", ["stance", "sliding"])
def test_step_by_joint_parameters(name, situation):
    of, rng = ahead_problem(name), np.random.default_rng(2)
    dynamics, p = exact_dynamics(of), random_point(problem(name), rng, situation)
    z, base = random_parameters(of, rng), p.parameters

    def step(dz, guess=p.v, derivatives=False):
        parameters = np.concatenate([base, z + dz])
        return dynamics.step(p.q, p.v, p.force, p.xi, parameters, guess, derivatives)

    out = step(0.0 * z, derivatives=True)
    expected = jacobian(lambda dz: step(dz, out["v_next"])["v_next"], len(z))
    assert relative_error(out["dparameters"][:, len(base) :], expected, 1e-3) < 1e-5


@pytest.mark.parametrize("name", ["go2", "kinova"])
def test_step_by_velocity_with_friction_that_turns_early(name):
    of, rng = ahead_problem(name), np.random.default_rng(3)
    dynamics, p = exact_dynamics(of), random_point(problem(name), rng, "stance")
    parameters = np.concatenate([p.parameters, random_parameters(of, rng)])

    def step(dv, guess=p.v, derivatives=False):
        return dynamics.step(p.q, p.v + dv, p.force, p.xi, parameters, guess, derivatives)

    out = step(np.zeros(of.nv), derivatives=True)
    expected = jacobian(lambda dv: step(dv, out["v_next"])["v_next"], of.nv)
    assert relative_error(out["dv"], expected, 1e-3) < 1e-5


@pytest.mark.parametrize("form", ["forward", "inverse"])
@pytest.mark.parametrize(
    "name, contacts", [("go2", "smoothed"), ("go2", "rigid"), ("kinova", "smoothed")]
)
def test_node_with_joint_parameters_and_zeros(name, contacts, form):
    """Residual Jacobians of the solver and of Crocoddyl's form against differences."""
    node = random_node(name, form, "coulomb", "stance", 7, contacts, f"{ALL},zeros")
    state, data = node.problem.state, node.calc(node.x, node.u)
    trial = node.calc(node.x, node.u)

    def at(dx, du):
        node.model.calc(trial, state.integrate(node.x, dx), node.u + du)
        return np.array(trial.r)

    ndx, nu = node.problem.ndx, node.problem.nu
    by_x = jacobian(lambda dx: at(dx, np.zeros(nu)), ndx)
    by_u = jacobian(lambda du: at(np.zeros(ndx), du), nu)
    assert relative_error(data.Rx, by_x) < 1e-5 and relative_error(data.Ru, by_u) < 1e-5
    first = node.problem.nv if form == "forward" else 0  # rows of w are the control itself there
    own = by_point(node.problem, data, node.model.residual_jacobian(data))
    assert relative_error(own[0][first:], by_x[first:]) < 1e-5
    zero = node.problem.columns("encoder_zero")
    rows = np.r_[tuple(node.problem.measurements.rows["encoders"])]
    assert np.count_nonzero(by_x[rows][:, zero]) == node.problem.nj


def test_readings_that_are_late_are_those_of_before():
    """By the change of the readings: `reading(t + d) = reading(t) + d reading'(t)`."""
    node = random_node("go2", "inverse", "coulomb", "stance", 8, joints=f"{ALL},zeros")
    x, given, delay = node.x.copy(), node.model.input, 0.004
    part = node.problem.parameter(x, "torque_delay")
    part[:] = delay
    late = np.array(node.calc(x, node.u).r)
    part[:] = 0.0
    prompt = np.array(node.calc(x, node.u).r)
    given.torque = given.torque + delay * given.torque_change
    joints = slice(node.problem.nv - node.problem.nj, node.problem.nv)
    np.testing.assert_allclose(late, node.calc(x, node.u).r, rtol=1e-9, atol=1e-9)
    assert np.abs(late - prompt)[joints].min() > 1e-4


def test_losses_are_positive_and_linear_where_they_are_large():
    quantity, softness = _core.JointQuantity.dry_friction, 0.01
    for parameter in (-1e3, -0.5, 0.0, 0.3, 20.0):
        value, slope = _core.joint_value(quantity, softness, parameter)
        assert value > 0.0 and 0.0 < slope <= 1.0
        assert value - softness**2 / value == pytest.approx(parameter, rel=1e-9, abs=1e-12)
    assert _core.joint_value(_core.JointQuantity.torque_gain, softness, -0.3) == (-0.3, 1.0)


@pytest.mark.parametrize(
    "group, ratio, softness",
    [
        ([0] * 11, np.ones(12), 0.1),
        ([0] * 12, np.ones(3), 0.1),
        ([-1] * 12, np.ones(12), 0.1),
        ([0] * 12, np.ones(12), 0.0),
    ],
)
def test_wrong_groups_are_refused(group, ratio, softness):
    model = _core.JointModel(np.ones(12), np.ones(12))
    with pytest.raises(ValueError, match="dry_friction needs a group"):
        model.estimate(_core.JointQuantity.dry_friction, group, ratio, softness)
    with pytest.raises(ValueError, match="armature of 3 joints, not 12"):
        model.set(_core.JointQuantity.armature, np.ones(3))
