# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The running node: residuals against their numpy twin, derivatives against differences on the
manifold, in both forms and cones."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.differences import jacobian, relative_error
from helpers.models import ROBOTS, SITUATIONS
from helpers.nodes import by_point, random_node
from reference.node import evaluate

from prime_estimation import _core

CASES = [
    (name, situation)
    for name in ROBOTS
    for situation in SITUATIONS
    if name != "kinova_free" or situation == "stance"
]


@pytest.mark.parametrize("form", ["forward", "inverse"])
@pytest.mark.parametrize("name, situation", CASES)
def test_equals_reference(name, situation, form):
    for seed in range(1 if name == "g1" else 3):
        node = random_node(name, form, "coulomb", situation, seed)
        data = node.calc(node.x, node.u)
        guess = np.array(data.xnext)[node.problem.nq : node.problem.nq + node.problem.nv]
        x_next, r = evaluate(node.problem, node.model.input, node.x, node.u, guess)
        np.testing.assert_allclose(data.xnext, x_next, atol=1e-9 * max(1.0, abs(x_next).max()))
        np.testing.assert_allclose(data.r, r, atol=1e-9 * max(1.0, abs(r).max()))
        assert data.cost == pytest.approx(0.5 * r @ r, rel=1e-9)


@pytest.mark.parametrize("cone", ["coulomb", "convex"])
@pytest.mark.parametrize("form", ["forward", "inverse"])
@pytest.mark.parametrize("name, situation", CASES)
def test_derivatives(name, situation, form, cone):
    node = random_node(name, form, cone, situation, 7)
    state, data = node.problem.state, node.calc(node.x, node.u)
    # away from it: the difference of continuous joints is 0 where their cosines round to the same
    aside = np.zeros(node.problem.ndx)
    aside[node.problem.nv - node.problem.nj : node.problem.nv] = 0.01
    x_next = state.integrate(np.array(data.xnext), aside)
    # keeps the last solution: the Newton iteration of a neighbour starts there
    trial = node.calc(node.x, node.u)

    def at(dx, du):
        node.model.calc(trial, state.integrate(node.x, dx), node.u + du)
        return np.concatenate([state.diff(x_next, np.array(trial.xnext)), trial.r])

    ndx, nu = node.problem.ndx, node.problem.nu
    by_x = jacobian(lambda dx: at(dx, np.zeros(nu)), ndx)
    by_u = jacobian(lambda du: at(np.zeros(ndx), du), nu)
    errors = {"Fx": relative_error(data.Fx, by_x[:ndx]), "Fu": relative_error(data.Fu, by_u[:ndx])}
    for rows, block in _residual_blocks(node.problem).items():
        expected = np.hstack([by_x[ndx:][block], by_u[ndx:][block]])
        errors[rows] = relative_error(
            np.hstack([data.Rx[block], data.Ru[block]]), expected, floor=1e-6
        )
    assert max(errors.values()) < 1e-5, errors


@pytest.mark.parametrize(
    "name, situation", [(n, s) for n, s in CASES if n in ("go2", "g1", "kinova")]
)
@pytest.mark.parametrize("form", ["forward", "inverse"])
def test_contact_forces(name, situation, form):
    """Forces are the impulses over the step; their Jacobians in x and u against differences."""
    node = random_node(name, form, "coulomb", situation, 21)
    state, trial = node.problem.state, node.calc(node.x, node.u)
    force, by_z = node.model.contact_forces(trial)
    by_x, by_u = by_point(node.problem, trial, by_z)

    def at(dx, du):
        node.calc(state.integrate(node.x, dx), node.u + du, trial)
        return node.model.contact_forces(trial)[0]

    ndx, nu = node.problem.ndx, node.problem.nu
    assert force.shape == (3 * node.problem.dynamics.nc,)
    assert relative_error(by_x, jacobian(lambda dx: at(dx, np.zeros(nu)), ndx)) < 1e-5
    assert relative_error(by_u, jacobian(lambda du: at(np.zeros(ndx), du), nu)) < 1e-5


@pytest.mark.parametrize("form", ["forward", "inverse"])
@pytest.mark.parametrize("name", ["go2", "kinova"])
def test_gauss_newton_model_is_that_of_the_residual(name, form):
    """The sparse assembly of gradient and Hessian equals the dense products of the residual's
    Jacobians."""
    node = random_node(name, form, "coulomb", "stance", 9)
    d = node.calc(node.x, node.u)
    for value, expected in [
        (d.Lx, d.Rx.T @ d.r),
        (d.Lu, d.Ru.T @ d.r),
        (d.Lxx, d.Rx.T @ d.Rx),
        (d.Lxu, d.Rx.T @ d.Ru),
        (d.Luu, d.Ru.T @ d.Ru),
    ]:
        assert relative_error(value, expected) < 1e-12


