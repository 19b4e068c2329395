# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Rates, jitter, gaps, repeated stamps and held samples of every stream."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..case import Case, Verdict
from ..finding import FACT, FAULT, HINT, Finding
from ..recording import Recording, Stream

_SLOWEST = {"joint_states": 100.0, "imu": 100.0}  # Hz, below which estimation suffers
_GAP = 4.0  # usual intervals that make a gap
_LONG = 0.02  # s, beyond which the estimator does not interpolate
_WRONG = 0.001  # share of stamps that may repeat or go back
_HELD = 0.05  # share of samples that may repeat the one before
_JITTER = 0.25  # of the usual interval
_LATE = 0.05  # s from stamp to arrival
_SENSORS = ("joint_states", "imu", "mocap/pose")
_ABSENT = 1.0  # s in which one of them is not there
_STEP = 0.1  # s by which stamps, against their arrivals, step and stay: what stalls comes back
_STAYS = 1.0  # s before and after
_FEWEST = 10  # messages there


def examine(case: Case) -> Verdict:
    """Clocks of all streams."""
    found = list(_uncovered(case.recording))
    for name, stream in case.recording.streams.items():
        if len(stream) > 2:
            told = list(_stream(name, stream))
            found += told
            if any(finding.severity == FAULT for finding in told):
                case = case.without(name)
    return case, found


def _uncovered(recording: Recording) -> Iterator[Finding]:
    """Sensors that begin later, or end earlier, than the others."""
    spans = {
        name: stream.arrivals[[0, -1]]
        for name, stream in recording.streams.items()
        if name in _SENSORS
    }
    first, last = min(b for b, _ in spans.values()), max(e for _, e in spans.values())
    for name, (begin, end) in spans.items():
        if max(begin - first, last - end) > _ABSENT:
            text = f"{name}: there is none before {begin:.1f} s and after {end:.1f} s"
            facts = {"begin": begin, "end": end, "of": [first, last]}
            yield Finding(
                f"timing.{name}.part",
                HINT,
                f"{text}, other sensors are read from {first:.1f} to {last:.1f} s",
                facts,
            )


def _stream(name: str, stream: Stream) -> Iterator[Finding]:
    about = f"timing.{name}"
    if np.diff(stream.stamps).max() <= 0.0:
        yield Finding(about, FAULT, f"{name}: its stamps never go on", {"samples": len(stream)})
        return
    facts = _facts(stream)
    text = f"{name}: {facts['rate_hz']:.1f} Hz, stamps jitter by {1e3 * facts['jitter_s']:.2f} ms"
    arrives = f", arrives {1e3 * facts['arrival_delay_s']:.1f} ms after its stamp"
    yield Finding(about, FACT, text + (arrives if facts["arrival_spread_s"] > 0.0 else ""), facts)
    if facts["wrong_stamps"] > _WRONG:
        share = 100 * facts["wrong_stamps"]
        yield Finding(about, FAULT, f"{name}: {share:.1f} % of the stamps repeat or go back", facts)
    yield from _steps(name, stream)
    if facts["held_share"] > _HELD and name not in ("contacts", "foot_force"):
        yield Finding(
            f"{about}.held",
            HINT,
            f"{name}: {100 * facts['held_share']:.0f} % of the samples repeat the one before: they "
            "are held, and count as new readings",
            facts,
            "leave held samples out (prime convert does)",
        )
    if facts["gaps"]:
        longest = f"the longest of {1e3 * facts['longest_gap_s']:.0f} ms"
        yield Finding(f"{about}.gaps", HINT, f"{name}: {facts['gaps']} gaps, {longest}", facts)
    if facts["jitter_s"] > _JITTER * facts["interval_s"]:
        yield Finding(
            f"{about}.jitter",
            HINT,
            f"{name}: stamps jitter by {1e3 * facts['jitter_s']:.1f} ms at intervals of "
            f"{1e3 * facts['interval_s']:.1f} ms",
            facts,
            "stamp with the sensor's clock, not with the arrival (a mapping has time.arrivals)",
        )
    yield from _rates(name, facts)


def _steps(name: str, stream: Stream) -> Iterator[Finding]:
    """Clock that was set by less than `clocks` looks for: time lags behind, or runs twice."""
    arrivals, ahead = stream.arrivals, stream.stamps - stream.arrivals
    steps = []
    for k in np.flatnonzero(np.abs(np.diff(ahead)) > _STEP) + 1:
        before = ahead[np.searchsorted(arrivals, arrivals[k] - _STAYS) : k]
        after = ahead[k : np.searchsorted(arrivals, arrivals[k] + _STAYS)]
        spread = max(np.ptp(np.percentile(part, (10, 90))) for part in (before, after))
        seconds = float(np.median(after) - np.median(before))
        if abs(seconds) > _STEP > spread and min(len(before), len(after)) >= _FEWEST:
            steps.append(seconds)
    if steps:
        largest = max(steps, key=abs)
        yield Finding(
            f"timing.{name}.step",
            FAULT,
            f"{name}: stamps step by {largest:+.3f} s against their arrivals, and stay so: a clock "
            "that was set while it was recorded",
            {"steps": steps},
            "let clocks be set before a recording, and slewed during it (NTP, PTP)",
        )


def _facts(stream: Stream) -> dict:
    steps = np.diff(stream.stamps)
    forward = steps[steps > 0.0]
    usual = float(np.median(forward))
    gaps = forward[forward > max(_GAP * usual, _LONG)]
    late = stream.arrivals - stream.stamps
    return {
        "rate_hz": len(forward) / max(float(forward.sum()), 1e-9),
        "interval_s": usual,
        "jitter_s": float(np.median(np.abs(forward - usual))) * 1.4826,
        "gaps": len(gaps),
        "longest_gap_s": float(gaps.max()) if len(gaps) else 0.0,
        "arrival_delay_s": float(np.median(late)),
        "arrival_spread_s": float(np.percentile(late, 95) - np.percentile(late, 5)),
        "held_share": _held(stream),
        "wrong_stamps": float((steps <= 0.0).mean()),
    }


def _rates(name: str, facts: dict) -> Iterator[Finding]:
    if facts["rate_hz"] < _SLOWEST.get(name, 0.0):
        yield Finding(
            f"timing.{name}.slow",
            HINT,
            f"{name}: {facts['rate_hz']:.0f} Hz is little, {_SLOWEST[name]:.0f} Hz and more do",
            facts,
        )
    if facts["arrival_delay_s"] > _LATE:
        yield Finding(
            f"timing.{name}.late",
            HINT,
            f"{name}: arrives {1e3 * facts['arrival_delay_s']:.0f} ms after its stamp",
            facts,
        )


def _held(stream: Stream) -> float:
    """Share of the samples that equal the one before while the stream is not still."""
    values = np.hstack(list(stream.values.values()))
    values = values[np.isfinite(values).all(axis=1)]
    if len(values) < 3:
        return 0.0
    same = (np.diff(values, axis=0) == 0.0).all(axis=1)
    # a sensor that stands still, or one that is switched off, holds nothing
    return 0.0 if same.all() else float(same.mean())
