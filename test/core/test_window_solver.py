# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Solver and arrival cost against dense linear algebra, on windows of the real nodes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from helpers.differences import jacobian, relative_error
from helpers.models import problem, random_point
from helpers.nodes import adjoint, by_point, covariance, random_node, turning_disturbance
from reference.gaussian import dense_window, marginalize

from prime_estimation import _core
from prime_estimation.mhe.window import Window

NODES = 4


def random_window(name: str, form: str, seed: int, nodes: int = NODES) -> Window:
    """A window around a standing robot whose sensors, states and gaps are noisy."""
    rng = np.random.default_rng(seed)
    of = problem(name, form)
    p = random_point(of, rng, "stance")
    p = replace(p, theta=of.theta_nominal, friction=0.8)
    x0 = np.concatenate([p.q, 0.1 * p.v, np.zeros(of.np)])
    of.layout.p(x0)[: len(p.parameters)] = p.parameters
    small = 1e-3 * np.ones(of.ndx)
    small[of.nv : 2 * of.nv] = 1e-2
    xs = [of.state.integrate(x0, small * rng.normal(size=of.ndx)) for _ in range(nodes + 1)]
    for x in xs[1:]:
        x[of.nq + of.nv :] = xs[0][of.nq + of.nv :]  # parameters are common to all nodes
    inputs = [_input(of, rng, x) for x in xs]
    reference = of.state.integrate(x0, small * rng.normal(size=of.ndx))
    arrival = _core.ActionArrival(of.state, reference, covariance(of))
    arrival.mean = small * rng.normal(size=of.ndx)
    us = [0.01 * rng.normal(size=of.nu) for _ in range(nodes)]
    if form == "inverse":
        for x, u in zip(xs, us):
            u[: of.nv] += x[of.nq : of.nq + of.nv]
    return Window(of, arrival, inputs, [10_000_000 * k for k in range(nodes + 1)], xs, us)


def _input(of, rng, x):
    given = _core.NodeInput(of.measurements.core)
    of.process.unmeasured(given)
    rates = x[of.nq + of.nv - of.nj : of.nq + of.nv] + 0.05 * rng.normal(size=of.nj)
    given.set("encoders", x[: of.nq], np.full(of.nj, 500.0))
    given.set("rates", rates, np.full(of.nj, 45.0))
    given.torque = rng.normal(size=of.nj)
    if of.floating:
        given.set("gyro", 0.1 * rng.normal(size=3), np.full(3, 450.0))
        upwards = np.array([0.0, 0.0, 9.81]) + 0.1 * rng.normal(size=3)
        given.set("accelerometer", upwards, np.full(3, 3.0))
        pose = np.concatenate([x[:3] + 1e-3 * rng.normal(size=3), x[3:7]])
        given.set("mocap", pose, np.repeat([1000.0, 115.0], 3), 0.003)
    return given


def linearized(window: Window):
    """Node data and gaps at the window's states, the arrival node included."""
    state = window.problem.state
    xs = [window.xs[0], *window.xs]
    us = [state.diff(window.arrival.reference, window.xs[0]), *window.us]
    shooting = window._shooting
    shooting.calc(xs, us)
    shooting.calcDiff(xs, us)
    datas = [window._arrival_data, *window.data]
    gaps = [np.array(state.diff(x, np.array(d.xnext))) for x, d in zip(xs[1:], datas)]
    return xs, us, [*datas, shooting.terminalData], gaps


@pytest.mark.slow
@pytest.mark.parametrize("method", ["schur", "nullspace"])
@pytest.mark.parametrize("form", ["forward", "inverse"])
@pytest.mark.parametrize("name", ["go2", "kinova", "g1"])
def test_step_and_posterior_equal_dense_least_squares(name, form, method):
    window = random_window(name, form, 3)
    xs, us, datas, gaps = linearized(window)
    dxs, dus, P, joint = dense_window(datas, gaps)
    rows = np.random.default_rng(0).normal(size=(5, window.problem.ndx + window.problem.nu))

    solver = window.solver
    solver.method = getattr(_core.ParameterMethod, method)
    steps, control_steps = solver.direction(xs, us)
    solver.compute_posterior()
    # of each state component: what matters is the error against its std
    scale = np.sqrt(np.diag(P[-1]))
    for step, dx in zip(steps, dxs):
        assert abs((step - dx) / scale).max() < 1e-6
    for step, du, S in zip(control_steps, dus, joint):
        assert abs((step - du) / np.sqrt(np.diag(S))[window.problem.ndx :]).max() < 1e-6
    for k in (1, NODES, NODES + 1):
        correlation = np.outer(np.sqrt(np.diag(P[k])), np.sqrt(np.diag(P[k])))
        assert abs((solver.posterior(k) - P[k]) / correlation).max() < 1e-6
    k = NODES  # the last running node, whose contact forces are published
    expected = rows @ joint[k] @ rows.T
    value = solver.covariance_at(k, rows[:, : window.problem.ndx], rows[:, window.problem.ndx :])
    assert relative_error(value, expected) < 1e-7
    # the same of what depends on z = (xi, v+, q, v, p), as these forces do
    by_z = np.random.default_rng(1).normal(size=(5, rows.shape[1]))
    rows = np.hstack(by_point(window.problem, datas[k], by_z))
    value = solver.covariance_of(k, by_z)
    assert relative_error(value, rows @ joint[k] @ rows.T) < 1e-7
    assert relative_error(solver.variance_of(k, by_z), np.diag(value)) < 1e-12


