# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Health of a node's inputs: what it hears and misses.

The line that answers "why is it silent?", the extra entries of the status, /diagnostics.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from ..io.to_messages import Make, header, sensor_health
from ..sensors import SENSORS
from ..sensors.sensor import Alignment
from ..transport.base import Transport, graph_name
from ..types import Activity, SensorHealth
from .diagnostics import diagnostic_status

LATE_MS, LATE_S = 100.0, 2.0  # by which estimates are late that are told of, for how long
CEASED_S = 1.0  # without an estimate although sensors talk: a start batch takes half of it
STALE_S = 0.3  # silence of a sensor after which it is called out
CLOCKS = ("joint_states", "lowstate")  # whose stamps those of the others are compared with
# by how much they may differ: for as long nodes wait for a sensor; others than these by _APART_NS
APART_NS = {s.name: s.wait_ns for s in SENSORS if s.alignment is Alignment.EVENTS}
_APART_NS = 20_000_000
_APART = 20  # messages in a row, until it is a clock and not the network
_LOST = "lost on the way"
# streams of the synchronizer, which its counters are named after
_STREAMS = {"joint_states": "joint", "joint_commands": "command"}


@dataclass
class _Stream:
    topic: str
    type: str
    required: bool
    count: int = 0
    last: float = field(default_factory=time.monotonic)  # since the start, when nothing came yet
    since: float = float("-inf")  # when it began to talk, or did again
    rate: float = 0.0
    counted: int = 0
    refused: str = ""  # why the newest message could not be used
    behind_ns: int = 0  # its stamps, against those of the joints that arrive at the same time
    apart: int = 0  # messages in a row in which that was too much
    skipped: int = 0  # messages that are missing by the sensor's own counter


