# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Sliding median of the newest values of a signal, without sorting all of them for each."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import deque


class SlidingMedian:
    """Median of the newest values.

    Args:
        size: how many.
    """

    def __init__(self, size: int):
        self._values: deque[float] = deque(maxlen=size)
        self._sorted: list[float] = []

    def __len__(self) -> int:
        return len(self._values)

    def clear(self) -> None:
        """Forget all values."""
        self._values.clear()
        self._sorted.clear()

    def add(self, value: float) -> None:
        """Take a value (not NaN); the oldest one of as many as there may be goes."""
        if len(self._values) == self._values.maxlen:
            del self._sorted[bisect_left(self._sorted, self._values[0])]
        self._values.append(value)
        insort(self._sorted, value)

    @property
    def value(self) -> float:
        """The median; of an even number the mean of the two in the middle."""
        n = len(self._sorted)
        return 0.5 * (self._sorted[(n - 1) // 2] + self._sorted[n // 2])
