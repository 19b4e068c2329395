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
    square, count = squares(window).sum(axis=0)
    return float(square / max(count, 1))


def squares(window: Window) -> np.ndarray:
    """(nr, 2) by row of a node's residual: sum of its squares over the window, and their number.

    An absent reading has the residual zero, and does not count.
    """
    return window.solver.residual_squares()


def rows_by_sensor(window: Window) -> dict[str, np.ndarray]:
    """Row indices of a node's residual by part.

    `model` (disturbances), `encoders`, `rates`, and each residual of the sensors by its name.
    """
    rows = window.problem.measurements.rows
    named = {"model": rows["force"] + rows["contact"]}
    named |= {name: parts for name, parts in rows.items() if name not in ("force", "contact")}
    return {name: np.r_[tuple(parts)] for name, parts in named.items()}


def parts_of_rows(window: Window) -> tuple[list[str], np.ndarray]:
    """Names of `rows_by_sensor`, and members (parts + 1, nr) of each; the last one has all."""
    rows = rows_by_sensor(window)
    members = np.zeros((len(rows) + 1, sum(map(len, rows.values()))))
    for member, part in zip(members, rows.values()):
        member[part] = 1.0
    members[-1] = 1.0
    return list(rows), members
