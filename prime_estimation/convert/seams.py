# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Seams: where a recording was cut and joined, so that stamps or the state jump."""

from __future__ import annotations

import numpy as np

from ..errors import ConfigError
from .mapping import Seams
from .tables import Table

_JOINTS = 1.0 / 3.0  # share of the joints that jump at a seam: one encoder's glitch is none
_LOST = 0.03  # time without a reading that is no cut: some samples were lost [s]
_PUSHED = 2000.0  # of joints, when feet land: between two readings rates do not tell all [rad/s^2]


def seam_rows(
    settings: Seams,
    table: Table,
    times: np.ndarray,
    fresh: np.ndarray,
    position: np.ndarray,
    velocity: np.ndarray | None,
    stamped: np.ndarray | None = None,
) -> list[int]:
    """Rows, among those with a stamp, that begin a new part.

    Args:
        settings: where they are said to be, and how they are found.
        table: the joints' file.
        times: (n,) of its rows [s].
        fresh: (n,) rows with a new reading of the joints.
        position: (n, nj) [rad].
        velocity: (n, nj) [rad/s]; None: a jump is a step unlike the one before.
        stamped: rows of the file that have a stamp, n of them; None: all.

    Raises:
        ConfigError: a row is outside of the file, or its first one, which no part comes before.
    """
    rows = set()
    for row in settings.rows:
        number = table.scalar(row) if isinstance(row, str) else row
        last = table.first + table.rows - 1
        if not table.first < number <= last:
            raise ConfigError(
                f"seams.rows: row {number:g} of {table.path} begins no new part: give one of "
                f"{table.first + 1} to {last}, behind the first that is used",
                row,
            )
        row_of = int(number) - table.first
        rows.add(row_of if stamped is None else int(np.count_nonzero(stamped[:row_of])))
    rows &= set(range(1, len(times)))  # of a part without any stamp nothing is left
    if settings.detect:
        rows |= set(_jumps(settings, times, fresh, position, velocity))
    # one cut is seen once, though given and found a few rows apart
    distinct: list[int] = []
    for row in sorted(rows):
        if not distinct or times[row] - times[distinct[-1]] > settings.pause:
            distinct.append(row)
    return distinct


def _jumps(settings: Seams, times, fresh, position, velocity) -> list[int]:
    rows = np.flatnonzero(fresh)
    change, elapsed = np.diff(position[rows], axis=0), np.diff(times[rows])
    pauses = elapsed > settings.pause
    if velocity is None:
        # what the joints did just before goes on; they may rest at first, or move as they do next
        at_first = change[1:2] if len(change) > 1 else np.zeros_like(change[:1])
        expected = [np.vstack([e, change[:-1]]) for e in (np.zeros_like(at_first), at_first)]
    else:
        rate = 0.5 * (velocity[rows][1:] + velocity[rows][:-1])
        # by the stamps, and by the time that the joints themselves tell: rows may lie closer than
        # their readings
        own = (change * rate).sum(axis=1) / np.maximum((rate**2).sum(axis=1), 1e-6)
        own = np.clip(own, 0.0, np.maximum(5.0 * elapsed, _LOST))
        expected = [rate * elapsed[:, None], rate * own[:, None]]
    # there and back within the usual interval between two readings
    usual = float(np.median(elapsed)) if len(elapsed) else 0.0
    least = settings.jump + 0.125 * _PUSHED * usual**2
    jumped = np.logical_and.reduce([np.abs(change - e) > least for e in expected])
    steps = jumped.mean(axis=1) >= _JOINTS
    return rows[1:][pauses | steps].tolist()


def with_gaps(times: np.ndarray, seams: np.ndarray, gap: float) -> np.ndarray:
    """Seconds (n,) with `gap` added at every seam (m,) [s], and that much again at the next."""
    return times + gap * np.searchsorted(seams, times, side="right")
