# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Bridges over lost samples: joints are interpolated from positions and rates on both sides."""

from __future__ import annotations

import numpy as np

SPACING_NS = 2_000_000  # of the points of a bridge


def bridged(
    relative_ns: np.ndarray, rows: np.ndarray, nj: int, longest_ns: int
) -> tuple[np.ndarray, np.ndarray]:
    """Joint samples with points between those that are far apart.

    Between (q_0, dq_0) and (q_1, dq_1) positions follow the cubic of Hermite and rates its
    derivative; torques, and joints without rates, the straight line.

    Args:
        relative_ns: (n,) stamps [ns], increasing.
        rows: (n, 3 nj) positions [rad], rates [rad/s], torques [Nm]; NaN: not measured.
        nj: number of joints.
        longest_ns: interval between samples that needs no bridge.

    Returns:
        Stamps (m,) and rows (m, 3 nj), m >= n.
    """
    stamps, out = [relative_ns[:1]], [rows[:1]]
    for k, interval in enumerate(np.diff(relative_ns)):
        if interval > longest_ns:
            inner = np.arange(SPACING_NS, interval, SPACING_NS)
            stamps.append(relative_ns[k] + inner)
            out.append(_bridge(inner / interval, 1e-9 * interval, rows[k], rows[k + 1], nj))
        stamps.append(relative_ns[k + 1 : k + 2])
        out.append(rows[k + 1 : k + 2])
    return np.concatenate(stamps), np.concatenate(out)


def _bridge(
    share: np.ndarray, seconds: float, before: np.ndarray, after: np.ndarray, nj: int
) -> np.ndarray:
    """Rows (m, 3 nj) at shares (m,) of an interval of so many seconds."""
    s = share[:, None]
    rows = before + s * (after - before)
    rates = before[nj : 2 * nj], after[nj : 2 * nj]
    if np.isfinite(rates).all():
        moved = after[:nj] - before[:nj]
        # what the rates at both ends differ from the mean one, times the interval
        begin, end = seconds * rates[0] - moved, seconds * rates[1] - moved
        rows[:, :nj] += s * (1.0 - s) * ((1.0 - s) * begin - s * end)
        slope = (1.0 - s) * (1.0 - 3.0 * s) * begin - s * (2.0 - 3.0 * s) * end
        rows[:, nj : 2 * nj] = (moved + slope) / seconds
    return rows
