# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The trust region of the parameters.

Steps within their bounds, damped as little as that takes, and the same optimum in the end.
"""

from __future__ import annotations

import crocoddyl
import numpy as np
import pytest
from core.test_solver import (
    METHODS,
    NP,
    NS,
    NW,
    ROLLOUTS,
    N,
    arrival_of,
    assert_same,
    linear_nodes,
    random_point,
)

from prime_estimation import _core

# bounds relative to the longest undamped step; the second parameter may take any
SHARE = np.array([0.3, np.inf, 0.1, 0.2])


def linear_problem(seed: int, known=np.eye(NP)):
    """Solver of a random linear problem with an arrival node, and a point."""
    rng, state = np.random.default_rng(seed), crocoddyl.StateVector(NS + NP)
    nodes = linear_nodes(rng, state, N + 1, known)
    xs, us = random_point(rng, [NS + NP] + [NW] * N)
    arrival = arrival_of(rng, state)
    for x in xs:
        # no gap of the parameters behind the arrival node
        x[NS:] = (arrival.reference + us[0])[NS:]
    return (
        _core.SolverMultipleShooting(
            crocoddyl.ShootingProblem(xs[0], [arrival, *nodes[:-1]], nodes[-1])
        ),
        xs,
        us,
    )


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(5))
def test_bounded_step_is_the_damped_one(seed, method):
    """S (dp - dp_free) = -damping dp / largest^2 with one damping for all parameters, S their
    information; the first state follows them."""
    solver, xs, us = linear_problem(seed)
    solver.method = method
    free = solver.direction(xs, us)[1][0]
    solver.compute_posterior()
    P = solver.posterior(1)
    largest = SHARE * abs(free[NS:]).max()
    solver.largest_step = largest
    bounded = solver.direction(xs, us)[1][0]
    change, bound = bounded - free, np.isfinite(largest)
    # the damping is found to within a factor of four
    assert 0.2 < np.max(abs(bounded[NS:]) / largest) <= 1.0
    S = np.linalg.inv(P[NS:, NS:])
    pull = -S @ change[NS:] * np.where(bound, largest, 1.0) ** 2
    damping = pull[bound] / bounded[NS:][bound]
    np.testing.assert_allclose(damping, damping[0], rtol=1e-6)
    assert damping[0] > 0.0 and abs(pull[~bound]).max() < 1e-8 * abs(pull).max()
    assert_same([change[:NS]], [P[:NS, NS:] @ S @ change[NS:]])
    solver.compute_posterior()  # the damping is no knowledge
    assert_same([solver.posterior(1)], [P])
    assert_same([solver.direction(xs, us)[1][0]], [bounded])


@pytest.mark.parametrize("method", METHODS)
def test_wide_region_changes_nothing(method):
    solver, xs, us = linear_problem(1)
    solver.method = method
    assert solver.largest_step.size == 0
    free = solver.direction(xs, us)
    solver.largest_step = np.full(NP, 1e6)
    assert all(
        np.array_equal(a, b)
        for ours, expected in zip(solver.direction(xs, us), free)
        for a, b in zip(ours, expected)
    )


@pytest.mark.parametrize("rollout", ROLLOUTS)
def test_every_iteration_keeps_to_it_and_the_optimum_is_the_same(rollout):
    solver, xs, us = linear_problem(2)
    solver.rollout = rollout
    assert solver.solve(xs, us, 5)
    expected, cost = solver.states()[-1], solver.cost
    way = expected[NS:] - xs[1][NS:]
    solver.largest_step = np.full(NP, 0.1 * abs(way).max())
    before = xs[1][NS:]
    for iterations in range(1, 5):
        assert not solver.solve(xs, us, iterations)
        now = solver.states()[-1][NS:]
        assert np.all(abs(now - before) <= solver.largest_step * (1.0 + 1e-9))
        before = now
    assert solver.solve(xs, us, 100) and solver.iter >= 10
    assert solver.cost == pytest.approx(cost, rel=1e-9)
    np.testing.assert_allclose(solver.states()[-1], expected, atol=1e-4)


def test_unknown_directions_stay():
    """Nullspace method without prior: damping does not make known what nothing is known about."""
    rng, state = np.random.default_rng(3), crocoddyl.StateVector(NS + NP)
    known = np.eye(NP)[:2]
    nodes = linear_nodes(rng, state, N + 1, known)
    xs, us = random_point(rng, [NW] * N)
    solver = _core.SolverMultipleShooting(crocoddyl.ShootingProblem(xs[0], nodes[:-1], nodes[-1]))
    solver.method, solver.largest_step = _core.ParameterMethod.nullspace, np.full(NP, 1e-3)
    step = solver.direction(xs, us)[0][0][NS:]
    assert solver.rank == 2 and not step[2:].any()
    assert 2e-4 < abs(step[:2]).max() <= 1e-3


@pytest.mark.parametrize(
    "largest", [np.ones(NP + 1), np.array([1.0, 0.0, 1.0, 1.0]), np.array([1.0, np.nan, 1.0, 1.0])]
)
def test_bounds_that_make_no_sense(largest):
    with pytest.raises(
        ValueError, match="largest step of each of the 4 parameters must be positive"
    ):
        linear_problem(4)[0].largest_step = largest
