# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Linear minimization over covariance blocks within bounds and a trust region.

A block is `S = D T D` with the shipped standard deviations D; steps are taken in
`T = C M C^T`, C the Cholesky factor of the current one, in which every direction is as long.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import ConfigError

SMALLEST = 1e-3  # eigenvalue of a relative covariance


@dataclass(frozen=True)
class CovarianceBounds:
    """Elementwise bounds of a block relative to the shipped variances.

    Attributes:
        low, high: of the diagonal.
        correlation: largest one.
        radius: of the trust region, largest change of an element of M.
    """

    low: float = 0.01
    high: float = 100.0
    correlation: float = 0.9
    radius: float = 0.5

    def box(self, d: int) -> tuple[np.ndarray, np.ndarray]:
        """Elementwise bounds (d, d) of T."""
        off = self.correlation * self.high
        low, high = np.full((d, d), -off), np.full((d, d), off)
        np.fill_diagonal(low, self.low)
        np.fill_diagonal(high, self.high)
        return low, high


def semidefinite_oracle(
    gradient: np.ndarray, current: np.ndarray, bounds: CovarianceBounds
) -> np.ndarray:
    """Minimizer (d, d) of `<gradient, T>` over bounded positive definite T near the current one.

    Solved as a semidefinite program (cvxpy, Clarabel).

    Args:
        gradient: (d, d) symmetric.
        current: (d, d) relative covariance T.
        bounds: of T, and radius of the trust region.
    """
    try:
        import cvxpy
    except ImportError as error:
        raise ConfigError(
            "calibration of noise needs cvxpy: pip install 'prime_estimation[calibrate]'", error
        ) from error
    d, C = len(current), np.linalg.cholesky(current)
    low, high = bounds.box(d)
    M = cvxpy.Variable((d, d), symmetric=True)
    T = C @ M @ C.T
    constraints = [
        M >> SMALLEST * np.eye(d),
        cvxpy.abs(M - np.eye(d)) <= bounds.radius,
        T >= low,
        T <= high,
    ]
    local = C.T @ gradient @ C
    scale = max(float(np.abs(local).max()), 1e-300)
    goal = cvxpy.Minimize(cvxpy.sum(cvxpy.multiply(local / scale, M)))
    cvxpy.Problem(goal, constraints).solve(solver=cvxpy.CLARABEL)
    if M.value is None:
        return current
    found = C @ M.value @ C.T
    return 0.5 * (found + found.T)


def cholesky_oracle(
    gradient: np.ndarray, current: np.ndarray, bounds: CovarianceBounds
) -> np.ndarray:
    """Minimizer (d, d), a Cholesky factor, of `<dL/dF, F>` over a box about the current factor.

    With `T = F F^T`, `F = C N` and N lower triangular in a box about the identity the minimum is
    at a corner: closed form. The diagonal of F stays within the roots of the bounds.
    """
    d, C = len(current), np.linalg.cholesky(current)
    slope = np.tril(2.0 * C.T @ gradient @ C)  # by N, at the identity
    N = np.eye(d) - 0.5 * bounds.radius * np.sign(slope)
    F = C @ np.tril(N)
    diagonal = np.clip(np.diag(F), np.sqrt(bounds.low), np.sqrt(bounds.high))
    return F * (diagonal / np.diag(F))