class Health:
    """Watches the subscriptions of a node.

    Attributes:
        refusal: why data that do come cannot be used (wrong robot); empty when they can.
        failure: of the solver, since the last estimate.
        doubt: whether it is the robot of the model; empty when nothing speaks against it.
        rival: another node of this name; empty when there is none.

    Args:
        transport: asked for publishers and lost messages.
        robot: name of the robot. With the namespace it is the hardware's identity.
    """

    def __init__(self, transport: Transport, robot: str):
        self._transport, self._name = transport, graph_name(transport)
        self._hardware = "/".join([*self._name.split("/")[:-1], robot])
        self._streams: dict[str, _Stream] = {}
        self._period = time.monotonic()
        self._age_ns: int | None = None  # of the newest joint message when it came
        self.refusal = self.failure = self.doubt = self.rival = ""
        # newest estimate, and the one before which all have been late since; how late it was
        self._estimated, self._in_time, self._latency_ms = self._period, self._period, 0.0
        self._begun = False  # there has been an estimate

    def expect(self, role: str, topic: str, type_name: str, required: bool) -> None:
        """A sensor is subscribed to; `required`: there is no estimate without it."""
        self._streams[role] = _Stream(topic, type_name, required)

    def heard(self, role: str) -> None:
        """A usable message came."""
        stream = self._streams[role]
        now = time.monotonic()
        if not stream.count or now - stream.last > STALE_S:
            stream.since = now
        stream.count += 1
        stream.last, stream.refused = now, ""

    def stamped(self, role: str, stamp_ns: int, arrival_ns: int) -> None:
        """A message has this stamp.

        What is stamped by another clock than the joints' belongs to other nodes, or to none.
        """
        if role in CLOCKS:
            self._age_ns = arrival_ns - stamp_ns
        elif self._age_ns is not None:
            stream = self._streams[role]
            stream.behind_ns = arrival_ns - stamp_ns - self._age_ns
            stream.apart = (
                stream.apart + 1 if abs(stream.behind_ns) > APART_NS.get(role, _APART_NS) else 0
            )

    def refused(self, role: str, reason: str) -> None:
        """A message came that cannot be used."""
        self._streams[role].refused = reason

    def estimated(self, latency_ms: float) -> None:
        """An estimate came, so long after its measurement."""
        self._estimated, self._latency_ms, self._begun = time.monotonic(), latency_ms, True
        if latency_ms < LATE_MS:
            self._in_time = self._estimated

    @property
    def late(self) -> str:
        """That estimates come, and stay late; empty when they do not."""
        ceased = time.monotonic() - self._estimated > LATE_S
        if ceased or self._estimated - self._in_time <= LATE_S:
            return ""
        return (
            f"estimates are {1e-3 * self._latency_ms:.1f} s late: this computer is too slow for "
            "them, or kept busy by other programs"
        )

    @property
    def ceased(self) -> str:
        """That no estimates come any more although all sensors that they need talk; else empty."""
        needed = [stream for stream in self._streams.values() if stream.required]
        now = time.monotonic()
        talks = all(stream.count and now - stream.last <= STALE_S for stream in needed)
        since = max([self._estimated, *(stream.since for stream in needed)])
        if self.failure or not (self._begun and talks and now - since > CEASED_S):
            return ""
        return (
            f"no estimate for {now - self._estimated:.1f} s although all sensors that it needs "
            "talk: see the counts of what is refused, as of stamps that stand still, and whether "
            "this computer is kept busy"
        )

    @property
    def own_troubles(self) -> list[str]:
        """What is wrong with the estimator itself."""
        told = self.refusal, self.failure, self.ceased, self.rival, self.late
        return [text for text in told if text]

    def skipped(self, role: str, number: int) -> None:
        """So many messages are missing since the start, by the sensor's own counter."""
        self._streams[role].skipped = number

    def measure(self) -> None:
        """Compute rates over the time since the last call."""
        now = time.monotonic()
        for stream in self._streams.values():
            stream.rate = (stream.count - stream.counted) / max(now - self._period, 1e-3)
            stream.counted = stream.count
        self._period = now
        speakers = self._transport.announced("~/status")
        self.rival = (
            f"{speakers} publishers on {self._transport.full('~/status')}: another estimator of "
            "this name runs, or has just died"
            if speakers > 1
            else ""
        )

    def troubles(self) -> dict[str, str]:
        """What is wrong, by sensor.

        Empty when every required sensor talks and nobody talks twice.
        """
        out, now = {}, time.monotonic()
        for role, stream in self._streams.items():
            silence, speakers = now - stream.last, self._transport.publishers(stream.topic)
            if speakers > 1:
                out[role] = f"{speakers} publishers on {stream.topic}"
            elif silence <= STALE_S and stream.apart >= _APART:
                side = "behind" if stream.behind_ns > 0 else "ahead of"
                out[role] = (
                    f"stamped {1e-9 * abs(stream.behind_ns):.2f} s {side} the joints: are the "
                    "clocks the same?"
                )
            elif silence > STALE_S and (stream.required or stream.count):
                what = (
                    "nothing usable for"
                    if stream.refused
                    else "no data for"
                    if stream.count
                    else "nothing came in"
                )
                out[role] = f"{what} {silence:.1f} s" + (
                    f" ({stream.refused})" if stream.refused else ""
                )
        return out

    def waiting(self) -> str:
        """One line for the log: what is missing, where it is expected, what is there instead."""
        parts = self.own_troubles
        for role, trouble in self.troubles().items():
            stream = self._streams[role]
            kind = stream.type.replace("/msg/", "/")
            parts.append(f"{role}: {trouble}, expected {kind} on {stream.topic}")
            if not self._transport.publishers(stream.topic):
                ours = self._transport.full("~/x")[:-1]
                others = [
                    topic
                    for topic in self._transport.topics_of(stream.type)
                    if not topic.startswith(ours)
                ]
                parts[-1] += (
                    f", nobody publishes it; topics of that type: {', '.join(others) or 'none'}"
                )
        heard = [f"{role} {s.rate:.0f} Hz" for role, s in self._streams.items() if s.rate > 0]
        return (
            "; ".join(parts) + (f" (hearing {', '.join(heard)})" if heard else "") if parts else ""
        )

    def lost(self) -> Counter[str]:
        """Messages lost on the way, as far as somebody counts them, and those not decodable."""
        lost = {f"{role}: {_LOST}": self._lost(stream) for role, stream in self._streams.items()}
        # a copy: the thread that delivers may count meanwhile
        rejected = {f"{t}: not decodable": n for t, n in dict(self._transport.rejected).items()}
        return +Counter({**lost, **rejected})

    def _lost(self, stream: _Stream) -> int:
        return max(self._transport.lost(stream.topic), stream.skipped)

    def diagnostics(
        self, make: Make, stamp_ns: int, summary: str, values: dict[str, object], counts: Counter
    ):
        """diagnostic_msgs/DiagnosticArray: the estimator, and one entry per sensor."""
        troubles = self.troubles()
        errors = [self.refusal, self.failure, self.ceased]
        warnings = [self.rival, self.doubt, self.late]
        for role, text in troubles.items():
            (errors if self._streams[role].required else warnings).append(f"{role}: {text}")
        said = [text for text in (*errors, *warnings) if text]
        kind = make("diagnostic_msgs/msg/DiagnosticStatus")
        level = kind.ERROR if any(errors) else kind.WARN if said else kind.OK
        entries = [self._entry(make, "estimator", level, "; ".join(said) or summary, values)]
        roles = {reason: self._counted(reason) for reason in counts}
        for role, stream in self._streams.items():
            level = (
                kind.OK if role not in troubles else kind.ERROR if stream.required else kind.WARN
            )
            text = troubles.get(role, f"{stream.rate:.0f} Hz")
            mine = {reason: n for reason, n in counts.items() if roles[reason] == role}
            heard = {"topic": stream.topic, "messages": stream.count, _LOST: self._lost(stream)}
            detail = {**heard, **mine}
            entries.append(self._entry(make, role, level, text, detail))
        return make("diagnostic_msgs/msg/DiagnosticArray")(
            header=header(make, stamp_ns, ""), status=entries
        )

    def _counted(self, reason: str) -> str:
        """Role of the stream of which a reason to count tells; empty where of none."""
        if reason.endswith(_LOST):
            return ""
        names = {name: role for role in self._streams for name in (role, _STREAMS.get(role, role))}
        told = [name for name in names if reason.startswith(name)]
        return names[max(told, key=len)] if told else ""

    def standby_status(self, make: Make, stamp_ns: int, frame: str, dropped: int, overruns: int):
        """prime_estimation_msgs/EstimatorStatus while there is no estimate.

        What each sensor is up to.
        """
        troubles = self.troubles()
        listed = [role for role, stream in self._streams.items() if stream.required or stream.count]
        sensors = [
            SensorHealth(role, role not in troubles, troubles.get(role, "")) for role in listed
        ]
        sensors += [
            SensorHealth("estimator", False, text)
            for text in (self.refusal, self.failure, self.ceased, self.rival)
            if text
        ]
        unknown = float("nan")
        return make("prime_estimation_msgs/msg/EstimatorStatus")(
            header=header(make, stamp_ns, frame),
            solve_time_ms=0.0,  # rqt_plot draws nothing while one value in view is NaN
            latency_ms=0.0,
            iterations=0,
            cost=unknown,
            feasibility=unknown,
            window_nodes=0,
            overruns=overruns,
            dropped_samples=dropped,
            sensors=sensor_health(make, sensors),
            external_wrench_covariance=np.zeros(36),
            activity=int(Activity.UNKNOWN),
            base_contact=False,
        )

    def _entry(self, make: Make, part: str, level, message: str, values: dict[str, object]):
        name = f"{self._name}: {part}"
        return diagnostic_status(make, name, level, message, values, self._hardware)
