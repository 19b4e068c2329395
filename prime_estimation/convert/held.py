# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Sample-and-hold rows: which rows carry a new reading of a sensor, and which repeat one."""

from __future__ import annotations

import numpy as np


def fresh_rows(values: np.ndarray, times: np.ndarray, longest: float) -> np.ndarray:
    """(n,) rows in which a sensor was read anew: any of its values differs from the row before.

    A reading that stays equal for more than `longest` seconds counts again, once in that time: a
    robot that stands still has equal readings, too.

    Args:
        values: (n, k) all values of one sensor.
        times: (n,) [s].
        longest: time after which an equal reading is a reading [s].
    """
    same = (values[1:] == values[:-1]) | (np.isnan(values[1:]) & np.isnan(values[:-1]))
    changed = np.concatenate([[True], ~same.all(axis=1)])
    starts = np.flatnonzero(changed)
    held = times - times[starts][np.cumsum(changed) - 1]
    # within a long run: the first row of every further interval
    interval = np.floor(held / longest + 1e-9) if longest > 0.0 else np.zeros(len(times))
    again = np.concatenate([[False], interval[1:] > interval[:-1]])
    return changed | again
