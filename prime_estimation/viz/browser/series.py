# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Time series of rows with named fields, which one thread appends to while another one reads."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np

_FIRST_CAPACITY = 256  # rows


class Series:
    """Time series in order of its stamps, as one structured array that grows.

    Args:
        fields: name, type and shape of each field, as numpy's dtype has them.
        longest_ns: how much of the past is kept; None keeps everything.
    """

    def __init__(self, fields: Sequence[tuple], longest_ns: int | None = None):
        self._rows = np.zeros(_FIRST_CAPACITY, [("stamp_ns", np.int64), *fields])
        self._begin = self._end = 0
        self._gone = 0  # rows that were in the array once, before its first one
        self._longest_ns = longest_ns
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return self._end - self._begin

    @property
    def dtype(self) -> np.dtype:
        """Fields of a row, its stamp first."""
        return self._rows.dtype

    @property
    def span_ns(self) -> tuple[int, int] | None:
        """First and last stamp; None while there is no row."""
        with self._lock:
            stamps = self._stamps()
            return (int(stamps[0]), int(stamps[-1])) if len(stamps) else None

    def append(self, stamp_ns: int, *values) -> bool:
        """Add a row; False where its stamp is not newer than the last one, and nothing is added."""
        with self._lock:
            if self._end > self._begin and stamp_ns <= self._rows["stamp_ns"][self._end - 1]:
                return False
            if self._end == len(self._rows):
                self._make_room()
            self._rows[self._end] = (stamp_ns, *values)
            self._end += 1
            self._forget(stamp_ns)
            return True

    def at(self, stamp_ns: int) -> np.void | None:
        """The last row that is not newer than a stamp; None before the first one."""
        with self._lock:
            k = int(np.searchsorted(self._stamps(), stamp_ns, side="right")) - 1
            return self._rows[self._begin + k].copy() if k >= 0 else None

    def nearest(self, stamp_ns: int) -> np.void | None:
        """The row whose stamp is the nearest; None while there is no row."""
        with self._lock:
            stamps = self._stamps()
            if not len(stamps):
                return None
            k = int(np.searchsorted(stamps, stamp_ns))
            before = k == len(stamps) or (k > 0 and stamp_ns - stamps[k - 1] < stamps[k] - stamp_ns)
            return self._rows[self._begin + k - before].copy()

    def between(self, begin_ns: int, end_ns: int, at_most: int) -> np.ndarray:
        """Rows with stamps in [begin, end], evenly thinned out to `at_most` of them.

        From call to call the same rows are taken out, so that a curve that moves does not flicker.
        """
        with self._lock:
            stamps = self._stamps()
            first = int(np.searchsorted(stamps, begin_ns, side="left"))
            after = int(np.searchsorted(stamps, end_ns, side="right"))
            stride = 1
            while after - first > at_most * stride:
                stride *= 2
            first += -(self._gone + self._begin + first) % stride
            return self._rows[self._begin + first : self._begin + after : stride].copy()

    def clear(self) -> None:
        """Forget all rows."""
        with self._lock:
            self._begin = self._end = 0

    def _stamps(self) -> np.ndarray:
        return self._rows["stamp_ns"][self._begin : self._end]

    def _make_room(self) -> None:
        kept = self._rows[self._begin : self._end]
        # rows that were forgotten leave room; only where they are few the array grows
        size = len(self._rows) if 2 * len(kept) <= len(self._rows) else 2 * len(self._rows)
        rows = np.zeros(size, self._rows.dtype)
        rows[: len(kept)] = kept
        self._gone += self._begin
        self._rows, self._begin, self._end = rows, 0, len(kept)

    def _forget(self, newest_ns: int) -> None:
        if self._longest_ns is None:
            return
        while self._rows["stamp_ns"][self._begin] < newest_ns - self._longest_ns:
            self._begin += 1