@pytest.mark.parametrize("form", ["forward", "inverse"])
def test_terminal_node_reads_the_state_only(form):
    node = random_node("go2", form, "coulomb", "stance", 10)
    # as data that had been those of a running node
    running, terminal = node.calc(node.x, node.u), node.calc(node.x, node.u)
    node.model.calc(terminal, node.x)
    node.model.calcDiff(terminal, node.x)
    for rows, block in _residual_blocks(node.problem).items():
        dynamic = rows in ("force", "contact", "accelerometer")
        np.testing.assert_array_equal(
            terminal.r[block], 0.0 * running.r[block] if dynamic else running.r[block]
        )
    assert relative_error(terminal.Lxx, terminal.Rx.T @ terminal.Rx) < 1e-12
    assert relative_error(terminal.Lx, terminal.Rx.T @ terminal.r) < 1e-12


@pytest.mark.parametrize("form", ["forward", "inverse"])
def test_terminal_node_forgets_the_point_before(form):
    """Data that go from point to point, with steps and without, are those of a node that is new."""
    node, other = (random_node("go2", form, "coulomb", "stance", seed) for seed in (10, 13))
    fresh, used = node.model.createData(), node.calc(other.x, other.u)
    for x in (other.x, other.x, node.x):
        node.model.calc(used, x)
        node.model.calcDiff(used, x)
    node.model.calc(fresh, node.x)
    node.model.calcDiff(fresh, node.x)
    for name in ("Rx", "Ru", "Lx", "Lxx"):
        np.testing.assert_array_equal(getattr(used, name), getattr(fresh, name))
    again, running = node.calc(node.x, node.u, used), node.calc(node.x, node.u)
    assert relative_error(again.Lxx, running.Lxx) < 1e-8


def test_expected_velocity_is_where_the_step_starts():
    """Where it is the solution no iteration is left; where it is nonsense the solution is found."""
    node = random_node("go2", "forward", "coulomb", "stance", 14)
    solution = np.array(node.calc(node.x, node.u).xnext)
    nq, nv = node.problem.nq, node.problem.nv
    for start in (solution[nq : nq + nv], np.full(nv, 3.0), np.full(nv, np.nan)):
        data = node.model.createData()
        node.model.expect_velocity(data, start)
        node.model.calc(data, node.x, node.u)
        np.testing.assert_allclose(data.xnext, solution, atol=1e-8)
    with pytest.raises(ValueError, match="velocity has 3 entries"):
        node.model.expect_velocity(data, np.zeros(3))


def test_step_that_begins_with_the_forces_of_another_ends_the_same():
    """Forces of a node near by, of one in another stance, and of one that has none yet."""
    node = random_node("go2", "forward", "coulomb", "stance", 14)
    solution = np.array(node.calc(node.x, node.u).xnext)
    nq, nv = node.problem.nq, node.problem.nv
    near = np.array(node.x)
    near[nq : nq + nv] += 0.01
    other = random_node("go2", "forward", "coulomb", "stance", 15)
    for before in (
        node.calc(near, node.u),
        node.calc(other.x, other.u),
        node.model.createData(),
    ):
        for start in (node.x[nq : nq + nv], np.full(nv, np.nan)):
            data = node.model.createData()
            node.model.expect_velocity(data, start, before)
            node.model.calc(data, node.x, node.u)
            np.testing.assert_allclose(data.xnext, solution, atol=1e-8)


def test_absent_readings_leave_no_trace():
    """Weights of zero: no residual, no derivative, whatever the reading says."""
    node = random_node("go2", "forward", "coulomb", "stance", 11)
    given = node.model.input
    sensors = node.problem.sensors.residuals
    for name in ("encoders", "rates", *dict.fromkeys(sensors)):
        for slot in range(max(1, sensors.count(name))):
            value, weight = given.value(name, slot), given.weight(name, slot)
            given.set(name, value, 0.0 * weight, 0.0, slot)
    data = node.calc(node.x, node.u)
    sensors = slice(node.problem.nu, None)
    assert not data.r[sensors].any() and not data.Rx[sensors].any() and not data.Ru[sensors].any()


