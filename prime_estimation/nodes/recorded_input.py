# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Recorded input: an estimator node whose sensors are a recording, read as fast as it estimates.

What it says goes into the graph as always; no message of a sensor has to come through it, so every
node of the recording is estimated, with the figures that a replay without any network gives.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

from ..transport.base import Callback, Qos, Transport
from ..transport.inprocess import Bus, InProcessTransport
from .estimator import EstimatorNode
from .replay import Playback, ReplayNode
from .restamp import clock

log = logging.getLogger("prime.estimator")
LEAD_S = 1.0  # in which those who listen are found: what is sent before never reaches them
LINGER_S = 1.0  # for those who still have to take the last messages


class RecordedInput:
    """Transport of the estimator node: sensors of the recording, all else of another transport.

    Its clock is that of the recording, which goes out on /clock.

    Attributes:
        failure: why the recording could not be read to its end; None while nothing is wrong.

    Args:
        outer: where everything but the sensors' topics lives.
        bag_path: rosbag2 folder, MCAP or sqlite3 file.
        topics: sensor topics of the bag by role, where they cannot be found by type and name.
        imu_frame: of the robot's IMU; default: that of the raw messages.

    Raises:
        DataError: the recording cannot be used.
    """

    def __init__(
        self,
        outer: Transport,
        bag_path: str | Path,
        topics: Mapping[str, str] | None = None,
        imu_frame: str = "",
    ):
        self._outer, self._bus, self._now_ns = outer, Bus(), 0
        self.failure: Exception | None = None
        self._inner = InProcessTransport(self._bus, "prime", clock=self.now_ns)
        self._heard: set[str] = set()
        player = InProcessTransport(self._bus, "player", clock=self.now_ns)
        playback = Playback(rate=0.0, clock=True)
        self._player = ReplayNode(player, bag_path, playback, topics, imu_frame)
        send = outer.publish("/clock", "rosgraph_msgs/msg/Clock", Qos.STATE)
        self._inner.subscribe(
            "/clock",
            "rosgraph_msgs/msg/Clock",
            lambda message, _: send(clock(outer.make, stamp_ns_of(message))),
        )

    def __getattr__(self, name: str):
        return getattr(self._outer, name)

    def subscribe(
        self, topic: str, type_name: str, callback: Callback, qos: Qos = Qos.SENSOR
    ) -> None:
        """Sensors of the recording, other topics of the graph."""
        if qos is not Qos.SENSOR:
            self._outer.subscribe(topic, type_name, callback, qos)
            return
        self._heard.add(self._outer.full(topic))
        # under the name that the player gives it: namespace and remapping are of the graph
        self._inner.subscribe(topic, type_name, callback, qos)

    def publishers(self, topic: str) -> int:
        """One for a sensor that the recording has."""
        if topic in self._heard:
            return 1
        return self._outer.publishers(topic)

    def lost(self, topic: str) -> int:
        """None of the sensors' messages."""
        return 0 if topic in self._heard else self._outer.lost(topic)

    def now_ns(self) -> int:
        """When the message that is being read was recorded."""
        return self._now_ns

    def play(self, node: EstimatorNode, ended: Callable[[], None], stop: threading.Event) -> None:
        """Have the node estimate the recording, then call `ended`; in a thread of its own."""

        def pace(arrival_ns: int) -> None:
            node.solver.drain()
            self._now_ns = arrival_ns

        def run() -> None:
            if stop.wait(LEAD_S):
                return
            try:
                self._player.run(stop, pace)
            except Exception as error:  # noqa: BLE001 - nobody would hear of it in this thread
                self.failure = error
                log.error("the recording cannot be read any further: %s", error)
            node.solver.drain()
            if not stop.wait(LINGER_S):
                log.info("the recording has ended: %d messages", sum(self._player.sent.values()))
                ended()

        threading.Thread(target=run, name="recording", daemon=True).start()


def stamp_ns_of(message) -> int:
    """Time of a rosgraph_msgs/Clock [ns]."""
    return message.clock.sec * 1_000_000_000 + message.clock.nanosec
