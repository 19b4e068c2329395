# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The parametrized Riccati recursion against the whole quadratic problem.

Steps, covariances, parameters that nothing is known about.
"""

from __future__ import annotations

import crocoddyl
import numpy as np
import pytest
from reference.gaussian import dense_window

from prime_estimation import _core

NS, NP, NW, NZ, N = 5, 4, 3, 4, 7
METHODS = (_core.ParameterMethod.schur, _core.ParameterMethod.nullspace)
ROLLOUTS = (_core.Rollout.multiple, _core.Rollout.feasible, _core.Rollout.single)


def linear_nodes(rng, state, count, known=np.eye(NP), parameters=NP):
    """Random nodes; parameters act through the combinations `known` (k, NP) only."""
    n, nodes = NS + NP, []
    for _ in range(count):
        A, B, C = np.eye(n), np.zeros((n, NW)), rng.normal(size=(NZ, n))
        A[:NS] = 0.4 * rng.normal(size=(NS, n))
        B[:NS] = rng.normal(size=(NS, NW))
        project = np.linalg.pinv(known) @ known
        A[:NS, NS:], C[:, NS:] = A[:NS, NS:] @ project, C[:, NS:] @ project
        C = np.vstack([np.zeros((NW, n)), C])
        D = np.vstack([np.eye(NW), 0.3 * rng.normal(size=(NZ, NW))])
        c = np.concatenate([rng.normal(size=NS), np.zeros(NP)])
        nodes.append(_core.ActionLinear(state, A, B, c, C, D, rng.normal(size=NW + NZ), parameters))
    return nodes


def random_point(rng, sizes, same_parameters=True):
    xs = [rng.normal(size=NS + NP) for _ in range(len(sizes) + 1)]
    for x in xs[2:] if same_parameters else []:
        x[NS:] = xs[1][NS:]
    return xs, [rng.normal(size=n) for n in sizes]


def arrival_of(rng, state):
    root = rng.normal(size=(NS + NP, NS + NP))
    arrival = _core.ActionArrival(
        state, rng.normal(size=NS + NP), root @ root.T + 0.1 * np.eye(NS + NP)
    )
    arrival.mean = rng.normal(size=NS + NP)
    return arrival


def whole_problem(models, terminal, xs, us, free=None):
    """Linearization of all nodes, solved as one least-squares problem.

    Dxs, dus, covariances of dx.
    """
    datas, gaps = [model.createData() for model in models], []
    for model, data, x, u, x_next in zip(models, datas, xs, us, xs[1:]):
        model.calc(data, x, u)
        model.calcDiff(data, x, u)
        gaps.append(model.state.diff(x_next, data.xnext))
    last, none = terminal.createData(), np.zeros(terminal.nu)
    terminal.calc(last, xs[-1], none)
    terminal.calcDiff(last, xs[-1], none)
    return dense_window([*datas, last], gaps, free)[:3]


def assert_same(ours, expected, atol=1e-9):
    for a, b in zip(ours, expected):
        np.testing.assert_allclose(a, b, atol=atol * max(1.0, abs(b).max(initial=0.0)))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(5))
def test_step_equals_whole_problem(seed, method):
    """With an arrival node: state and parameters are corrected together, whatever the gaps are."""
    rng = np.random.default_rng(seed)
    state = crocoddyl.StateVector(NS + NP)
    models = [arrival_of(rng, state), *linear_nodes(rng, state, N)]
    terminal = linear_nodes(rng, state, 1)[0]
    xs, us = random_point(rng, [NS + NP] + [NW] * N)
    solver = _core.SolverMultipleShooting(crocoddyl.ShootingProblem(xs[0], models, terminal))
    solver.method = method
    to_dx, to_du, P = whole_problem(models, terminal, xs, us)
    dxs, dus = solver.direction(xs, us)
    assert_same(dxs[1:], to_dx[1:])
    assert_same(dus, to_du)
    solver.compute_posterior()
    assert_same([solver.posterior(k) for k in range(1, N + 2)], P[1:])


@pytest.mark.parametrize("rank", [NP, 2, 0], ids=["regular", "singular", "nothing known"])
@pytest.mark.parametrize("seed", range(5))
def test_given_state_and_free_parameters(seed, rank):
    """Without arrival node and prior.

    Combinations of parameters that nothing depends on are held, all others solved for.
    """
    rng = np.random.default_rng(seed)
    state, known = crocoddyl.StateVector(NS + NP), np.linalg.qr(rng.normal(size=(NP, NP)))[0][:rank]
    models = linear_nodes(rng, state, N, known)
    terminal = linear_nodes(rng, state, 1, known)[0]
    xs, us = random_point(rng, [NW] * N)
    xs[1][NS:] = xs[0][NS:]
    for x in xs[1:]:
        x[NS:] = xs[0][NS:]
    solver = _core.SolverMultipleShooting(crocoddyl.ShootingProblem(xs[0], models, terminal))
    solver.method = _core.ParameterMethod.nullspace
    to_dx, to_du, P = whole_problem(models, terminal, xs, us, np.eye(NS + NP)[:, NS:])
    dxs, dus = solver.direction(xs, us)
    assert solver.rank == rank
    assert_same(dus, to_du)
    assert_same([dx[:NS] for dx in dxs], [dx[:NS] for dx in to_dx])
    assert_same([known @ dxs[0][NS:]], [known @ to_dx[0][NS:]])
    solver.compute_posterior()
    for k in range(N + 1):
        assert_same([solver.posterior(k)[:NS, :NS]], [P[k][:NS, :NS]])
    seen = np.vstack(
        [np.hstack([np.eye(NS), np.zeros((NS, NP))]), np.hstack([np.zeros((rank, NS)), known])]
    )
    assert_same([seen @ solver.posterior(N) @ seen.T], [seen @ P[N] @ seen.T])


def test_stops_only_where_a_step_changes_nothing():
    """Not where closing the gaps costs exactly what the rest of the step gains, and not because the
    step is damped."""
    rng, state = np.random.default_rng(6), crocoddyl.StateVector(NS + NP)
    nodes = linear_nodes(rng, state, N + 1)
    solver = _core.SolverMultipleShooting(
        crocoddyl.ShootingProblem(
            np.zeros(NS + NP), [arrival_of(rng, state), *nodes[:-1]], nodes[-1]
        )
    )
    start = random_point(rng, [NS + NP] + [NW] * N)
    solver.solve(*start, 5)
    best, optimum = (solver.states(), solver.controls()), solver.cost

    def at(fraction):
        """Cost of the optimum's states, moved and so left with gaps."""
        xs = [b + fraction * (a - b) for a, b in zip(start[0], best[0])]
        solver.solve(xs, best[1], 0)
        return xs, solver.cost - optimum

    inside, outside = 0.0, 1.0
    # the optimum is one among states without gaps only: the other way the cost falls
    if at(1e-6)[1] > 0.0:
        start = ([2.0 * b - a for a, b in zip(start[0], best[0])], start[1])
    for _ in range(60):
        middle = 0.5 * (inside + outside)
        inside, outside = (middle, outside) if at(middle)[1] < 0.0 else (inside, middle)
    xs, _ = at(inside)
    solver.th_stop = 0.1
    assert not solver.solve(xs, best[1], 1)
    assert solver.cost == pytest.approx(optimum) and solver.stop > 0.1 * optimum
    assert solver.solve(xs, best[1], 2)
    assert not solver.solve(start[0], start[1], 1, 1e4) and solver.stop > 0.1 * solver.cost


