# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""What the arrival cost knows of one variable by others, against the normal equations."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.models import problem

from prime_estimation import _core


@pytest.fixture(scope="module")
def arrival():
    """Variables of very different deviations, which know of one another."""
    state, rng = problem("go2").state, np.random.default_rng(1)
    root = rng.normal(size=(state.ndx, 2 * state.ndx))
    root *= 10.0 ** rng.uniform(-4.0, 2.0, state.ndx)[:, None]
    return _core.ActionArrival(state, state.zero(), root @ root.T)


def normal_equations(P, own, others, ridge):
    """`a = P_ox (P_xx + ridge diag P_xx)^-1`, and the variance that it leaves."""
    among, shared = P[np.ix_(others, others)], P[own, others]
    row = np.zeros(len(P))
    row[others] = np.linalg.solve(among + ridge * np.diag(np.diag(among)), shared)
    return row, P[own, own] - row[others] @ shared


@pytest.mark.parametrize("ridge", [0.0, 1e-9, 0.1])
@pytest.mark.parametrize("own, others", [(40, range(40)), (3, range(4, 60, 3)), (7, [20]), (0, [])])
def test_regression_on_others(arrival, own, others, ridge):
    row, variance = arrival.regression(own, list(others), ridge)
    expected, left = normal_equations(arrival.covariance, own, list(others), ridge)
    unit = np.sqrt(np.diag(arrival.covariance))
    np.testing.assert_allclose(row * unit, expected * unit, atol=1e-9 * unit[own])
    assert variance == pytest.approx(left, rel=1e-9)


def test_components_that_there_are_not(arrival):
    for own, others in ((-1, [2]), (0, [10_000])):
        with pytest.raises(ValueError, match="no component"):
            arrival.regression(own, others, 0.0)
