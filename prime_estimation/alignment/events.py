# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Event queue: samples that are given to nodes one by one.

They have a rate of their own, and arrive some time after they were taken.
"""

from __future__ import annotations

from collections import Counter, deque

from ..types import Sample
from .stream import StampGuard

CAPACITY = 1024  # samples kept of a sensor that is pushed and never popped


class EventQueue:
    """Samples of one sensor until their node is due.

    Args:
        name: of the sensor, prefix of the counted reasons.
        counts: `<name>_ahead` and `<name>_late_node` are incremented here, and those of StampGuard.
    """

    def __init__(self, name: str, counts: Counter):
        self.name, self.counts = name, counts
        self._guard = StampGuard(name, counts, None)
        self._samples: deque[Sample] = deque(maxlen=CAPACITY)

    def reset(self) -> None:
        """Forget everything."""
        self._guard.reset()
        self._samples.clear()

    def push(self, sample: Sample, latest_ns: int | None) -> None:
        """Offer a sample; one stamped after `latest_ns` is refused as `<name>_ahead`."""
        if latest_ns is not None and sample.stamp_ns > latest_ns:
            self.counts[f"{self.name}_ahead"] += 1
            return
        self._samples.extend(s for _, s in self._guard.admit(sample.stamp_ns, sample))
        if self._guard.went_back:
            self.reset()

    def forget(self, until_ns: int) -> None:
        """Drop what was taken up to then; not counted, for it belongs to no node."""
        while self._samples and self._samples[0].stamp_ns <= until_ns:
            self._samples.popleft()

    def take(self, until_ns: int, after_ns: int) -> tuple[Sample, ...]:
        """Samples taken up to `until_ns`.

        Those not after `after_ns` are too late for any node and dropped as `<name>_late_node`.
        """
        due = []
        while self._samples and self._samples[0].stamp_ns <= until_ns:
            sample = self._samples.popleft()
            if sample.stamp_ns > after_ns:
                due.append(sample)
            else:
                self.counts[f"{self.name}_late_node"] += 1
        return tuple(due)
