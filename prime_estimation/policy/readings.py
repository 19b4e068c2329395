# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Readings that are handed to an observer: which came, and what keeps them from being used."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping

from ..alignment.joint_readings import GLITCH
from ..recordings.plausibility import Plausibility
from ..recordings.refusals import OF_ANY_STREAM
from ..robot import Robot
from ..types import ImuSample, JointSample, Sample

KINDS = {JointSample: "joints", ImuSample: "imu"}
# ns between two stamps: no sensor of a robot is read 20 000 times a second, but 50 Hz in
# microseconds seems so
NEAREST_NS = 50_000
SLOWEST_NS = 50_000_000  # ns between readings that nodes bridge (20 Hz)
FEWEST = 20  # readings that tell their rate
_STREAMS = {"joints": "joint_", "imu": "imu_"}  # how the reasons of a refusal begin
_REASONS = {
    **OF_ANY_STREAM,
    "out_of_range": "beyond what any sensor reads",
    "late": "with a stamp before the newest",
    "jump": "with a stamp far ahead",
    "held": "the values before with a new stamp",
}


class Readings:
    """Counts what is handed in of joints and IMU, and says why nothing comes of it.

    Args:
        robot: whose readings these are.
    """

    def __init__(self, robot: Robot):
        self.plausibility = Plausibility(robot)
        self._handed: Counter[str] = Counter()
        self._used: Counter[str] = Counter()
        self._intervals: dict[str, deque[int]] = {n: deque(maxlen=FEWEST) for n in _STREAMS}
        self._arrivals: deque[int] = deque(maxlen=FEWEST + 1)
        self._last_ns: dict[str, int] = {}
        self._others: Counter[str] = Counter()  # of the other stream, since the last reading

    def arrived(self, arrival_ns: int) -> None:
        """Note when a raw message arrived, which is what its stamps are made of."""
        self._arrivals.append(arrival_ns)

    def take(self, sample: Sample, used: bool) -> None:
        """Note a reading, and whether it entered its stream."""
        if (name := KINDS.get(type(sample))) is None:
            return
        self.plausibility.take(sample)
        self._handed[name] += 1
        self._used[name] += used
        if name in self._last_ns:
            self._intervals[name].append(abs(sample.stamp_ns - self._last_ns[name]))
        self._last_ns[name] = sample.stamp_ns
        self._others.update(list(_STREAMS))
        self._others[name] = 0

    def trouble(self, counts: Mapping[str, int]) -> str:
        """Why there can be no estimate of these readings; empty when nothing is seen.

        Args:
            counts: what was refused, by reason.
        """
        told = self._units() or "; ".join(self.plausibility.doubts)
        silent = max(self._others.values(), default=0) > FEWEST  # which is no wrong clock
        apart = "" if silent else self.plausibility.apart
        return told or self._refused(counts) or self._slow() or apart

    def refusals(self, name: str, counts: Mapping[str, int]) -> str:
        """How many readings of a stream were refused, and why; empty where none was."""
        prefix, told = _STREAMS[name], []
        for reason, number in dict(counts).items():
            kind = reason.removeprefix(prefix)
            if reason.startswith(prefix) and kind in _REASONS:
                told.append((number, _REASONS[kind]))
            elif reason.startswith(GLITCH) and name == "joints":
                told.append((number, f"{reason.removeprefix(GLITCH)} jumps"))
        number = sum(n for n, _ in told)
        why = ", ".join(text for _, text in sorted(told, reverse=True)[:3])
        return f"{number} of {self._handed[name]} readings refused: {why}" if told else ""

    def _units(self) -> str:
        """That stamps, or times of arrival, are no nanoseconds."""
        arrivals = self._arrivals
        if len(arrivals) > FEWEST and abs(arrivals[-1] - arrivals[0]) < FEWEST * NEAREST_NS:
            far = f"messages arrive every {abs(arrivals[-1] - arrivals[0]) // FEWEST} ns"
            return f"{far}: is arrival_ns in s, ms or us instead of ns?"
        for name, intervals in self._intervals.items():
            if len(intervals) == FEWEST and max(intervals) < NEAREST_NS:
                far = f"stamps of the {name} are {sorted(intervals)[FEWEST // 2]} ns apart"
                return f"{far}: are they in s, ms or us instead of ns?"
        return ""

    def _refused(self, counts: Mapping[str, int]) -> str:
        """That most readings of a stream are refused."""
        for name, handed in self._handed.items():
            if handed >= FEWEST and 2 * self._used[name] < handed:
                return f"{name}: {self.refusals(name, counts) or 'their stamps jump'}"
        return ""

    def _slow(self) -> str:
        for name, intervals in self._intervals.items():
            if len(intervals) == FEWEST and min(intervals) > SLOWEST_NS:
                every = 1e-6 * sorted(intervals)[FEWEST // 2]
                most = 1e-6 * SLOWEST_NS
                return f"{name} come every {every:.0f} ms: every {most:.0f} ms (20 Hz) are needed"
        return ""
