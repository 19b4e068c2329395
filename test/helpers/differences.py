# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Numerical derivatives on manifolds, exact enough to judge analytic ones to 1e-6."""

from __future__ import annotations

from typing import Callable

import numpy as np

STEPS = 1e-4 * 0.25 ** np.arange(6)


def directional(along: Callable[[float], np.ndarray]) -> np.ndarray:
    """Derivative at 0 of a smooth `along(h)`.

    Central differences, extrapolated to step 0 by Ridders' table.

    Contact laws change within 1e-5 m and joints within 1 rad; the table picks the step by itself,
    entry by entry, and goes no further where round-off has begun to grow (there values may agree by
    chance).
    """
    table = [[(along(h) - along(-h)) / (2.0 * h)] for h in STEPS[:1]]
    best, error = table[0][0], np.full(np.shape(table[0][0]), np.inf)
    noisy = np.zeros(np.shape(best), bool)
    for h in STEPS[1:]:
        row = [(along(h) - along(-h)) / (2.0 * h)]
        for order, coarse in enumerate(table[-1]):
            factor = 16.0 ** (order + 1)
            row.append((factor * row[order] - coarse) / (factor - 1.0))
            change = np.maximum(abs(row[-1] - row[-2]), abs(row[-1] - coarse))
            better = (change < error) & ~noisy
            best, error = np.where(better, row[-1], best), np.where(better, change, error)
        noisy |= abs(row[-1] - table[-1][-1]) >= 2.0 * error
        table.append(row)
    return best


def jacobian(at: Callable[[np.ndarray], np.ndarray], n: int) -> np.ndarray:
    """Derivative (m, n) at 0 of `at(dx)`, dx a tangent vector of size n."""
    return np.array([directional(lambda h, e=e: at(h * e)) for e in np.eye(n)]).T.reshape(-1, n)


def relative_error(value: np.ndarray, expected: np.ndarray, floor: float = 1e-12) -> float:
    """Largest difference relative to the largest expected entry."""
    return float(
        abs(value - expected).max(initial=0.0) / max(abs(expected).max(initial=0.0), floor)
    )
