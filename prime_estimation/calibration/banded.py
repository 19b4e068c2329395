# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Bordered block-tridiagonal normal equations, solved by one banded Cholesky factorization."""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dpbtrf, dtbtrs

from ..errors import DataError


class NormalEquations:
    """`H` of n nodes of width w, border `B` to k parameters, corner `C`; sums of squares.

    Attributes:
        rows: (n, w, 2 w) of `H`, columns of this node and the next one laid side by side; those of
            the lower triangle count for nothing.
        border: (n, w, k). corner: (k, k).
        gradient: (n, w). parameter_gradient: (k,).
        cost: half the weighted sum of squares.
    """

    def __init__(self, n: int, w: int, k: int):
        self.rows = np.zeros((n, w, 2 * w))
        self.border, self.corner = np.zeros((n, w, k)), np.zeros((k, k))
        self.gradient, self.parameter_gradient = np.zeros((n, w)), np.zeros(k)
        self.cost = 0.0

    def add(
        self, node: np.ndarray, rows: np.ndarray, columns: np.ndarray, block: np.ndarray
    ) -> None:
        """Add blocks (m, r, c) of `H` at columns of two nodes laid side by side.

        Args:
            node: (m,) first of the two.
            rows: (r,) increasing.
            columns: (c,) increasing; what belongs below the diagonal is left out.
            block: its values.
        """
        w = self.gradient.shape[1]
        for a, here in _runs(rows, w):
            for b, there in _runs(columns, w):
                if here.start >= w and there.start < w:
                    continue
                shift = w if here.start >= w else 0
                at = slice(here.start - shift, here.stop - shift)
                to = slice(there.start - shift, there.stop - shift)
                add_at(self.rows[:, at, to], node + (shift > 0), block[:, a, b])

    def factorized(self) -> Factorization:
        """Factorization; DataError where the matrix is not positive definite."""
        return Factorization(self)


def node_covariances(equations: NormalEquations) -> np.ndarray:
    """(n, w, w) diagonal blocks of the inverse of `H`, the parameters held.

    Elimination from the first node to the last, `D+ = A+ - B^T D^-1 B`, and back,
    `P = D^-1 + K P+ K^T` with `K = D^-1 B`.
    """
    n, w = equations.gradient.shape
    upper = np.triu(equations.rows[:, :, :w])
    diagonal = np.einsum("nii->ni", upper)
    scale = 1.0 / np.sqrt(diagonal)
    A = (upper + np.triu(upper, 1).swapaxes(1, 2)) * scale[:, :, None] * scale[:, None, :]
    B = equations.rows[:-1, :, w:] * scale[:-1, :, None] * scale[1:, None, :]
    out, K = np.empty((n, w, w)), np.empty_like(B)
    out[0] = np.linalg.inv(A[0])
    for i in range(n - 1):
        K[i] = out[i] @ B[i]
        out[i + 1] = np.linalg.inv(A[i + 1] - B[i].T @ K[i])
    for i in reversed(range(n - 1)):
        out[i] += K[i] @ out[i + 1] @ K[i].T
    return out * scale[:, :, None] * scale[:, None, :]


def _runs(columns: np.ndarray, w: int) -> list[tuple[slice, slice]]:
    """Runs of consecutive columns that stay in one node: where they are, and which they are."""
    cuts = np.flatnonzero((np.diff(columns) != 1) | (columns[1:] == w)) + 1
    ends = [0, *cuts.tolist(), len(columns)]
    return [
        (slice(a, b), slice(int(columns[a]), int(columns[a]) + b - a))
        for a, b in zip(ends, ends[1:])
    ]


def add_at(to: np.ndarray, node: np.ndarray, values: np.ndarray) -> None:
    """Add values (m, ...) to the rows of nodes, of which several may be the same."""
    first, count = int(node[0]), len(node)
    if np.array_equal(node, np.arange(first, first + count)):
        to[first : first + count] += values
    else:
        np.add.at(to, node, values)


class Factorization:
    """Cholesky factor of the nodes and Schur complement of the parameters.

    Raises:
        DataError: the matrix is not positive definite: the data do not determine the states.
    """

    def __init__(self, equations: NormalEquations):
        n, w = equations.gradient.shape
        band = np.zeros((n, w, 2 * w))  # by columns, as LAPACK stores the lower triangle
        for b in range(w):
            band[:, b, : 2 * w - b] = equations.rows[:, b, b:]
        self._factor, failed = dpbtrf(band.reshape(n * w, 2 * w).T, lower=1, overwrite_ab=1)
        if failed:
            raise DataError("the recording does not determine the motion", failed)
        self._shape = (n, w)
        # the border's forward half is enough: the other half goes with the solution's own
        self._half = self._forward(equations.border.reshape(n * w, -1))
        self.schur = equations.corner - self._half.T @ self._half
        if np.linalg.eigvalsh(self.schur).min(initial=1.0) <= 0.0:
            raise DataError("the recording does not determine the offsets")

    def _forward(self, rhs: np.ndarray) -> np.ndarray:
        """`L^-1 rhs` for the factor L of the nodes; columns (n w, .)."""
        return dtbtrs(self._factor, rhs, uplo="L")[0] if rhs.shape[1] else rhs

    def solve(self, nodes: np.ndarray, parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Solution ((n, w), (k,)) for a right-hand side of the same shapes."""
        y, p = self._forward(nodes.reshape(-1, 1)), parameters
        if len(self.schur):
            p = np.linalg.solve(self.schur, parameters - self._half.T @ y[:, 0])
            y = y - (self._half @ p)[:, None]
        return dtbtrs(self._factor, y, uplo="L", trans="T")[0].reshape(self._shape), p

    @property
    def parameter_covariance(self) -> np.ndarray:
        """(k, k) posterior covariance of the parameters."""
        return np.linalg.inv(self.schur)