@pytest.mark.parametrize("rollout", ROLLOUTS)
def test_linear_problem_is_solved_by_one_step(rollout):
    """By every rollout, and with the same result as with the parameters in the state."""
    rng = np.random.default_rng(3)
    state, costs, heads = crocoddyl.StateVector(NS + NP), [], []
    arrival = arrival_of(rng, state)
    for parameters in (NP, 0):
        nodes = linear_nodes(np.random.default_rng(4), state, N + 1, parameters=parameters)
        xs, us = random_point(np.random.default_rng(5), [NS + NP] + [NW] * N, same_parameters=False)
        solver = _core.SolverMultipleShooting(
            crocoddyl.ShootingProblem(xs[0], [arrival, *nodes[:-1]], nodes[-1])
        )
        solver.rollout = rollout
        assert solver.solve(xs, us, 5)
        assert solver.iter <= 2 and solver.refused == 0 and solver.largest_gap < 1e-9
        costs.append(solver.cost)
        heads.append(solver.states()[-1])
    np.testing.assert_allclose(costs[0], costs[1], rtol=1e-10)
    np.testing.assert_allclose(heads[0], heads[1], atol=1e-9)


def test_damping_shortens_the_step():
    rng = np.random.default_rng(6)
    state = crocoddyl.StateVector(NS + NP)
    nodes = linear_nodes(rng, state, N + 1)
    xs, us = random_point(rng, [NS + NP] + [NW] * N)
    solver = _core.SolverMultipleShooting(
        crocoddyl.ShootingProblem(xs[0], [arrival_of(rng, state), *nodes[:-1]], nodes[-1])
    )
    lengths = [
        np.linalg.norm(np.concatenate(solver.direction(xs, us, damping)[1]))
        for damping in (0.0, 1.0, 1e3, 1e6)
    ]
    assert sorted(lengths, reverse=True) == lengths and lengths[-1] < 1e-2 * lengths[0]