@pytest.mark.parametrize("name", ["go2", "kinova", "g1"])
def test_newest_covariances_are_those_of_the_posterior(name):
    window = random_window(name, "forward", 4)
    window.solve(1)
    of, solver = window.problem, window.solver
    jx = np.random.default_rng(0).normal(size=(5, of.ndx))
    state, parameters, points, force, covariance, velocity = solver.newest(jx)
    window.posterior()
    P = window.head_covariance()
    for of_state, of_parameters in ((state, parameters), solver.newest(jx)[:2]):
        assert relative_error(of_state, jx @ P @ jx.T) < 1e-9
        assert relative_error(of_parameters, P[2 * of.nv :, 2 * of.nv :]) < 1e-9
    expected, by_z = window.nodes[-1].contact_forces(window.data[-1])
    np.testing.assert_array_equal(force, expected)
    if len(force):
        assert relative_error(covariance, solver.covariance_of(NODES, by_z)) < 1e-9
    kinematics = window.nodes[-1].contact_kinematics(window.data[-1])
    np.testing.assert_array_equal(points, kinematics["points"])
    np.testing.assert_array_equal(velocity, kinematics["velocity"])


def test_posterior_of_many_nodes_stays_a_covariance():
    """Round-off of an odd part had grown tenfold every 70 nodes: meters after a thousand."""
    window = random_window("go2", "forward", 4, nodes=1000)
    window.direction()
    window.posterior()
    P, rows = window.head_covariance(), np.eye(window.problem.ndx)[:12]
    deviation = np.sqrt(np.diag(P))
    assert abs((P - P.T) / np.outer(deviation, deviation)).max() < 1e-9
    assert np.linalg.eigvalsh(P).min() > 0.0
    carried_back = window.solver.newest(rows)[0]
    assert relative_error(carried_back, rows @ P @ rows.T) < 1e-6


def test_posterior_up_to_a_node():
    """As far as it is wanted, it is that of the whole window; further there is none."""
    window = random_window("go2", "forward", 4)
    window.solve(1)
    window.posterior()
    r, square, seen = window.errors(1)
    P = window.solver.covariance_of(2, window.nodes[1].residual_jacobian(window.data[1]))
    np.testing.assert_allclose(square - r**2, np.diag(P), rtol=1e-9)
    with pytest.raises(ValueError, match="window problem"):
        window.solver.improve(np.array(window.xs), np.array(window.us[1:]), 1, *window._tails())
    assert (seen[np.diag(P) == 0.0] == 0.0).all() and seen.max() <= 1.0
    window.posterior(1)
    for before, now in zip((r, square, seen), window.errors(1)):
        np.testing.assert_array_equal(before, now)
    with pytest.raises(ValueError, match="no posterior of state 3"):
        window.solver.posterior(3)


@pytest.mark.parametrize("name", ["go2", "kinova", "g1"])
def test_what_nodes_say_together_is_what_each_says(name):
    window = random_window(name, "forward", 5)
    window.solve(2)
    nv, inputs = window.problem.nv, window.inputs[:-1]
    w = [data.r[:nv] / given.weight_force for data, given in zip(window.data, inputs)]
    np.testing.assert_array_equal(window.unexplained(), w)
    xi = [abs(u[nv:] * given.nominal_xi) for u, given in zip(window.us, inputs)]
    feet = window.problem.dynamics.nfeet
    largest = np.reshape(xi, (len(xi), feet, -1)).max(axis=2) if feet else np.zeros((len(xi), 0))
    np.testing.assert_array_equal(window.slack(window.us), largest)
    for k, (node, data) in enumerate(zip(window.nodes, window.data)):
        vertical = np.array(node.contact_force(data))[2::3]
        carried = np.bincount(window.problem.contact_feet, vertical, feet)
        np.testing.assert_array_equal(window.foot_forces(k), carried)
    xs, us = window._iterate()
    reference = window.arrival.reference
    np.testing.assert_array_equal(us[0], window.problem.state.diff(reference, xs[0]))
    window.arrival.calc(window._arrival_data, xs[0], us[0])
    strain = np.sqrt(np.mean(np.array(window._arrival_data.r) ** 2))
    assert abs(window.strain() / strain - 1.0) < 1e-12


