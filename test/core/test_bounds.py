# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Bounds of the parameters: iterates stop there, everything else takes the best that is left."""

from __future__ import annotations

import numpy as np
import pytest
from core.test_solver import METHODS, NP, NS, assert_same
from core.test_trust_region import linear_problem

from prime_estimation import _core


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("held", [[1], [0, 2], [0, 1, 2, 3]])
@pytest.mark.parametrize("seed", range(3))
def test_step_to_a_bound_is_the_minimizer_on_that_condition(seed, held, method):
    """z = z_free - P_b P_bb^-1 (p_free - bound), P the covariance at the first node."""
    solver, xs, us = linear_problem(seed)
    solver.method = method
    free = solver.direction(xs, us)[1][0]
    solver.compute_posterior()
    P = solver.posterior(1)
    rows, bounds = [NS + i for i in held], 0.4 * free[NS:][held]
    expected = free - P[:, rows] @ np.linalg.solve(P[np.ix_(rows, rows)], free[rows] - bounds)
    for i, bound in zip(held, bounds):
        value = xs[1][NS + i] + bound
        solver.set_bound(i, *((-np.inf, value) if bound > 0.0 else (value, np.inf)))
    bounded = solver.direction(xs, us)[1][0]
    assert_same([bounded], [expected])
    np.testing.assert_allclose(bounded[rows], bounds, rtol=1e-12)
    solver.compute_posterior()  # a bound is no knowledge
    assert_same([solver.posterior(1)], [P])


def test_what_crosses_its_bound_only_where_another_stops_is_held_too():
    rng = np.random.default_rng(3)
    crossed = 0
    for seed in range(20):
        solver, xs, us = linear_problem(seed)
        free = solver.direction(xs, us)[1][0][NS:]
        most = xs[1][NS:] + free + rng.uniform(0.0, 0.05, NP) * abs(free).max()
        solver.set_bound(0, -np.inf, xs[1][NS] + 0.2 * free[0] - 0.5 * abs(free[0]))
        for i in range(1, NP):
            solver.set_bound(i, -np.inf, most[i])
        step = solver.direction(xs, us)[1][0][NS:]
        assert (xs[1][NS + 1 :] + step[1:] <= most[1:] + 1e-12).all()
        crossed += np.isclose(xs[1][NS + 1 :] + step[1:], most[1:], rtol=0, atol=1e-12).any()
    assert crossed


def test_iterates_stay_within_bounds_and_end_at_the_best_of_them():
    """The optimum on the condition that one parameter is at its bound: no gradient by others."""
    solver, xs, us = linear_problem(4)
    solver.solve(xs, us, 20)
    best, cost = solver.states()[1][NS:], solver.cost
    solver.set_bound(2, best[2] + 0.3, np.inf)
    solver.solve(xs, us, 20)
    assert solver.states()[1][NS + 2] == pytest.approx(best[2] + 0.3, abs=1e-12)
    solver.compute_posterior()
    # of a quadratic cost, 1/2 of the squared distance in deviations of that parameter
    rise = 0.5 * 0.3**2 / solver.posterior(1)[NS + 2, NS + 2]
    assert solver.cost - cost == pytest.approx(rise, rel=1e-6)


def test_bounds_that_cannot_be_are_refused():
    solver, _, _ = linear_problem(0)
    assert isinstance(solver, _core.SolverMultipleShooting)
    for wrong in ((-1, 0.0, 1.0), (NP, 0.0, 1.0), (0, 1.0, 0.0), (0, np.nan, 1.0)):
        with pytest.raises(ValueError, match="bound"):
            solver.set_bound(*wrong)
