# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Transport as nodes see it: its verbs, names, and qualities of service."""

from __future__ import annotations

import logging
import re
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Protocol

from ..errors import ConfigError

Callback = Callable[[object, int], None]  # message, arrival_ns
_NODE = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_NAME = re.compile(r"(~/|/)?([A-Za-z_]\w*(/[A-Za-z_]\w*)*/?)?", re.ASCII)
log = logging.getLogger("prime.transport")


class Qos(Enum):
    """Quality of service, by what a topic is for; each transport knows which settings that means.

    SENSOR: newest values matter, loss is tolerated (best effort). STATE: every value is wanted
        (reliable).
    LATCHED: who comes later gets the last value at once (reliable, transient local).
    """

    SENSOR = "sensor"
    STATE = "state"
    LATCHED = "latched"


class Transport(Protocol):
    """A node's connection to the others.

    Attributes:
        rejected: messages that could not be decoded, or that a callback stumbled over, by topic.
        pause_s: time between two deliveries [s]; at 0 a message is delivered as soon as it comes,
            for others who need not hurry it costs less to have several at once.
    """

    rejected: Counter[str]
    pause_s: float

    def make(self, type_name: str) -> Callable:
        """The class of a message type, `nav_msgs/msg/Odometry`."""

    def subscribe(
        self, topic: str, type_name: str, callback: Callback, qos: Qos = Qos.SENSOR
    ) -> None:
        """Have `callback(message, arrival_ns)` called for every message.

        Callbacks never run at the same time.
        """

    def publish(self, topic: str, type_name: str, qos: Qos = Qos.STATE) -> Callable[[object], None]:
        """Announce a topic.

        The returned function sends a message and may be called from any thread.
        """

    def serve(self, service: str, type_name: str, handler: Callable[[object], dict]) -> None:
        """Answer a service.

        The handler takes the request and returns the fields of the response.
        """

    def spin(self, stop: threading.Event) -> None:
        """Deliver messages until `stop` is set."""

    def full(self, name: str) -> str:
        """The name of a topic or service in the graph, after namespace and remapping."""

    def publishers(self, topic: str) -> int:
        """Number of publishers that a subscription to this topic hears."""

    def announced(self, topic: str) -> int:
        """Number of publishers of a topic in the graph, this node's own included."""

    def topics_of(self, type_name: str) -> list[str]:
        """Topics of a type that anybody publishes."""

    def lost(self, topic: str) -> int:
        """Messages that were lost on the way, as far as the transport can tell."""

    def now_ns(self) -> int:
        """Time of this transport's clock [ns]; simulated time where the user asked for it."""

    def simulated(self) -> bool:
        """Whether that is the time of /clock, which goes at a pace of its own."""

    def close(self) -> None:
        """Leave the network."""


def check_name(name: str) -> None:
    """ConfigError where it is no name of a topic, service, namespace or node with its namespace."""
    if not (_NAME.fullmatch(name) and name.strip("~/")):
        raise ConfigError(
            f"'{name}' is no name in a ROS graph: letters, digits, underscores between slashes, "
            "no digit first",
            name,
        )


class Names:
    """ROS name rules: `~/x` is below the node, `x` below the namespace, `/x` absolute.

    Then remapping.

    Args:
        node: name of the node, `prime`.
        namespace: empty, or `/robot1`.
        remap: new names by old ones, both written as above.
    """

    def __init__(self, node: str, namespace: str = "", remap: Mapping[str, str] | None = None):
        if not _NODE.fullmatch(node):
            raise ConfigError(
                f"'{node}' is no name for a node: letters, digits and underscores, no digit first",
                node,
            )
        if namespace.strip("/"):
            check_name(namespace)
        for name in (*(remap or {}), *(remap or {}).values()):
            check_name(name)
        self.node, self.namespace = node, "/" + namespace.strip("/") if namespace.strip("/") else ""
        self._remap = {self._expand(old): self._expand(new) for old, new in (remap or {}).items()}

    def full(self, name: str) -> str:
        """The absolute name."""
        expanded = self._expand(name)
        return self._remap.get(expanded, expanded)

    def _expand(self, name: str) -> str:
        if name.startswith("/"):
            return name
        if name.startswith("~/"):
            return f"{self.namespace}/{self.node}/{name[2:]}"
        return f"{self.namespace}/{name}"


def graph_name(transport: Transport) -> str:
    """Name of a node with its namespace, as in `robot1/prime`: no other node of a graph has it."""
    return transport.full("~/x")[1:-2]


def pace_of(transport: Transport) -> Callable[[], float] | None:
    """Clock [s] of what a node does periodically: that of /clock, None for the system's."""
    return (lambda: 1e-9 * transport.now_ns()) if transport.simulated() else None


def deliver(callback: Callable, arguments: tuple, topic: str, rejected: Counter[str]) -> None:
    """Call it.

    A message that it stumbles over is counted and named in the log, and must not end the delivery
    of all others.
    """
    try:
        callback(*arguments)
    except Exception as error:  # noqa: BLE001 - whatever a foreign message brings about
        rejected[topic] += 1
        if rejected[topic].bit_count() == 1:  # the first, the second, the fourth, ...
            log.error(
                "message %d on %s that cannot be used: %s: %s",
                rejected[topic],
                topic,
                type(error).__name__,
                error,
            )
