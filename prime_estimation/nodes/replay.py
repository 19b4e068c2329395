# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Plays a recording into the graph.

Sensor topics under their standard names, in real time or as fast as it goes, with /clock.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..config.values import is_number
from ..errors import ConfigError, DataError
from ..io.bag import BagReader
from ..io.topics import LOWSTATE, ROLES, describe_topics, find_sensor_topics
from ..io.typestore import typestore
from ..io.unitree import ROLES_IN_LOWSTATE, LowStateReader
from ..io.unitree_commands import motor_commands
from ..recordings.topic_choice import imu_beside_lowstate, lowstate_reader
from ..transport.base import Qos, Transport
from .restamp import Converter, clock, restamp

log = logging.getLogger("prime.replay")
# of silence before a recording begins again: its end and its beginning are not to be connected
_SEAM_S = 1.0
MOST = 1e9  # of seconds, and of the rate: time stands still beside it
_CLOCK_NS = 5_000_000  # between two messages on /clock


@dataclass(frozen=True)
class Playback:
    """Settings by which a recording is played.

    Attributes:
        rate: of time; 0: as fast as the messages can be sent.
        clock: publish /clock and leave stamps as recorded (for nodes with use_sim_time); otherwise
            stamps are moved to now.
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
        for name in ("rate", "start", "duration", "wait"):
            value = getattr(self, name)
            if not (is_number(value) and 0.0 <= value < MOST):
                raise ConfigError(
                    f"{name} of a playback must not be negative, and finite (below {MOST:g}), got "
                    f"{value!r}",
                    self,
                )


class ReplayNode:
    """Publishes the sensor topics of a bag.

    What Unitree's raw `lowstate` says goes out as joint states and IMU, `lowcmd` as joint targets.

    Args:
        transport: where topics live.
        bag_path: rosbag2 folder, MCAP or sqlite3 file.
        topics: sensor topics of the bag by role, where they cannot be found by type and name.
        imu_frame: of the robot's IMU (`robot.imu_frame`); default: that of the raw messages.

    Attributes:
        sent: messages sent so far, by role.
    """

    def __init__(
        self,
        transport: Transport,
        bag_path: str | Path,
        playback: Playback,
        topics: Mapping[str, str] | None = None,
        imu_frame: str = "",
    ):
        self._bag, self._playback = BagReader(bag_path), playback
        self._said: set[str] = set()
        self._say(self._bag.notice)
        self._role_of, self._lowstate = self._sensors(topics, imu_frame)
        self._transport = transport
        if playback.start > 1e-9 * (self._bag.end_ns - self._bag.start_ns):
            raise ConfigError(
                f"{bag_path} ends before the {playback.start:g} s at which to begin", playback
            )
        # reliable: both kinds of subscriber hear it
        apart = set(self._role_of.values())
        raw = self._lowstate.family.roles if self._lowstate else ()
        self._in_raw = [r for r in raw if r not in apart]  # what no other topic gives
        roles = [r for r in ROLES if r in apart or r in self._in_raw]
        self._send = {
            r: transport.publish(ROLES[r].names[0], ROLES[r].types[0], Qos.STATE) for r in roles
        }
        self._send_clock = (
            transport.publish("/clock", "rosgraph_msgs/msg/Clock", Qos.STATE)
            if playback.clock
            else None
        )
        self._convert = {
            role: Converter(transport.make, ROLES[role].types[0]) for role in self._send
        }
        self.sent = dict.fromkeys(self._send, 0)

    def _sensors(
        self, given: Mapping[str, str] | None, imu_frame: str
    ) -> tuple[dict[str, str], LowStateReader | None]:
        """Role of each topic, and who reads the raw message where there is no other."""
        bag = self._bag
        found = find_sensor_topics(bag.topics, given)
        if not any(role in found for role in ROLES_IN_LOWSTATE):
            found.update(find_sensor_topics(bag.topics, {}, [LOWSTATE]))
        if not found:
            raise DataError(
                f"{bag.path} has no topic of a sensor; it has {describe_topics(bag.topics)}",
                bag.path,
            )
        lowstate = lowstate_reader(bag, found)
        if lowstate and "imu" not in found:
            found.update(imu_beside_lowstate(bag, lowstate.family, imu_frame))
        return {topic: role for role, topic in found.items()}, lowstate

    def run(self, stop: threading.Event, pace: Callable[[int], None] | None = None) -> None:
        """Play until the end, or until `stop` is set; `pace` is called before each message."""
        pause = self._playback.wait
        if not self._playback.rate and pace is None:
            log.warning(
                "as fast as messages can be sent: who is slower misses some. The estimator's "
                "parameter bag (replay.launch.py rate:=0) and `prime replay` estimate every node"
            )
        while not stop.wait(pause):
            self._play(stop, pace or (lambda arrival_ns: None))
            if not self._playback.loop:
                break
            pause = _SEAM_S
        self._say(self._bag.notice)
        self._say(", ".join(f"{what}: {n}" for what, n in self._bag.undecodable.items()))
        self._bag.close()

    def _play(self, stop: threading.Event, pace: Callable[[int], None]) -> None:
        p = self._playback
        first = self._bag.start_ns + round(p.start * 1e9)
        last = first + round(p.duration * 1e9) if p.duration else self._bag.end_ns
        began, shift, clocked = 0.0, 0, 0
        for topic, arrival_ns, message in self._bag.messages(self._role_of):
            if arrival_ns < first:
                continue
            if arrival_ns > last or stop.is_set():
                return
            pace(arrival_ns)
            if not began:  # now, for to open a recording takes a while
                began = time.perf_counter()
                shift = 0 if p.clock else self._transport.now_ns() - first
            if self._send_clock and arrival_ns - clocked >= _CLOCK_NS:
                self._send_clock(clock(self._transport.make, arrival_ns))
                clocked = arrival_ns
            due = began + (arrival_ns - first) * 1e-9 / p.rate if p.rate else 0.0
            while (wait := due - time.perf_counter()) > 0.0:
                if stop.wait(wait) if wait > 0.05 else time.sleep(wait):
                    return
            # faster or slower than recorded, the stamps keep the pace of the recording
            for role, part in self._parts(self._role_of[topic], message, arrival_ns):
                self._send_message(role, part, shift)

    def _parts(self, role: str, message, arrival_ns: int) -> list[tuple[str, object]]:
        if role == LOWSTATE:
            parts = list(self._lowstate.read(message, arrival_ns, self._in_raw).items())
            for reason in self._lowstate.counts:
                self._say(f"not played: {reason}")
            return parts
        if hasattr(message, "gyroscope"):  # Unitree's IMUState, which has no stamp
            return [(role, self._lowstate.secondary_imu(message, arrival_ns))]
        if hasattr(message, "motor_cmd"):  # nor has its LowCmd
            try:
                make = typestore().types.__getitem__
                return [(role, motor_commands(make, arrival_ns, message))]
            except ValueError as error:
                self._say(f"not played: {role}: {error}")
                return []
        return [(role, message)]

    def _say(self, what: str) -> None:
        """Into the log, once."""
        if what and what not in self._said:
            log.warning(what)
        self._said.add(what)

    def _send_message(self, role: str, message, shift_ns: int) -> None:
        restamp(message.header, shift_ns)
        self._send[role](self._convert[role](message))
        self.sent[role] += 1
