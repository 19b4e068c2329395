# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Rows of the residuals by sensor, and how well a window fits its data."""

from __future__ import annotations

import numpy as np

from .window import Window

LOST_RATIO = 25.0  # mean square of the whitened residuals of a window that explains nothing


def misfit(window: Window) -> float:
    """Mean square of the whitened residuals.

    1 is consistent, LOST_RATIO and more explains nothing.
    """
    return mean_square(*squares(window))


def mean_square(squares: np.ndarray, counts: np.ndarray) -> float:
    """Mean of the squares of all readings that are there."""
    return float(squares.sum() / max(counts.sum(), 1))


def squares(window: Window) -> tuple[np.ndarray, np.ndarray]:
    """Sum of squares over the window and their number, by row of a node's residual.

    An absent reading has the residual zero.
    """
    residuals = np.array([data.r for data in window.data])
    return (residuals**2).sum(axis=0), np.count_nonzero(residuals, axis=0)


def rows_by_sensor(window: Window) -> dict[str, np.ndarray]:
    """Row indices of a node's residual by part.

    `model` (disturbances), `encoders`, `rates`, and each residual of the sensors by its name.
    """
    rows = window.problem.measurements.rows
    named = {"model": rows["force"] + rows["contact"]}
    named |= {name: parts for name, parts in rows.items() if name not in ("force", "contact")}
    return {name: np.r_[tuple(parts)] for name, parts in named.items()}
