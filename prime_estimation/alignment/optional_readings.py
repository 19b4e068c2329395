# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Readings of optional sensors: their samples, aligned as the sensors' declarations say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from ..sensors.sensor import Aligned, Alignment, Sensor, Wearer
from ..types import Sample
from .averaging import linear_weights
from .events import EventQueue
from .node_window import NEAR_NS, TRIANGLE
from .sample_checks import is_finite, vector
from .stream import Stream

HELD_NS = 100_000_000  # for which targets are in force; motors that hear none brake or go limp


class OptionalReadings:
    """Takes samples of optional sensors and hands them to nodes.

    Args:
        sensors: with samples of their own.
        wearer: the robot, as far as these must know it.
        step_ns: between nodes [ns].
        counts: reasons of refusal are incremented here.

    Attributes:
        held: streams whose samples are in force until the next one, by sensor.
    """

    def __init__(self, sensors: Sequence[Sensor], wearer: Wearer, step_ns: int, counts: Counter):
        self._sensors = {s.sample: s for s in sensors}
        self._step_ns, self._counts = step_ns, counts
        by_alignment = {a: [s for s in sensors if s.alignment is a] for a in Alignment}
        self._events = {s.name: EventQueue(s.name, counts) for s in by_alignment[Alignment.EVENTS]}
        self._wait_ns = {s.name: s.wait_ns for s in by_alignment[Alignment.EVENTS]}
        self._centred = {
            s.name: Stream(s.name, s.width(wearer), counts, NEAR_NS)
            for s in by_alignment[Alignment.CENTRED]
        }
        self.held = {
            s.name: Stream(s.name, s.width(wearer), counts, HELD_NS)
            for s in by_alignment[Alignment.HELD]
        }

    def takes(self, sample: Sample) -> bool:
        """Whether a sample is of one of the sensors."""
        return type(sample) in self._sensors

    def reset(self) -> None:
        """Forget all samples."""
        for stream in (*self._events.values(), *self._centred.values(), *self.held.values()):
            stream.reset()

    def push(self, sample: Sample, latest_ns: int | None) -> None:
        """Take a sample; that of an event sensor must not be stamped after `latest_ns`."""
        sensor = self._sensors[type(sample)]
        values = sensor.values(sample)
        if not is_finite(values, sensor.name, self._counts):
            return
        if sensor.name in self._events:
            self._events[sensor.name].push(sample, latest_ns)
            return
        stream = self._centred.get(sensor.name) or self.held[sensor.name]
        values = vector(values, stream.width, sensor.name, sample)
        before, alone = stream.newest, stream.newest is not None and stream.newest == stream.since
        if stream.push(sample.stamp_ns, values):
            stream.reset()
        elif alone and before != stream.since == stream.newest and sensor.name in self._centred:
            self._counts[f"{sensor.name}_sparse"] += 1  # the one before: far from both neighbours

    def at(self, t_ns: int, start_ns: int) -> dict:
        """Readings of the node at `t_ns` of a grid that began at `start_ns`, by sensor."""
        return {**self._due_events(t_ns, start_ns), **self._means(t_ns)}

    def _due_events(self, t_ns: int, start_ns: int) -> dict[str, tuple[Sample, ...]]:
        out = {}
        for name, queue in self._events.items():
            queue.forget(start_ns)
            due = queue.take(t_ns, t_ns - self._step_ns - self._wait_ns[name])
            if due:
                out[name] = due
        return out

    def _means(self, t_ns: int) -> dict[str, Aligned]:
        out = {}
        for name, stream in self._centred.items():
            if stream.newest is None:
                continue
            # nobody waits for it: its newest sample holds to the node
            window = stream.window(t_ns, 2 * self._step_ns, hold=stream.newest < t_ns)
            if window is not None and -window[0][0] >= 2 * self._step_ns:
                stamps, rows = window
                if stamps[-1] < 0:
                    stamps, rows = np.append(stamps, 0), np.vstack([rows, rows[-1:]])
                weights, samples = linear_weights(stamps.tobytes(), self._step_ns)
                out[name] = Aligned(weights[TRIANGLE] @ rows, float(samples[TRIANGLE]))
        return out