def test_nodes_must_share_their_parameters():
    rng = np.random.default_rng(7)
    state = crocoddyl.StateVector(NS + NP)
    models, terminal = linear_nodes(rng, state, N), linear_nodes(rng, state, 1, parameters=0)[0]
    problem = crocoddyl.ShootingProblem(np.zeros(NS + NP), models, terminal)
    with pytest.raises(ValueError, match="same parameters"):
        _core.SolverMultipleShooting(problem)


def test_nothing_is_told_before_the_first_iteration():
    """Neither a step nor a covariance, also after a solution without iterations.

    Nodes that do not exist have none.
    """
    rng, state = np.random.default_rng(8), crocoddyl.StateVector(NS + NP)
    nodes = linear_nodes(rng, state, N + 1)
    xs, us = random_point(rng, [NS + NP] + [NW] * N)
    solver = _core.SolverMultipleShooting(
        crocoddyl.ShootingProblem(xs[0], [arrival_of(rng, state), *nodes[:-1]], nodes[-1])
    )
    questions = (
        solver.backward,
        solver.forward,
        solver.redirect,
        solver.compute_posterior,
        lambda: solver.posterior(1),
    )
    for ask in questions:
        with pytest.raises(RuntimeError, match="no iteration yet|compute the posterior first"):
            ask()
    solver.solve(xs, us, 0)
    for ask in questions:
        with pytest.raises(RuntimeError, match="no iteration yet|compute the posterior first"):
            ask()
    solver.solve(xs, us, 1)
    solver.compute_posterior()
    for k in (0, N + 2):
        with pytest.raises(ValueError, match=f"no state {k}"):
            solver.posterior(k)
    with pytest.raises(ValueError, match="has no control"):
        solver.covariance_at(N + 1, np.eye(NS + NP), np.zeros((NS + NP, NW)))


def test_trajectory_that_is_not_finite_is_refused():
    rng, state = np.random.default_rng(9), crocoddyl.StateVector(NS + NP)
    nodes = linear_nodes(rng, state, N + 1)
    xs, us = random_point(rng, [NS + NP] + [NW] * N)
    xs[3] = np.nan * xs[3]
    solver = _core.SolverMultipleShooting(
        crocoddyl.ShootingProblem(xs[0], [arrival_of(rng, state), *nodes[:-1]], nodes[-1])
    )
    with pytest.raises(RuntimeError, match="cost of the first trajectory is not finite"):
        solver.solve(xs, us, 1)


def test_linear_nodes_have_vectors_for_states():
    state, n = crocoddyl.StateVector(NS + NP), NS + NP
    good = dict(
        A=np.eye(n),
        B=np.zeros((n, NW)),
        c=np.zeros(n),
        C=np.zeros((NZ, n)),
        D=np.zeros((NZ, NW)),
        z=np.zeros(NZ),
    )
    for name, value in good.items():
        wrong = {**good, name: np.zeros((len(value) + 1, *value.shape[1:]))}
        with pytest.raises(ValueError, match="linear node"):
            _core.ActionLinear(state, *wrong.values())


def test_only_running_nodes_leave_the_window():
    rng, state = np.random.default_rng(10), crocoddyl.StateVector(NS + NP)
    arrival, n = arrival_of(rng, state), NS + NP
    with pytest.raises(ValueError, match="only running nodes"):
        arrival.marginalize(
            arrival, arrival.createData(), np.zeros(n), np.zeros(n), np.zeros(n), np.zeros((n, 1))
        )


@pytest.mark.parametrize("rows", [np.eye(NW), np.array([[1, 0, 0], [0, 1, 1], [0, 0, 0]])])
def test_covariances_of_a_hessian_that_is_not_definite_without_damping(rows):
    """Two controls of a node are told by their sum only, and move nothing.

    The step was damped, and its damping has gone since; as often as it is asked.
    """
    rng, state = np.random.default_rng(10), crocoddyl.StateVector(NS + NP)
    models = [arrival_of(rng, state), *linear_nodes(rng, state, N)]
    terminal = linear_nodes(rng, state, 1)[0]
    xs, us = random_point(rng, [NS + NP] + [NW] * N)
    A, B, c = np.eye(NS + NP), np.zeros((NS + NP, NW)), np.zeros(NS + NP)
    B[:NS, 0] = rng.normal(size=NS)
    C, r = np.zeros((NW, NS + NP)), rng.normal(size=NW)
    P = []
    for D in (np.eye(NW), rows):
        models[4] = _core.ActionLinear(state, A, B, c, C, D, r, NP)
        problem = crocoddyl.ShootingProblem(xs[0], models, terminal)
        solver = _core.SolverMultipleShooting(problem)
        solver.solve(xs, us, 1, regularization=5e-9)
        for _ in range(2):
            solver.compute_posterior()
            P.append([solver.posterior(k) for k in range(1, N + 2)])
    for other in P[1:]:
        assert_same(other, P[0], atol=1e-4)  # damping of 1e-6 stays
