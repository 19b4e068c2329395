# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""One sensor stream in time.

Which stamps are believed, a gapless window of its samples, and exact weights of averages.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import replace
from functools import lru_cache

import numpy as np

from ..types import PoseSample

CAPACITY = 8192  # rows kept of a stream that is pushed and never popped
# consecutive older samples after which a clock is believed to have gone back for good
CONFIRMATIONS = 5
BACK_NS = 100_000_000  # a smaller step back is reordering on the way, not another clock


class StampGuard:
    """Decides from its stamp whether a sample enters.

    A stamp further ahead than `gap_ns` is held until the next sample confirms it, so that one wrong
    stamp cannot swallow the stream; a stamp that is not newer is refused, unless `CONFIRMATIONS`
    consecutive ones tell that the clock was set back.

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
        self._older: int | None = None
        self._older_run = 0

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
            self.newest = stamp_ns
            return ((stamp_ns, sample),)
        if held is not None and 0 < stamp_ns - held[0] <= self.gap_ns:
            self.newest = stamp_ns
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

    Attributes:
        first, newest: stamps [ns] of the first row since the last reset and of the newest one; None
            without rows.
        since: stamp of the first row after the newest gap longer than `gap_ns`.
    """

    def __init__(self, name: str, width: int, counts: Counter, gap_ns: int):
        self.name, self.gap_ns = name, gap_ns
        self.guard = StampGuard(name, counts, gap_ns)
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

    def push(self, stamp_ns: int, row: np.ndarray) -> bool:
        """Offer a row (copied); True when the clock of the stream turns out to have been set back for good."""
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
        self.newest = stamp_ns

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
        """Stamps relative to `t_ns` [ns] and rows that bracket [t_ns - span_ns, t_ns] without a gap, as far back as there is none.

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


class PoseQueue:
    """Motion capture poses until their node is due.

    They come at their own rate and some time after they were taken.
    """

    def __init__(self, counts: Counter):
        self.counts = counts
        self._guard = StampGuard("mocap", counts, None)
        self._poses: deque[PoseSample] = deque(maxlen=1024)

    def reset(self) -> None:
        """Forget everything."""
        self._guard.reset()
        self._poses.clear()

    def push(self, sample: PoseSample, latest_ns: int | None) -> None:
        """Offer a pose; one stamped after `latest_ns` is refused as `mocap_ahead`."""
        if latest_ns is not None and sample.stamp_ns > latest_ns:
            self.counts["mocap_ahead"] += 1
            return
        norm = float(np.linalg.norm(sample.quat_world_body))
        if abs(norm - 1.0) > 1e-9:
            sample = replace(sample, quat_world_body=np.asarray(sample.quat_world_body) / norm)
        self._poses.extend(pose for _, pose in self._guard.admit(sample.stamp_ns, sample))
        if self._guard.went_back:
            self.reset()

    def forget(self, until_ns: int) -> None:
        """Drop what was taken up to then; not counted, for it belongs to no node."""
        while self._poses and self._poses[0].stamp_ns <= until_ns:
            self._poses.popleft()

    def take(self, until_ns: int, after_ns: int) -> tuple[PoseSample, ...]:
        """Poses taken up to `until_ns`.

        Those not after `after_ns` are too late for any node and dropped as `mocap_late_node`.
        """
        due = []
        while self._poses and self._poses[0].stamp_ns <= until_ns:
            pose = self._poses.popleft()
            if pose.stamp_ns > after_ns:
                due.append(pose)
            else:
                self.counts["mocap_late_node"] += 1
        return tuple(due)


@lru_cache(maxsize=64)
def linear_weights(relative_ns: bytes, step_ns: int) -> tuple[np.ndarray, np.ndarray]:
    """Weights of samples whose piecewise linear interpolation is integrated against four kernels.

    With `x = t/step` and the node at 0: flat on [-1, 0], ramp `2 (x + 1)` on [-1, 0], triangle `1 -
    |x + 1|` on [-2, 0], and the value at 0. A hat function integrated against a kernel g is the
    second divided difference of any K with K'' = g, which is exact for any sample times; K is
    linear outside the kernel's support.

    Args:
        relative_ns: int64 stamps minus that of the node, increasing, the last at or after 0 (bytes:
            regular streams repeat them).
        step_ns: of the nodes.

    Returns:
        Weights (4, n), valid for kernels whose support begins at or after the first sample, and
        1/sum(w^2) of each (4,).
    """
    x = np.frombuffer(relative_ns, np.int64) / step_ns
    p2, p1, p0 = np.maximum(x + 2.0, 0.0), np.maximum(x + 1.0, 0.0), np.maximum(x, 0.0)
    flat = (p1**2 - p0**2) / 2.0
    ramp = (p1**3 - p0**3) / 3.0 - p0**2
    triangle = (p2**3 - 2.0 * p1**3 + p0**3) / 6.0
    slopes = np.diff(np.stack([flat, ramp, triangle, p0])) / np.diff(x)
    weights = np.zeros((4, len(x)))
    weights[:, :-1] += slopes
    weights[:, 1:] -= slopes
    weights[:, -1] += 1.0
    weights.setflags(write=False)
    return weights, 1.0 / np.sum(weights**2, axis=1)


@lru_cache(maxsize=64)
def hold_weights(relative_ns: bytes, step_ns: int) -> tuple[np.ndarray, float]:
    """Weights (n,) of samples that each hold until the next, integrated against the triangle on [-2, 0], and 1/sum(w^2)."""
    x = np.append(np.frombuffer(relative_ns, np.int64) / step_ns, 0.0)
    p2, p1 = np.maximum(x + 2.0, 0.0), np.maximum(x + 1.0, 0.0)
    weights = np.diff(p2**2 / 2.0 - p1**2)
    return weights, float(1.0 / np.sum(weights**2))


def between_samples(rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """How much a signal (n, width) changes between its samples, as a weighted mean sees it.

    `sqrt(sum w^2 dy^2)`, w that of the interval.

    What the signal does between two samples is only known to lie about them: an impact of 2 ms
    falls between samples at 500 Hz.
    """
    between = 0.5 * (weights[1:] + weights[:-1])
    return np.sqrt(between**2 @ np.diff(rows, axis=0) ** 2)
