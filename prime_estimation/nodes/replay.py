# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Plays a recording into the graph: sensor topics under their standard names, in real time or as fast as it goes, with /clock."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..errors import ConfigError
from ..io.bag import BagReader
from ..io.messages import stamp_ns
from ..io.topics import ROLES, find_sensor_topics
from ..transport.base import Qos, Transport

TOPICS = {"joint_states": "joint_states", "joint_commands": "joint_commands", "imu": "imu", "mocap": "mocap/pose"}
_SEAM_S = 1.0  # of silence before a recording begins again: its end and its beginning are not to be connected
_CLOCK_NS = 5_000_000  # between two messages on /clock


@dataclass(frozen=True)
class Playback:
    """How a recording is played.

    Attributes:
        rate: of time; 0: as fast as the messages can be sent.
        clock: publish /clock and leave stamps as recorded (for nodes with use_sim_time); otherwise stamps are moved to now.
        start, duration: part of the recording [s]; duration 0: to the end.
        loop: begin again at the end, after a second of silence.
        wait: seconds to give subscribers to find us.
    """

    rate: float = 1.0
    clock: bool = False
    start: float = 0.0
    duration: float = 0.0
    loop: bool = False
    wait: float = 1.0

    def __post_init__(self):
        if self.rate < 0.0 or self.start < 0.0 or self.duration < 0.0:
            raise ConfigError("rate, start and duration of a playback must not be negative", self)


class ReplayNode:
    """Publishes the sensor topics of a bag.

    Args:
        transport: where topics live.
        bag_path: rosbag2 folder, MCAP or sqlite3 file.
        topics: sensor topics of the bag by role, where they cannot be found by type and name.

    Attributes:
        sent: messages sent so far, by role.
    """

    def __init__(self, transport: Transport, bag_path: str | Path, playback: Playback, topics: Mapping[str, str] | None = None):
        self._bag, self._playback = BagReader(bag_path), playback
        self._role_of = {topic: role for role, topic in find_sensor_topics(self._bag.topics, topics).items()}
        self._transport = transport
        # reliable: both kinds of subscriber hear it
        self._send = {role: transport.publish(TOPICS[role], ROLES[role].types[0], Qos.STATE) for role in self._role_of.values()}
        self._send_clock = transport.publish("/clock", "rosgraph_msgs/msg/Clock", Qos.STATE) if playback.clock else None
        self._convert = {role: _Converter(transport.make, ROLES[role].types[0]) for role in self._send}
        self.sent = dict.fromkeys(self._send, 0)

    def run(self, stop: threading.Event) -> None:
        """Play until the end, or until `stop` is set."""
        pause = self._playback.wait
        while not stop.wait(pause):
            self._play(stop)
            if not self._playback.loop:
                break
            pause = _SEAM_S
        self._bag.close()

    def _play(self, stop: threading.Event) -> None:
        p = self._playback
        first = self._bag.start_ns + round(p.start * 1e9)
        last = first + round(p.duration * 1e9) if p.duration else self._bag.end_ns
        began, shift, clocked = 0.0, 0, 0
        for topic, arrival_ns, message in self._bag.messages(self._role_of):
            if arrival_ns < first:
                continue
            if arrival_ns > last or stop.is_set():
                return
            if not began:  # now, for to open a recording takes a while
                began, shift = time.perf_counter(), 0 if p.clock else self._transport.now_ns() - first
            if self._send_clock and arrival_ns - clocked >= _CLOCK_NS:
                self._send_clock(_clock(self._transport.make, arrival_ns))
                clocked = arrival_ns
            due = began + (arrival_ns - first) * 1e-9 / p.rate if p.rate else 0.0
            while (wait := due - time.perf_counter()) > 0.0:
                if stop.wait(wait) if wait > 0.05 else time.sleep(wait):
                    return
            # faster or slower than recorded, the stamps keep the pace of the recording
            self._send_message(self._role_of[topic], message, shift)

    def _send_message(self, role: str, message, shift_ns: int) -> None:
        _restamp(message.header, shift_ns)
        self._send[role](self._convert[role](message))
        self.sent[role] += 1


class _Converter:
    """From the bag's classes to those of a transport; nothing to do where they are of the same kind."""

    def __init__(self, make, type_name: str):
        self._make, self._type = make, type_name
        self._same = isinstance(make(type_name), type) and hasattr(make(type_name), "__msgtype__")

    def __call__(self, message):
        return message if self._same else self._copy(message)

    def _copy(self, value):
        if isinstance(value, list):
            return [self._copy(v) for v in value]
        if not hasattr(value, "__msgtype__"):
            return value
        fields = {name: self._copy(getattr(value, name)) for name in value.__dataclass_fields__ if not name.startswith("__")}
        return self._make(value.__msgtype__)(**fields)


def _restamp(header, shift_ns: int) -> None:
    if shift_ns:
        header.stamp.sec, header.stamp.nanosec = divmod(stamp_ns(header) + shift_ns, 1_000_000_000)


def _clock(make, time_ns: int):
    seconds, nanoseconds = divmod(time_ns, 1_000_000_000)
    return make("rosgraph_msgs/msg/Clock")(clock=make("builtin_interfaces/msg/Time")(sec=seconds, nanosec=nanoseconds))