def test_failed_step_does_not_spoil_the_next():
    """After a state that is not finite the node solves as if nothing had been."""
    node = random_node("go2", "forward", "coulomb", "stance", 12)
    data = node.calc(node.x, node.u)
    expected, broken = np.array(data.xnext), np.array(node.x)
    broken[0] = np.nan
    with pytest.raises(_core.SolveError, match="configuration is not finite"):
        node.model.calc(data, broken, node.u)
    node.model.calc(data, node.x, node.u)
    np.testing.assert_allclose(data.xnext, expected, atol=1e-9)


def test_inertia_that_is_none_is_refused_each_time():
    """Also when the same parameters come again; and it leaves no trace in what was known before."""
    node = random_node("go2", "forward", "coulomb", "stance", 12)
    data, far = node.calc(node.x, node.u), np.array(node.x)
    expected, theta = np.array(data.xnext), node.problem.columns("theta")
    far[theta.start + node.problem.nq - node.problem.nv] = 400.0  # logarithm of a mass
    for _ in range(2):
        with pytest.raises(_core.SolveError, match="inertia of link 1 vanishes or is not finite"):
            node.model.calc(data, far, node.u)
    node.model.calc(data, node.x, node.u)
    np.testing.assert_allclose(data.xnext, expected, atol=1e-12)


@pytest.mark.parametrize("form", ["forward", "inverse"])
@pytest.mark.parametrize("name", ["encoders", "rates", "gyro", "tilt", "mocap", "accelerometer"])
def test_reading_that_is_not_finite_is_named(name, form):
    node = random_node("go2", form, "coulomb", "stance", 14)
    data, given = node.calc(node.x, node.u), node.model.input
    spoiled = np.nan * given.value(name)
    given.set(name, spoiled[7:] if name == "encoders" else spoiled, given.weight(name))
    with pytest.raises(_core.SolveError, match=f"residual of the {name} is not finite"):
        node.model.calc(data, node.x, node.u)


@pytest.mark.parametrize(
    "name",
    [
        "torque",
        "base_wrench",
        "weight_force",
        "weight_xi",
    ],
)
@pytest.mark.parametrize("change", [-1, 1])
def test_input_of_another_robot_is_refused(name, change):
    """The core computes with the sizes of its robot.

    Other ones would read what lies beside them in memory.
    """
    given = random_node("go2", "forward", "coulomb", "stance", 15).model.input
    size = len(getattr(given, name))
    with pytest.raises(ValueError, match=f"{name} has {size + change} entries, not {size}"):
        setattr(given, name, np.zeros(size + change))
    assert len(getattr(given, name)) == size


@pytest.mark.parametrize("name", ["encoders", "rates"])
@pytest.mark.parametrize("change", [-1, 1])
def test_joint_readings_of_another_robot_are_refused(name, change):
    given = random_node("go2", "forward", "coulomb", "stance", 15).model.input
    value, weight = given.value(name), given.weight(name)
    for sizes, part in (
        ((len(value) + change, 12), "value"),
        ((len(value), 12 + change), "weight"),
    ):
        wrong = sizes[part == "weight"]
        message = f"{part} of {name} has {wrong} entries, not {wrong - change}"
        with pytest.raises(ValueError, match=message):
            given.set(name, *map(np.zeros, sizes))
    np.testing.assert_array_equal(given.value(name), value)
    np.testing.assert_array_equal(given.weight(name), weight)


def test_configuration_and_flags_of_another_robot_are_refused():
    given = random_node("go2", "forward", "coulomb", "stance", 15).model.input
    given.set("encoders", np.arange(12.0), np.ones(12))  # of the joints alone
    np.testing.assert_array_equal(given.value("encoders")[7:], np.arange(12.0))
    for size in (11, 13, 20):
        with pytest.raises(ValueError, match=f"value of encoders has {size} entries, not 19"):
            given.set("encoders", np.zeros(size), np.ones(12))
    with pytest.raises(ValueError, match="stance has 3 entries, not 4"):
        given.stance = [_core.Stance.closed] * 3


def test_third_pose_is_refused():
    node = random_node("go2", "forward", "coulomb", "stance", 13)
    with pytest.raises(ValueError, match="no place for another reading of 'mocap'"):
        node.model.input.set("mocap", np.zeros(7), np.ones(6), 0.0, 2)


