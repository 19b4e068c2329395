# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Bordered block-tridiagonal normal equations, solved by one banded Cholesky factorization."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_solve_banded, cholesky_banded

from ..errors import DataError


class NormalEquations:
    """`H` of n nodes of width w, border `B` to k parameters, corner `C`; sums of squares.

    Attributes:
        diagonal: (n, w, w). below: (n - 1, w, w), rows of the next node, columns of this one.
        border: (n, w, k). corner: (k, k).
        gradient: (n, w). parameter_gradient: (k,).
        cost: half the weighted sum of squares.
    """

    def __init__(self, n: int, w: int, k: int, dtype=float):
        self.diagonal, self.below = np.zeros((n, w, w), dtype), np.zeros((n - 1, w, w), dtype)
        self.border, self.corner = np.zeros((n, w, k), dtype), np.zeros((k, k), dtype)
        self.gradient, self.parameter_gradient = np.zeros((n, w), dtype), np.zeros(k, dtype)
        self.cost = 0.0

    def factorized(self, damping: float = 0.0) -> Factorization:
        """Factorization with `damping` times the diagonal added to it."""
        return Factorization(self, damping)


class Factorization:
    """Cholesky factor of the nodes and Schur complement of the parameters.

    Raises:
        DataError: the matrix is not positive definite: the data do not determine the states.
    """

    def __init__(self, equations: NormalEquations, damping: float):
        n, w = equations.gradient.shape
        band = np.zeros((2 * w, n, w))
        for b in range(w):
            band[: w - b, :, b] = equations.diagonal[:, b:, b].T
            band[w - b : 2 * w - b, :-1, b] = equations.below[:, :, b].T
        band[0] *= 1.0 + damping
        try:
            self._factor = cholesky_banded(
                band.reshape(2 * w, n * w), overwrite_ab=True, lower=True, check_finite=False
            )
        except np.linalg.LinAlgError as error:
            raise DataError(f"the recording does not determine the motion: {error}") from error
        self._shape = (n, w)
        self._border = equations.border.reshape(n * w, -1)
        self._solved = self._nodes(self._border)
        corner = equations.corner + damping * np.diag(np.diag(equations.corner))
        self.schur = corner - self._border.T @ self._solved
        if np.linalg.eigvalsh(self.schur).min(initial=1.0) <= 0.0:
            raise DataError("the recording does not determine the offsets")

    def _nodes(self, rhs: np.ndarray) -> np.ndarray:
        return cho_solve_banded((self._factor, True), rhs, check_finite=False)

    def solve(self, nodes: np.ndarray, parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Solution ((n, w), (k,)) for a right-hand side of the same shapes."""
        x = self._nodes(nodes.reshape(-1))
        p = (
            np.linalg.solve(self.schur, parameters - self._border.T @ x)
            if len(self.schur)
            else parameters
        )
        return (x - self._solved @ p).reshape(self._shape), p

    @property
    def parameter_covariance(self) -> np.ndarray:
        """(k, k) posterior covariance of the parameters."""
        return np.linalg.inv(self.schur)
