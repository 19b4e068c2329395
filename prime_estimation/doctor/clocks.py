# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Streams whose clocks differ, or were set: found before anything is compared, and put right."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from .finding import FAULT, Finding
from .recording import Recording, Stream

_SENSORS = ("joint_states", "imu", "mocap/pose", "joint_commands")
_APART = 1.0  # s from stamp to arrival that streams may differ by: no transport takes longer, and
# `delays` looks as far
_STEADY = 0.2  # s of spread, beyond which stamps jump and no clock is told
_SETTINGS = 0.01  # share of the messages: stamps that jump more often are by no clock that was set


def on_one_clock(recording: Recording) -> tuple[Recording, list[Finding]]:
    """The recording with streams moved to the clock of most, and what was wrong.

    Of a clock that was set while it was recorded one setting stays, that of most joint states.
    What arrived together was measured together, to a second: stamps that say otherwise are of
    another clock. Where arrivals do not tell, streams that have no time in common are named.
    """
    recording, found = _of_one_setting(recording)
    for name, seconds in _offsets(recording):
        recording = recording.moved(name, -seconds)
        found.append(_other_clock(name, seconds))
    return recording, [*found, *_apart(recording)]


def _of_one_setting(recording: Recording) -> tuple[Recording, list[Finding]]:
    """The recording without messages of another setting of their clock, and which these were."""
    found, streams = [], dict(recording.streams)
    begin, end = -np.inf, np.inf  # arrivals of the joint states that stay
    for name in sorted(streams, key=lambda name: name != "joint_states"):
        stream = streams[name]
        parts = _settings(stream)
        if len(parts) > 1:
            ahead = stream.stamps - stream.arrivals
            within = (begin <= stream.arrivals) & (stream.arrivals <= end)
            usual = float(np.median(ahead[max(parts, key=lambda part: within[part].sum())]))
            levels = [float(np.median(ahead[part])) for part in parts]
            others = [abs(level - usual) >= _APART for level in levels]
            stay = np.concatenate(
                [np.full(len(part), not other) for part, other in zip(parts, others)]
            )
            farthest = max((level - usual for level in levels), key=abs)
            found.append(_clock_set(name, farthest, int((~stay).sum()), len(stream)))
            streams[name] = stream.at(stay)
        if name == "joint_states":
            begin, end = streams[name].arrivals[[0, -1]]
    return replace(recording, streams=streams), found


def _settings(stream: Stream) -> list[np.ndarray]:
    """Rows of a stream between jumps of its stamps against their arrivals."""
    ahead = stream.stamps - stream.arrivals
    cuts = np.flatnonzero(np.abs(np.diff(ahead)) >= _APART) + 1
    if len(cuts) > max(2, _SETTINGS * len(stream)):
        cuts = cuts[:0]
    return np.split(np.arange(len(stream)), cuts)


def _clock_set(name: str, seconds: float, count: int, of: int) -> Finding:
    side = "ahead of" if seconds > 0.0 else "behind"
    text = (
        f"{name}: stamps of {count} of {of} messages are {abs(seconds):.3f} s {side} those of the "
        "others, which arrive before or after them: they are left out here"
    )
    remedy = "a clock that was set while it was recorded, or stamps that are missing: look at it"
    return Finding(f"clock.{name}.set", FAULT, text, {"seconds": seconds, "count": count}, remedy)


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
