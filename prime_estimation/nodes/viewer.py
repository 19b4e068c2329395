# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Running estimator as a source of the browser view: hears its output topics, and says nothing."""

from __future__ import annotations

from ..errors import PrimeError
from ..output_messages import TOPICS
from ..robot import Robot
from ..transport.base import Qos, Transport
from ..viz.browser.track import Track

LONGEST_S = 120.0  # of what a node has said, to be looked back at


class NodeSource:
    """Source of a view that listens to one node.

    Best effort on every topic: a writer never waits for such a reader, so that a slow, stopped or
    closed view is nothing that the node could notice.

    Args:
        transport: where topics live; somebody else spins it.
        robot: whose estimator it is.
        node: its full name, such as `/prime`.
    """

    live, complete = True, False

    def __init__(self, transport: Transport, robot: Robot, node: str):
        self.name, self.track = node, Track(robot, LONGEST_S)
        self.error: PrimeError | None = None
        self._transport, self._node = transport, node

    def start(self) -> None:
        """Subscribe."""
        for name, kind in TOPICS.items():
            self._transport.subscribe(
                f"{self._node}/{name}",
                kind,
                lambda message, _arrival_ns, name=name: self._take(name, message),
                Qos.SENSOR,
            )

    def stop(self) -> None:
        """Nothing to end: the transport is closed by who opened it."""

    def _take(self, name: str, message) -> None:
        try:
            self.track.put(name, message)
        except PrimeError as error:  # another robot: no message of this node will fit
            self.error = error