@pytest.mark.parametrize("name", ["go2", "kinova"])
def test_improving_is_solving_step_by_step(name):
    """Each iteration has the robust weights of the one before, as `solve` gives them."""
    slow, fast = (random_window(name, "forward", 5) for _ in range(2))
    for _ in range(3):
        slow.solve(1)
    xs, _ = fast.solver.improve(np.array(fast.xs), np.array(fast.us), 3, *fast._tails())
    np.testing.assert_array_equal(xs, fast.solver.states()[1:])
    assert fast.solver.iter == 3
    for one, other in zip(slow.xs, fast.solver.states()[1:]):
        np.testing.assert_allclose(one, other, rtol=0.0, atol=1e-8)
    residuals = np.array([data.r for data in fast.data])
    squares = fast.solver.residual_squares()
    np.testing.assert_allclose(squares[:, 0], (residuals**2).sum(axis=0), rtol=1e-12)
    np.testing.assert_array_equal(squares[:, 1], np.count_nonzero(residuals, axis=0))
    np.testing.assert_array_equal(fast.solver.first_residuals(3), residuals[:, :3])


def test_improving_ends_where_little_is_left():
    """As many iterations as the rest of the cost asks for, and no more than are allowed."""
    ends = {}
    for settled in (0.0, 1.0, np.inf):
        solver = (window := random_window("kinova", "forward", 5)).solver
        solver.settled = settled
        solver.improve(np.array(window.xs), np.array(window.us), 10, *window._tails())
        ends[settled] = solver.iter, solver.cost
    assert ends[0.0][0] == 10 and ends[np.inf][0] == 1 and 1 < ends[1.0][0] < 10
    assert abs(ends[1.0][1] - ends[0.0][1]) < 1e-3 < ends[np.inf][1] - ends[0.0][1]


def rest_of_an_iteration(left_open: list[int]) -> float:
    """What `settled` must be at least for one iteration to be enough, by bisection."""
    low, high = -20.0, 20.0
    while high - low > 1e-9:
        window = random_window("kinova", "forward", 5)
        window.solver.left_open, window.solver.settled = left_open, np.exp(0.5 * (low + high))
        window.solver.improve(np.array(window.xs), np.array(window.us), 2, *window._tails())
        enough = window.solver.iter == 1
        low, high = (low, 0.5 * (low + high)) if enough else (0.5 * (low + high), high)
    return float(np.exp(high))


def test_gap_at_the_head_that_is_left_open_asks_for_no_iteration():
    """The rest is less by what this gap costs: squares of its deviations from the readings."""
    window = random_window("kinova", "forward", 5)
    nv, given = window.problem.nv, window.inputs[-1]
    window.solver.solve(*window._iterate(), 1)
    gap = window.problem.state.diff(window.solver.states()[-1], np.array(window.data[-1].xnext))
    weights = np.concatenate([given.weight("encoders"), given.weight("rates")])
    cost = 0.5 * (weights * gap[: 2 * nv]) ** 2
    whole, some = rest_of_an_iteration([]), list(range(nv, 2 * nv))
    assert cost[some].sum() > 0.01 * whole
    assert whole - rest_of_an_iteration(some) == pytest.approx(cost[some].sum(), rel=1e-5)
    with pytest.raises(ValueError, match="component"):
        window.solver.left_open = [2 * nv]


def test_derivatives_are_kept_within_reach():
    """Nothing changes while the nodes move on; within their reach, little of a step does."""
    exact, kept = (random_window("go2", "forward", 6) for _ in range(2))
    for window, reach in ((exact, 0.0), (kept, 1e6)):
        window.solve(1)
        window.solver.reach = reach
        window.improved = window.solver.direction(*window._iterate())[0]
    assert max(abs(a - b).max() for a, b in zip(exact.improved, kept.improved)) > 1e-6
    for window in (exact, kept):
        window.solve(6)
    kept.improve(1)
    exact.solver.improve(np.array(exact.xs), np.array(exact.us), 1, *exact._tails())
    for one, other in zip(exact.solver.states()[1:], kept.xs):
        np.testing.assert_allclose(one, other, rtol=0.0, atol=1e-6)


