# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Stream of one sensor: checks of its stamps, a window of its samples."""

from __future__ import annotations

from collections import Counter, deque
from statistics import median

import numpy as np

from .averaging import UNSEEN_NS

CAPACITY = 8192  # rows kept of a stream that is pushed and never popped
# consecutive older samples after which a clock is believed to have gone back for good
CONFIRMATIONS = 5
UNEVEN = 1.5  # by which intervals of a regular stream differ
USUAL = 9  # newest intervals, whose median is the usual one
MEMORY_NS = 1_000_000_000  # over which changes between samples that are seldom are a mean
BACK_NS = 100_000_000  # a smaller step back is reordering on the way, not another clock


class StampGuard:
    """Decides by its stamp whether a sample is accepted.

    A stamp further ahead than `gap_ns` is held until the next sample confirms it; otherwise a
    single wrong stamp would block the stream. The next sample confirms it by following soon, or
    after an interval of the same length. A stream that is always that slow is not delayed any more.
    A stamp that is not newer is refused, unless `CONFIRMATIONS` consecutive ones show that the
    clock was set back.

    Args:
        name: of the stream, prefix of the counted reasons.
        counts: `<name>_duplicate`, `<name>_late`, `<name>_jump` are incremented here.
        gap_ns: largest step forward that needs no confirmation; None: every step.
    """

    def __init__(self, name: str, counts: Counter, gap_ns: int | None):
        self.name, self.counts, self.gap_ns = name, counts, gap_ns
        self.reset()

    def reset(self) -> None:
        """Forget all stamps; the next one is believed."""
        self.newest: int | None = None
        self.went_back = False
        self._held = None
        self._slow_ns = 0  # interval of a stream that is slow all the time
        self._older: int | None = None
        self._older_run = 0

    def shift(self, by_ns: int) -> None:
        """Move all stamps that are remembered."""
        if self.newest is not None:
            self.newest += by_ns
        if self._held is not None:
            self._held = (self._held[0] + by_ns, self._held[1])
        if self._older is not None:
            self._older += by_ns

    def admit(self, stamp_ns: int, sample) -> tuple:
        """The (stamp, sample) pairs that enter now: none, this one, or a held one and this one."""
        ahead = 1 if self.newest is None else stamp_ns - self.newest
        if ahead <= 0:
            self._refuse(stamp_ns, ahead)
            return ()
        self._older_run = 0
        held, self._held = self._held, None
        if self.newest is None or self.gap_ns is None or ahead <= self.gap_ns:
            self._drop(held)
            self.newest, self._slow_ns = stamp_ns, 0
            return ((stamp_ns, sample),)
        if ahead <= UNEVEN * self._slow_ns:
            self.newest = stamp_ns
            return ((stamp_ns, sample),)
        if held is not None and 0 < (after := stamp_ns - held[0]) <= max(
            self.gap_ns, UNEVEN * (held[0] - self.newest)
        ):
            self.newest, self._slow_ns = stamp_ns, after if after > self.gap_ns else 0
            return (held, (stamp_ns, sample))
        self._drop(held)
        self._held = (stamp_ns, sample.copy() if isinstance(sample, np.ndarray) else sample)
        return ()

    def _drop(self, held) -> None:
        if held is not None:
            self.counts[f"{self.name}_jump"] += 1

    def _refuse(self, stamp_ns: int, ahead: int) -> None:
        self.counts[f"{self.name}_{'late' if ahead else 'duplicate'}"] += 1
        if ahead > -BACK_NS:
            return
        consistent = self._older_run > 0 and 0 < stamp_ns - self._older <= (
            self.gap_ns or 10 * BACK_NS
        )
        self._older_run = self._older_run + 1 if consistent else 1
        self._older = stamp_ns
        self.went_back = self._older_run >= CONFIRMATIONS


