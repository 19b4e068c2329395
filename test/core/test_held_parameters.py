# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Parameters that are held: everything else is as if they were known, without their columns."""

from __future__ import annotations

import numpy as np
import pytest
from core.test_solver import METHODS, NP, NS, assert_same
from core.test_trust_region import linear_problem
from core.test_window_solver import random_window

HELD = [[0], [1, 3], [0, 1, 2, 3]]


def known(P: np.ndarray, rows: list[int]) -> np.ndarray:
    """Covariance once the variables `rows` are known: P - P_h P_hh^-1 P_h^T."""
    return P - P[:, rows] @ np.linalg.solve(P[np.ix_(rows, rows)], P[rows])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("held", HELD)
@pytest.mark.parametrize("seed", range(3))
def test_step_and_posterior_with_known_parameters(seed, held, method):
    solver, xs, us = linear_problem(seed)
    solver.method, rows = method, [NS + i for i in held]
    free = solver.direction(xs, us)[1][0]
    solver.compute_posterior()
    P = [solver.posterior(k) for k in range(1, len(xs))]
    solver.hold(held)
    step = solver.direction(xs, us)[1][0]
    expected = free - P[0][:, rows] @ np.linalg.solve(P[0][np.ix_(rows, rows)], free[rows])
    assert_same([step], [expected])
    solver.compute_posterior()
    assert_same([solver.posterior(k) for k in range(1, len(xs))], [known(Pk, rows) for Pk in P])
    assert solver.rank == NP - len(held)
    solver.hold([])
    assert_same([solver.direction(xs, us)[1][0]], [free])


@pytest.mark.parametrize("form", ["forward", "inverse"])
@pytest.mark.parametrize("name", ["go2", "g1"])
def test_window_with_known_parameters(name, form):
    """All states and controls, and what is told of the newest node."""
    window = random_window(name, form, 5)
    problem, solver = window.problem, window.solver
    held = list(range(3, 10)) + [problem.np - 1]
    rows = [2 * problem.nv + i for i in held]
    jx = np.eye(problem.ndx)[: 2 * problem.nv : 3]
    dxs, _ = window.direction()
    window.posterior()
    P0, last = solver.posterior(1), window.head_covariance()
    solver.hold(held)
    steps, _ = window.direction()
    # what the first state and the head would have made of a step of the parameters by nothing
    gain = np.linalg.solve(P0[np.ix_(rows, rows)], dxs[0][rows])
    assert_same([steps[0][rows]], [np.zeros(len(rows))])
    assert_same([steps[0]], [dxs[0] - P0[:, rows] @ gain], 1e-6)
    assert_same([steps[-1]], [dxs[-1] - last[:, rows] @ gain], 1e-6)
    window.posterior()
    assert_same([window.head_covariance()], [known(last, rows)], 1e-6)
    of_state, of_parameters = window.newest(jx)[:2]
    assert_same([of_state], [jx @ known(last, rows) @ jx.T], 1e-6)
    assert_same([of_parameters], [known(last, rows)[2 * problem.nv :, 2 * problem.nv :]], 1e-6)


def test_bounds_and_steps_of_the_parameters_are_those_of_all():
    solver, xs, us = linear_problem(2)
    largest = np.array([0.5, np.inf, 0.2, 0.3])
    solver.largest_step = largest
    solver.hold([0])
    np.testing.assert_array_equal(solver.largest_step, largest)
    step = solver.direction(xs, us)[1][0][NS:]
    assert step[0] == 0.0 and (abs(step) <= largest).all()
    value = xs[1][NS + 3] + 0.5 * step[3]
    solver.set_bound(3, *((-np.inf, value) if step[3] > 0.0 else (value, np.inf)))
    bounded = solver.direction(xs, us)[1][0][NS:]
    assert bounded[0] == 0.0 and xs[1][NS + 3] + bounded[3] == pytest.approx(value, abs=1e-12)


def test_parameters_that_do_not_exist_are_refused():
    solver, _, _ = linear_problem(0)
    for wrong in (-1, NP):
        with pytest.raises(ValueError, match="no parameter"):
            solver.hold([wrong])