def test_damping_is_no_knowledge():
    """Covariances are those of the undamped problem, whatever the last step was damped with."""
    window = random_window("go2", "forward", 1)
    xs, us = [window.xs[0], *window.xs], [np.zeros(window.problem.ndx), *window.us]
    P = []
    for damping in (0.0, 10.0):
        window.solver.direction(xs, us, damping)
        window.solver.compute_posterior()
        P.append(window.solver.posterior(NODES + 1))
    np.testing.assert_allclose(P[0], P[1], rtol=1e-9)


@pytest.mark.parametrize("name", ["go2", "g1"])
def test_threads_change_nothing(name):
    """Nodes evaluated by several threads: the same numbers, bit for bit."""
    results = []
    for threads in (1, 3):
        window = random_window(name, "forward", 2)
        window.solver.threads = threads
        for _ in range(3):
            window.solve(1)
        window.posterior()
        results.append(np.concatenate([*window.xs, *window.us, window.head_covariance().ravel()]))
    np.testing.assert_array_equal(*results)


@pytest.mark.parametrize("form", ["forward", "inverse"])
@pytest.mark.parametrize("name", ["go2", "kinova", "g1"])
def test_marginalized_node_equals_dense_algebra(name, form):
    """Cost-to-come with gradient.

    The mean is kept relative to a point that is not the linearization point.
    """
    rng = np.random.default_rng(5)
    node = random_node(name, form, "coulomb", "stance", 5)
    of, state = node.problem, node.problem.state
    x_next = state.integrate(
        np.array(node.calc(node.x, node.u).xnext), 0.01 * rng.normal(size=of.ndx)
    )
    correction = 0.05 * rng.normal(size=of.ndx)
    P = covariance(of)
    reference = state.integrate(node.x, -correction)
    arrival = _core.ActionArrival(state, reference, P)
    arrival.mean = 0.05 * rng.normal(size=of.ndx)
    noise = 1e-3 * rng.normal(size=(of.ndx, of.np))

    d = node.calc(node.x, node.u)
    u, gap = state.diff(reference, node.x), state.diff(x_next, np.array(d.xnext))
    A, B = adjoint(state, reference, u), np.linalg.inv(adjoint(state, x_next, gap))
    mean, expected = marginalize(
        A @ P @ A.T,
        A @ (arrival.mean - u),
        turning_disturbance(node, d),
        np.zeros(of.ndx),
        np.zeros((of.ndx, 1)),
    )
    mean, expected = B @ mean + gap, B @ expected @ B.T + noise @ noise.T

    arrival.marginalize(node.model, node.model.createData(), node.x, node.u, x_next, noise)
    std = np.sqrt(np.diag(expected))
    np.testing.assert_array_equal(arrival.reference, x_next)
    assert abs((arrival.covariance - expected) / np.outer(std, std)).max() < 1e-7
    assert abs((arrival.mean - mean) / std).max() < 1e-6
    assert np.all(np.diag(arrival.L) > 0.0) and not np.triu(arrival.L, 1).any()


@pytest.mark.parametrize("known", [6, None], ids=["by the base", "by all"])
def test_replace_prior_replaces_variables(known):
    """Ground heights become `rows dx + noise`, the others keep their covariance.

    Correlations follow, and the root stays one.
    """
    of, rng = problem("go2"), np.random.default_rng(6)
    L = rng.normal(size=(of.ndx, of.ndx))
    x0 = of.state.rand()
    arrival = _core.ActionArrival(of.state, x0, L @ L.T)
    arrival.mean = rng.normal(size=of.ndx)
    mean, P = arrival.mean, arrival.covariance
    indices = [of.columns("height").start, of.columns("height").start + 2]
    rows, std, change = np.zeros((2, of.ndx)), np.array([0.3, 0.7]), np.array([0.1, -0.2])
    rows[:, :known] = rng.normal(size=rows[:, :known].shape)
    T = np.eye(of.ndx)
    T[indices] = rows
    expected = T @ P @ T.T
    expected[indices, indices] += std**2
    arrival.replace_prior(indices, rows, std, change)
    np.testing.assert_allclose(arrival.covariance, expected, atol=1e-9 * abs(expected).max())
    assert np.all(np.diag(arrival.L) > 0.0) and not np.triu(arrival.L, 1).any()
    np.testing.assert_allclose(arrival.mean, T @ mean, atol=1e-9 * abs(mean).max())
    moved = of.state.diff(x0, arrival.reference)
    np.testing.assert_allclose(moved[indices], change, atol=1e-12)
    assert abs(np.delete(moved, indices)).max() < 1e-12


