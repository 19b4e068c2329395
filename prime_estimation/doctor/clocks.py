# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Streams that are stamped by different clocks: found before anything is compared, and moved."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .finding import FAULT, Finding
from .recording import Recording, Stream

_SENSORS = ("joint_states", "imu", "mocap/pose", "joint_commands")
_APART = 1.0  # s from stamp to arrival that streams may differ by: no transport takes longer, and
# `delays` looks as far
_STEADY = 0.2  # s of spread, beyond which stamps jump and no clock is told


def on_one_clock(recording: Recording) -> tuple[Recording, list[Finding]]:
    """The recording with streams moved to the clock of most, and what was wrong.

    What arrived together was measured together, to a second: stamps that say otherwise are of
    another clock. Where arrivals do not tell, streams that have no time in common are named.
    """
    found = []
    for name, seconds in _offsets(recording):
        recording = recording.moved(name, -seconds)
        found.append(_other_clock(name, seconds))
    return recording, [*found, *_apart(recording)]


def _offsets(recording: Recording) -> Iterator[tuple[str, float]]:
    """By how much stamps of a stream are ahead of those of most others [s]."""
    ahead = {}
    for name in _SENSORS:
        stream = recording.get(name)
        if stream is not None and len(stream) > 2:
            low, middle, high = np.percentile(stream.stamps - stream.arrivals, (10, 50, 90))
            if high - low < _STEADY:
                ahead[name] = float(middle)
    if len(ahead) < 2:
        return
    values = np.array(list(ahead.values()))
    alike = (np.abs(values[:, None] - values) < _APART).sum(axis=1)
    # of clocks with equally many streams that of the arrivals is the one that others keep
    usual = min(zip(-alike, np.abs(values), values))[2]
    yield from ((name, at - usual) for name, at in ahead.items() if abs(at - usual) >= _APART)


def _other_clock(name: str, seconds: float) -> Finding:
    side = "ahead of" if seconds > 0.0 else "behind"
    text = (
        f"{name} is stamped by another clock: its stamps are {abs(seconds):.3f} s {side} those of "
        "the other streams that arrive with it"
    )
    remedy = f"stamp all sensors by one clock, or move its stamps by {-seconds:+.3f} s"
    return Finding(f"clock.{name}", FAULT, text, {"seconds": seconds}, remedy)


def _apart(recording: Recording) -> Iterator[Finding]:
    """Streams without any time in common with the joint states."""
    joints = recording.streams["joint_states"]
    for name in ("imu", "mocap/pose"):
        other = recording.get(name)
        if other is None or _common(joints, other) >= 0.0:
            continue
        spans = (f"{s.stamps.min():.1f} to {s.stamps.max():.1f} s" for s in (joints, other))
        text = (
            f"joint_states and {name} have no time in common ({' and '.join(spans)} from the start "
            "of the recording): they are not stamped by the same clock"
        )
        remedy = "stamp all sensors by one clock"
        yield Finding(f"clock.{name}", FAULT, text, {}, remedy)


def _common(one: Stream, other: Stream) -> float:
    """Time that both cover [s]."""
    begin = max(float(one.stamps.min()), float(other.stamps.min()))
    return min(float(one.stamps.max()), float(other.stamps.max())) - begin