@pytest.mark.parametrize("form", ["forward", "inverse"])
@pytest.mark.parametrize("name", ["go2", "g1"])
def test_rigid_contacts(name, form):
    """Landing, standing and open feet.

    Derivatives of dynamics, residuals with the wrench cone, and contact forces; sparse assembly.
    """
    node = random_node(name, form, "coulomb", "stance", 3, "rigid")
    state, data = node.problem.state, node.calc(node.x, node.u)
    x_next, trial = np.array(data.xnext), node.calc(node.x, node.u)

    def at(dx, du):
        node.calc(state.integrate(node.x, dx), node.u + du, trial)
        force = node.model.contact_forces(trial)[0]
        return np.concatenate(
            [state.diff(x_next, np.array(trial.xnext)), trial.r, _by_foot(node.problem, force)]
        )

    ndx, nu, nr = node.problem.ndx, node.problem.nu, len(data.r)
    by_x = jacobian(lambda dx: at(dx, np.zeros(nu)), ndx)
    by_u = jacobian(lambda du: at(np.zeros(ndx), du), nu)
    force_x, force_u = by_point(node.problem, data, node.model.contact_forces(data)[1])
    pairs = {"Fx": (data.Fx, by_x[:ndx]), "Fu": (data.Fu, by_u[:ndx])}
    pairs["force"] = (
        np.hstack([_by_foot(node.problem, force_x), _by_foot(node.problem, force_u)]),
        np.hstack([by_x, by_u])[ndx + nr :],
    )
    blocks = _residual_blocks(node.problem)
    for rows, block in blocks.items():
        pairs[rows] = (
            np.hstack([data.Rx[block], data.Ru[block]]),
            np.hstack([by_x, by_u])[ndx : ndx + nr][block],
        )
    assert data.r[blocks["wrench_cone"]].any()
    errors = {
        name: relative_error(value, expected, 1e-6) for name, (value, expected) in pairs.items()
    }
    assert max(errors.values()) < 1e-5, errors
    for value, expected in [
        (data.Lx, data.Rx.T @ data.r),
        (data.Luu, data.Ru.T @ data.Ru),
        (data.Lxu, data.Rx.T @ data.Ru),
    ]:
        assert relative_error(value, expected) < 1e-12


def _by_foot(problem, forces):
    """Sum over the contacts of each foot.

    How they share it also turns with the foot, which their Jacobian leaves out.
    """
    robot = problem.robot
    return np.concatenate(
        [
            sum(forces[3 * i : 3 * i + 3] for i, c in enumerate(robot.contacts) if c.foot == f)
            for f in robot.feet
        ]
    )


def _residual_blocks(problem) -> dict:
    """Row indices by name; both poses together."""
    parts = problem.measurements.rows.items()
    rows = {name: np.concatenate([np.r_[part] for part in parts_]) for name, parts_ in parts}
    return {name: indices for name, indices in rows.items() if len(indices)}


@pytest.mark.parametrize("form", ["forward", "inverse"])
@pytest.mark.parametrize("name", ["go2", "g1"])
def test_outliers_lose_weight(name, form):
    """Student-t by iterated reweighting, per foot, base force, base moment and joint.

    A Gaussian keeps its weights.
    """
    node = random_node(name, form, "coulomb", "stance", 3)
    of, given, data = node.problem, node.model.input, node.model.createData()
    rng = np.random.default_rng(4)
    given.nominal_force = rng.uniform(0.5, 2.0, of.nv)
    given.nominal_xi = rng.uniform(0.5, 2.0, of.dynamics.nxi)
    given.weight_force, given.weight_xi = given.nominal_force, given.nominal_xi
    node.model.calc(data, node.x, node.u)
    nv, nb = of.nv, of.nv - of.nj
    w, xi = np.array(data.r[:nv]) / given.weight_force, node.u[nv:]
    feet = [
        3 if sum(c.foot == foot for c in of.robot.contacts) == 1 else 6 for foot in of.robot.feet
    ]
    node.model.reweight(data, node.u, 2.0, np.inf)
    np.testing.assert_allclose(
        given.weight_xi, student(given.nominal_xi, xi, feet, 2.0), rtol=1e-12
    )
    np.testing.assert_array_equal(given.weight_force, given.nominal_force)
    node.model.reweight(data, node.u, np.inf, 4.0)
    np.testing.assert_allclose(
        given.weight_force,
        student(given.nominal_force, w, [3] * (nb // 3) + [1] * of.nj, 4.0),
        rtol=1e-9,
    )


def student(nominal: np.ndarray, e: np.ndarray, sizes: list[int], dof: float) -> np.ndarray:
    """Weights of disturbances e that are outliers in groups, the same beyond 1000 deviations."""
    ends = np.cumsum(sizes)
    groups = [slice(end - size, end) for size, end in zip(sizes, ends)]
    return np.concatenate(
        [
            nominal[g]
            * min(
                1.0, np.sqrt((dof + len(e[g])) / (dof + min(np.sum((nominal[g] * e[g]) ** 2), 1e6)))
            )
            for g in groups
        ]
    )