def test_variables_that_know_each_other_replace_several():
    """In any order, the first one of the state among them, and the same variables once more."""
    of, rng = problem("go2"), np.random.default_rng(8)
    arrival = _core.ActionArrival(of.state, of.state.zero(), covariance(of))
    for indices in ([of.ndx - 1, 0, 7], [7, of.ndx - 1]):
        P, k = arrival.covariance, len(indices)
        rows, std = rng.normal(size=(k, of.ndx)), rng.uniform(0.1, 1.0, k)
        T = np.eye(of.ndx)
        T[indices] = rows
        expected = T @ P @ T.T
        expected[indices, indices] += std**2
        arrival.replace_prior(indices, rows, std, np.zeros(k))
        np.testing.assert_allclose(arrival.covariance, expected, atol=1e-9 * abs(expected).max())
        np.testing.assert_allclose(arrival.L @ arrival.L.T, arrival.covariance, atol=1e-9)
        assert np.all(np.diag(arrival.L) > 0.0) and not np.triu(arrival.L, 1).any()


def test_root_of_another_size_is_refused():
    of = problem("go2")
    arrival = _core.ActionArrival(of.state, of.state.zero(), covariance(of))
    with pytest.raises(ValueError, match="arrival"):
        arrival.L = np.eye(of.ndx - 1)


def test_inflate_covariance_adds_it():
    of, rng = problem("go2"), np.random.default_rng(7)
    arrival = _core.ActionArrival(of.state, of.state.zero(), covariance(of))
    P, noise = arrival.covariance, rng.normal(size=(of.ndx, 3))
    arrival.inflate_covariance(noise)
    np.testing.assert_allclose(arrival.covariance, P + noise @ noise.T, atol=1e-9)


@pytest.mark.parametrize("name", ["go2", "kinova", "g1"])
def test_arrival_node_derivatives(name):
    """x+ = reference (+) u and r = L^-1 (u - m), against differences on the manifold."""
    of, rng = problem(name), np.random.default_rng(8)
    P = covariance(of)
    arrival = _core.ActionArrival(
        of.state, random_node(name, "forward", "coulomb", "stance", 8).x, P
    )
    arrival.mean = 0.1 * rng.normal(size=of.ndx)
    x, u, data = arrival.reference, 0.3 * rng.normal(size=of.ndx), arrival.createData()
    arrival.calc(data, x, u)
    arrival.calcDiff(data, x, u)
    root = np.linalg.cholesky(P)
    residual = np.linalg.solve(root, u - arrival.mean)
    np.testing.assert_allclose(data.r, residual, atol=1e-9 * abs(residual).max())
    x_next, trial = np.array(data.xnext), arrival.createData()

    def at(du):
        arrival.calc(trial, x, u + du)
        return of.state.diff(x_next, np.array(trial.xnext))

    assert relative_error(data.Fu, jacobian(at, of.ndx)) < 1e-7
    assert relative_error(data.Ru, np.linalg.inv(root)) < 1e-9
    assert not data.Fx.any() and not data.Rx.any()
    assert (
        relative_error(data.Lu, data.Ru.T @ data.r) < 1e-12
        and relative_error(data.Luu, data.Ru.T @ data.Ru) < 1e-12
    )


@pytest.mark.parametrize("name", ["go2", "kinova", "g1"])
def test_state_manifold(name):
    """diff undoes integrate."""
    of, rng = problem(name), np.random.default_rng(9)
    state, x = of.state, random_node(name, "forward", "coulomb", "stance", 9).x
    dx = 0.5 * rng.normal(size=of.ndx)
    y = state.integrate(x, dx)
    np.testing.assert_allclose(state.diff(x, y), dx, atol=1e-9)
    np.testing.assert_allclose(state.integrate(x, state.diff(x, y)), y, atol=1e-9)


@pytest.mark.parametrize("bad", [np.zeros((3, 3)), np.eye(3)], ids=["not definite", "wrong size"])
def test_arrival_needs_a_covariance(bad):
    of = problem("go2")
    with pytest.raises(ValueError, match="covariance must be positive definite"):
        _core.ActionArrival(of.state, of.state.zero(), bad)
