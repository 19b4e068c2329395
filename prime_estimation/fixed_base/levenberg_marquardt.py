# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Levenberg-Marquardt on trajectories and parameters, parameters within boxes.

Each step eliminates the trajectories (banded Cholesky factorization, one per recording) and solves
what is left, a small least-squares problem in the parameters, within their boxes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.linalg import cho_solve_banded, cholesky_banded
from scipy.optimize import lsq_linear

from ..errors import DataError
from .segment import Segment

FIRST_DAMPING, LARGEST_DAMPING = 1e-6, 1e6  # relative to the diagonal
TOLERANCE = 1e-6  # of the cost: what another step promises
MAX_ITERATIONS = 50
LEAST = 1e-12  # relative: keeps what no row feels where it is, and rounding from turning signs


@dataclass(frozen=True)
class Free:
    """Columns of the free parameters among all, and their boxes."""

    columns: np.ndarray
    lower: np.ndarray
    upper: np.ndarray


@dataclass(frozen=True)
class Solution:
    """Minimum found: all parameters, trajectories, costs by iteration (first: at the start)."""

    values: np.ndarray
    trajectories: list[np.ndarray]
    costs: list[float]
    converged: bool

    @property
    def iterations(self) -> int:
        """Steps taken, refused ones included."""
        return len(self.costs) - 1


class Linearized:
    """Normal equations of one recording; Schur complement in the free parameters."""

    def __init__(self, segment: Segment, values: np.ndarray, trajectory: np.ndarray, free: Free):
        rows = segment.rows(values, trajectory)
        self.rows, self.P = rows, rows.by_parameters[:, free.columns]
        J = rows.by_trajectory
        self.cost = float(rows.residual @ rows.residual)
        self.band = _lower_band(sparse.csr_matrix(J.T @ J))
        self.border, self.corner = J.T @ self.P, self.P.T @ self.P
        self.gradient, self.parameter_gradient = J.T @ rows.residual, self.P.T @ rows.residual

    def eliminate(self, damping: float) -> tuple[np.ndarray, np.ndarray]:
        """What is left of matrix and gradient in the parameters.

        Raises:
            DataError: the recording does not determine the motion.
        """
        band = self.band.copy()
        band[0] *= 1.0 + damping + LEAST
        try:
            self._factor = cholesky_banded(band, lower=True, check_finite=False)
        except np.linalg.LinAlgError as error:
            raise DataError(
                "the recording does not determine the motion: measure more joints, or choose a "
                "longer step"
            ) from error
        self._solved = self.solve(self.border)
        self._step = self.solve(self.gradient)
        return (
            self.corner - self.border.T @ self._solved,
            self.parameter_gradient - self.border.T @ self._step,
        )

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Solution by the factorized matrix of the trajectory."""
        return cho_solve_banded((self._factor, True), right, check_finite=False)

    def trajectory_step(self, parameter_step: np.ndarray) -> np.ndarray:
        """Step of the trajectory that belongs to one of the parameters."""
        return -self._step - self._solved @ parameter_step

    def promised(self, step: np.ndarray, parameter_step: np.ndarray) -> float:
        """Cost of the linearization after a step."""
        left = self.rows.residual + self.rows.by_trajectory @ step + self.P @ parameter_step
        return float(left @ left)

    @property
    def projected(self) -> np.ndarray:
        """(m, np) Jacobian by the parameters with the trajectory following (after eliminate)."""
        return self.P - self.rows.by_trajectory @ self._solved


def minimize(
    segments: Sequence[Segment],
    values: np.ndarray,
    trajectories: Sequence[np.ndarray],
    free: Free,
    max_iterations: int = MAX_ITERATIONS,
) -> Solution:
    """Minimum of the sum of squares of all segments (Madsen, Nielsen, Tingleff 2004, alg. 3.16).

    The damping is relative to the diagonal. Stops where the next step promises less than TOLERANCE
    of the cost.
    """
    x, values = list(trajectories), values.copy()
    values[free.columns] = np.clip(values[free.columns], free.lower, free.upper)
    parts = [Linearized(s, values, t, free) for s, t in zip(segments, x)]
    costs, damping, growth = [sum(p.cost for p in parts)], FIRST_DAMPING, 2.0
    while len(costs) <= max_iterations:
        dp = _parameter_step(parts, values, free, damping)
        steps = [p.trajectory_step(dp) for p in parts]
        promise = costs[-1] - sum(p.promised(d, dp) for p, d in zip(parts, steps))
        if promise <= TOLERANCE * costs[-1] or damping > LARGEST_DAMPING:
            return Solution(values, x, costs, damping <= LARGEST_DAMPING)
        trial = values.copy()
        trial[free.columns] = np.clip(trial[free.columns] + dp, free.lower, free.upper)
        moved = [t + d for t, d in zip(x, steps)]
        cost = sum(s.cost(trial, t) for s, t in zip(segments, moved))
        gain = (costs[-1] - cost) / promise
        if not gain > 0.0:  # also where the cost is no number
            damping, growth = damping * growth, 2.0 * growth
            costs.append(costs[-1])
            continue
        values, x = trial, moved
        damping, growth = damping * max(1.0 / 3.0, 1.0 - (2.0 * gain - 1.0) ** 3), 2.0
        parts = [Linearized(s, values, t, free) for s, t in zip(segments, x)]
        costs.append(cost)
    return Solution(values, x, costs, False)


def _parameter_step(
    parts: list[Linearized], values: np.ndarray, free: Free, damping: float
) -> np.ndarray:
    """Step of the parameters within their boxes, trajectories eliminated."""
    left = [p.eliminate(damping) for p in parts]
    if not len(free.columns):
        return np.zeros(0)
    matrix, gradient = sum(S for S, _ in left), sum(g for _, g in left)
    diagonal = sum(np.diag(p.corner) for p in parts)
    scale = 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
    squares, axes = np.linalg.eigh(scale[:, None] * matrix * scale)
    roots = np.sqrt(np.maximum(squares, LEAST) + damping)
    target = -(axes.T @ (scale * gradient)) / roots
    now = values[free.columns]
    box = ((free.lower - now) / scale, (free.upper - now) / scale)
    return scale * lsq_linear(roots[:, None] * axes.T, target, bounds=box, method="bvls").x


def _lower_band(matrix: sparse.csr_matrix) -> np.ndarray:
    """Lower diagonals of a symmetric matrix, as scipy.linalg wants them."""
    lower = sparse.coo_matrix(sparse.tril(matrix))
    band = np.zeros((int(np.max(lower.row - lower.col)) + 1, matrix.shape[0]))
    band[lower.row - lower.col, lower.col] = lower.data
    return band
