# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Both linear minimization oracles against dense references; descent on problems with an answer."""

import numpy as np
import pytest
from helpers.swaying_robot import shipped_noise
from scipy.optimize import linprog, minimize

from prime_estimation.calibration.frank_wolfe import ORACLES, Objective, frank_wolfe
from prime_estimation.calibration.oracles import (
    SMALLEST,
    CovarianceBounds,
    cholesky_oracle,
    semidefinite_oracle,
)


def symmetric(rng, d):
    A = rng.normal(size=(d, d))
    return A + A.T


@pytest.mark.parametrize("seed", range(3))
def test_semidefinite_oracle_is_a_linear_program_where_the_cone_is_wide(seed):
    """Within a third of the identity every matrix is positive definite: only the box counts."""
    pytest.importorskip("cvxpy")
    rng, bounds = np.random.default_rng(seed), CovarianceBounds(radius=0.3)
    g = symmetric(rng, 3)
    found = semidefinite_oracle(g, np.eye(3), bounds)
    rows, columns = np.tril_indices(3)
    cost = np.where(rows == columns, 1.0, 2.0) * g[rows, columns]
    box = [(e - 0.3, e + 0.3) for e in np.eye(3)[rows, columns]]
    expected = linprog(cost, bounds=box).fun
    assert np.sum(g * found) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_semidefinite_oracle_on_the_boundary_of_the_cone(seed):
    """Against a search over factors, which are positive definite by themselves."""
    pytest.importorskip("cvxpy")
    rng, bounds = np.random.default_rng(seed), CovarianceBounds(radius=0.95, low=1e-4)
    g = symmetric(rng, 2)
    found = semidefinite_oracle(g, np.eye(2), bounds)
    assert np.linalg.eigvalsh(found)[0] >= SMALLEST - 1e-6

    def matrix(f):
        F = np.array([[f[0], 0.0], [f[1], f[2]]])
        return F @ F.T + SMALLEST * np.eye(2)

    slack = [{"type": "ineq", "fun": lambda f: (0.95 - np.abs(matrix(f) - np.eye(2))).ravel()}]
    starts = rng.normal(size=(20, 3))
    tries = [minimize(lambda f: np.sum(g * matrix(f)), s, constraints=slack) for s in starts]
    best = min(t.fun for t in tries if t.success and slack[0]["fun"](t.x).min() > -1e-6)
    assert np.sum(g * found) == pytest.approx(best, abs=1e-4)


def test_cholesky_oracle_is_the_corner_of_its_box():
    rng, bounds = np.random.default_rng(0), CovarianceBounds(radius=0.4)
    g, root = symmetric(rng, 3), np.tril(0.2 * rng.normal(size=(3, 3))) + np.eye(3)
    current = root @ root.T
    C = np.linalg.cholesky(current)
    slope = np.tril(2.0 * C.T @ g @ C)
    rows, columns = np.tril_indices(3)
    box = [(e - 0.2, e + 0.2) for e in np.eye(3)[rows, columns]]
    corner = linprog(slope[rows, columns], bounds=box).x
    N = np.zeros((3, 3))
    N[rows, columns] = corner
    np.testing.assert_allclose(cholesky_oracle(g, current, bounds), C @ N, atol=1e-9)


def test_bounds_of_the_shipped_variances_hold():
    bounds = CovarianceBounds(low=0.5, high=2.0, radius=0.8)
    up, down = -np.eye(3), np.eye(3)
    F = cholesky_oracle(up, 1.9 * np.eye(3), bounds)
    np.testing.assert_allclose(np.diag(F @ F.T), 2.0)
    F = cholesky_oracle(down, 0.6 * np.eye(3), bounds)
    np.testing.assert_allclose(np.diag(F @ F.T), 0.5)
    pytest.importorskip("cvxpy")
    T = semidefinite_oracle(up, 1.9 * np.eye(3), bounds)
    np.testing.assert_allclose(np.diag(T), 2.0, atol=1e-5)


class Divergence(Objective):
    """Convex, least where every block is four times the shipped one, with correlation."""

    def __init__(self, noise):
        self.goal = {k: 4.0 * S for k, S in noise.blocks.items()}
        self.goal["gyro"] = noise.blocks["gyro"][0, 0] * np.array(
            [[4.0, 1.0, 0.0], [1.0, 2.0, 0.5], [0.0, 0.5, 3.0]]
        )

    def value(self, noise):
        ratios = [np.linalg.solve(self.goal[k], S) for k, S in noise.blocks.items()]
        return 1.0 + sum(0.5 * (np.trace(r) - np.linalg.slogdet(r)[1] - len(r)) for r in ratios)

    def gradient(self, noise):
        inverse = np.linalg.inv
        return {k: 0.5 * (inverse(self.goal[k]) - inverse(S)) for k, S in noise.blocks.items()}


@pytest.mark.parametrize("oracle", ORACLES)
def test_descent_finds_the_covariances(oracle):
    if oracle == "semidefinite":
        pytest.importorskip("cvxpy")
    noise = shipped_noise()
    objective = Divergence(noise)
    found = frank_wolfe(objective, noise, oracle, iterations=40, tolerance=1e-2)
    assert found.converged and found.after < found.before
    assert found.after - 1.0 < 0.01 * (found.before - 1.0) + 1e-2
    steps = [i.loss for i in found.history]
    assert all(b <= a for a, b in zip(steps, steps[1:]))
    for k, S in found.noise.blocks.items():
        assert np.all(np.linalg.eigvalsh(S) > 0.0)
        ratio = np.diag(S) / np.diag(objective.goal[k])
        assert np.all((ratio > 0.7) & (ratio < 1.4)), k