class Stream:
    """Rows of one sensor in time order, contiguous in a preallocated array.

    Args:
        name: of the stream, prefix of the counted reasons.
        width: values of a row.
        counts: see `StampGuard`.
        gap_ns: longest interval between samples that is no gap.
        near_ns: largest step forward that needs no confirmation; None: `gap_ns`.

    Attributes:
        first, newest: stamps [ns] of the first row since the last reset and of the newest one; None
            without rows.
        since: stamp of the first row after the newest gap longer than `gap_ns`.
        changed: (width,) mean square of changes between samples that are seldom; zero where they
            are not.
    """

    def __init__(
        self, name: str, width: int, counts: Counter, gap_ns: int, near_ns: int | None = None
    ):
        self.name, self.width, self.gap_ns = name, width, gap_ns
        self.guard = StampGuard(name, counts, near_ns or gap_ns)
        self._stamps = np.zeros(2 * CAPACITY, np.int64)
        self._rows = np.zeros((2 * CAPACITY, width))
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self.guard.reset()
        self._begin = self._end = 0
        self.first: int | None = None
        self.newest: int | None = None
        self.since: int | None = None
        self._intervals: deque[int] = deque(maxlen=USUAL)
        self.changed = np.zeros(self.width)

    @property
    def usual_ns(self) -> int:
        """Median of the newest intervals between samples [ns]; 0: not known yet."""
        return median(self._intervals) if len(self._intervals) == USUAL else 0

    def is_newer(self, stamp_ns: int) -> bool:
        """Whether a stamp is behind that of the newest row."""
        return self.newest is None or stamp_ns > self.newest

    def push(self, stamp_ns: int, row: np.ndarray) -> bool:
        """Offer a row (copied).

        True when the clock of the stream turns out to have been set back for good.
        """
        for stamp, accepted in self.guard.admit(stamp_ns, row):
            self._append(stamp, accepted)
        return self.guard.went_back

    def _append(self, stamp_ns: int, row: np.ndarray) -> None:
        if self._end == len(self._stamps):
            keep = slice(max(self._begin, self._end - CAPACITY), self._end)
            count = keep.stop - keep.start
            self._stamps[:count], self._rows[:count] = self._stamps[keep], self._rows[keep]
            self._begin, self._end = 0, count
        self._stamps[self._end], self._rows[self._end] = stamp_ns, row
        self._end += 1
        if self.newest is None:
            self.first = self.since = stamp_ns
        elif stamp_ns - self.newest > self.gap_ns:
            self.since = stamp_ns
        else:
            self._follow(stamp_ns - self.newest)
        self.newest = stamp_ns

    def _follow(self, interval_ns: int) -> None:
        """Take note of the interval before the row that was appended last, and of its change."""
        self._intervals.append(interval_ns)
        if UNEVEN * self.usual_ns <= UNSEEN_NS:
            return
        before, row = self._rows[self._end - 2 : self._end]
        square = np.nan_to_num((row - before) ** 2)
        self.changed += min(interval_ns / MEMORY_NS, 1.0) * (square - self.changed)

    def shift(self, by_ns: int) -> None:
        """Move the stamps of all rows: the clock of the stream was wrong by so much."""
        self._stamps[self._begin : self._end] += by_ns
        self.guard.shift(by_ns)
        if self.newest is not None:
            self.first, self.since = self.first + by_ns, self.since + by_ns
            self.newest += by_ns

    def gap_at(self, t_ns: int) -> tuple[int, int]:
        """Length and end [ns] of the interval between samples that holds `t_ns` in its interior.

        (0, t_ns) at a sample.
        """
        if self.since <= t_ns:
            return 0, t_ns
        stamps = self._stamps[self._begin : self._end]
        i = int(np.searchsorted(stamps, t_ns))
        if i == 0 or i == len(stamps) or stamps[i] == t_ns:
            return 0, t_ns
        return int(stamps[i] - stamps[i - 1]), int(stamps[i])

    def window(
        self, t_ns: int, span_ns: int, hold: bool = False
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Stamps relative to `t_ns` [ns] and rows of [t_ns - span_ns, t_ns], without gaps.

        None when `t_ns` itself is not bracketed. `hold`: the newest row counts until the next one
        comes, for `gap_ns`. Rows before the window are given up: `t_ns` must not decrease from call
        to call.
        """
        stamps = self._stamps[self._begin : self._end]
        begin = max(int(np.searchsorted(stamps, t_ns - span_ns, "right")) - 1, 0)
        end = (
            int(np.searchsorted(stamps, t_ns, "right"))
            if hold
            else int(np.searchsorted(stamps, t_ns)) + 1
        )
        if end > len(stamps) or end == 0:
            return None
        if hold and t_ns - stamps[end - 1] > self.gap_ns:
            return None
        rows = self._rows[self._begin + begin : self._begin + end]
        self._begin += begin
        stamps = stamps[begin:end]
        wide = np.flatnonzero(stamps[1:] - stamps[:-1] > self.gap_ns)
        if len(wide):
            stamps, rows = stamps[wide[-1] + 1 :], rows[wide[-1] + 1 :]
        return None if stamps[0] > t_ns else (stamps - t_ns, rows)
