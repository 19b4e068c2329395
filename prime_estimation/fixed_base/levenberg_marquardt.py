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
SHARED = -1  # in place of a recording's index: a parameter that all recordings have in common
LEAST = 1e-12  # relative: keeps what no row feels where it is, and rounding from turning signs


@dataclass(frozen=True)
class Free:
    """Columns of the free parameters among all, their boxes, and the recording that has them.

    Attributes:
        recording: index of the one to which a parameter belongs, or SHARED.
    """

    columns: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    recording: np.ndarray

    def in_recording(self, k: int) -> np.ndarray:
        """Which of them recording k has."""
        return (self.recording == SHARED) | (self.recording == k)

    def put(self, values: np.ndarray, free: np.ndarray) -> np.ndarray:
        """All parameters (recordings, np) with the free ones at new values."""
        out = values.copy()
        for k, row in enumerate(out):
            mine = self.in_recording(k)
            row[self.columns[mine]] = free[mine]
        return out

    def take(self, values: np.ndarray) -> np.ndarray:
        """The free ones of all parameters (recordings, np)."""
        return values[np.maximum(self.recording, 0), self.columns]


@dataclass(frozen=True)
class Solution:
    """Minimum found: all parameters, trajectories, costs by iteration (first: at the start).

    Attributes:
        values: (recordings, np); rows differ in what each recording has for itself.
    """

    values: np.ndarray
    trajectories: list[np.ndarray]
    costs: list[float]
    converged: bool

    @property
    def iterations(self) -> int:
        """Steps taken, refused ones included."""
        return len(self.costs) - 1


class Linearized:
    """Normal equations of recording k; Schur complement in the free parameters."""

    def __init__(
        self, k: int, segment: Segment, values: np.ndarray, trajectory: np.ndarray, free: Free
    ):
        rows = segment.rows(values[k], trajectory)
        self.rows, self.P = rows, rows.by_parameters[:, free.columns] * free.in_recording(k)
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


def linearized(
    segments: Sequence[Segment], values: np.ndarray, trajectories: Sequence[np.ndarray], free: Free
) -> list[Linearized]:
    """Normal equations of each recording."""
    each = enumerate(zip(segments, trajectories))
    return [Linearized(k, segment, values, x, free) for k, (segment, x) in each]


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
    x = list(trajectories)
    values = free.put(values, np.clip(free.take(values), free.lower, free.upper))
    parts = linearized(segments, values, x, free)
    costs, damping, growth = [sum(p.cost for p in parts)], FIRST_DAMPING, 2.0
    while len(costs) <= max_iterations:
        dp = _parameter_step(parts, values, free, damping)
        steps = [p.trajectory_step(dp) for p in parts]
        promise = costs[-1] - sum(p.promised(d, dp) for p, d in zip(parts, steps))
        if promise <= TOLERANCE * costs[-1] or damping > LARGEST_DAMPING:
            return Solution(values, x, costs, damping <= LARGEST_DAMPING)
        trial = free.put(values, np.clip(free.take(values) + dp, free.lower, free.upper))
        moved = [t + d for t, d in zip(x, steps)]
        cost = sum(s.cost(v, t) for s, v, t in zip(segments, trial, moved))
        gain = (costs[-1] - cost) / promise
        if not gain > 0.0:  # also where the cost is no number
            damping, growth = damping * growth, 2.0 * growth
            costs.append(costs[-1])
            continue
        values, x = trial, moved
        damping, growth = damping * max(1.0 / 3.0, 1.0 - (2.0 * gain - 1.0) ** 3), 2.0
        parts = linearized(segments, values, x, free)
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
    now = free.take(values)
    box = ((free.lower - now) / scale, (free.upper - now) / scale)
    return scale * lsq_linear(roots[:, None] * axes.T, target, bounds=box, method="bvls").x


def _lower_band(matrix: sparse.csr_matrix) -> np.ndarray:
    """Lower diagonals of a symmetric matrix, as scipy.linalg wants them."""
    lower = sparse.coo_matrix(sparse.tril(matrix))
    band = np.zeros((int(np.max(lower.row - lower.col)) + 1, matrix.shape[0]))
    band[lower.row - lower.col, lower.col] = lower.data
    return band
