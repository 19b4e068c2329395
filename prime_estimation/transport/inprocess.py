# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Transport inside one process, without a network.

For replay, for tests, for several nodes in one program.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Mapping

from ..errors import DataError
from ..io.typestore import typestore
from .base import Callback, Names, Qos


class Bus:
    """The network of one process; the nodes on it share it.

    One message is delivered at a time, by a thread that sends. Who sends meanwhile, another thread
    or a callback, leaves its message to that thread and goes on: nobody waits for a delivery, which
    might wait for a lock that the sender holds.
    """

    def __init__(self):
        self._waiting: deque[tuple[str, object]] = deque()
        self._delivering = threading.Lock()
        self.subscribers: dict[str, list[Callable[[object], None]]] = defaultdict(list)
        self.publishers: Counter[str] = Counter()
        self.types: dict[str, str] = {}
        self.latched: dict[str, object] = {}
        self.services: dict[str, Callable] = {}

    def deliver(self, topic: str, message) -> None:
        """Have the topic's callbacks called, in this thread or in the one that is delivering."""
        self._waiting.append((topic, message))
        while self._waiting and self._delivering.acquire(blocking=False):
            try:
                while self._waiting:
                    topic, message = self._waiting.popleft()
                    for callback in list(self.subscribers[topic]):
                        callback(message)
            finally:
                self._delivering.release()


class InProcessTransport:
    """One node's place on a bus; see `Transport` for the verbs.

    Args:
        bus: shared by the nodes that shall hear each other.
        node, namespace, remap: see `Names`.
        clock: time in ns; default: the system's.
    """

    pause_s = 0.0  # callbacks run in the threads that send

    def __init__(
        self,
        bus: Bus,
        node: str,
        namespace: str = "",
        remap: Mapping[str, str] | None = None,
        clock: Callable[[], int] = time.time_ns,
    ):
        self.names = Names(node, namespace, remap)
        self.rejected: Counter[str] = Counter()
        self.now_ns = clock
        self.simulated = lambda: clock is not time.time_ns
        self._bus = bus

    def make(self, type_name: str) -> Callable:
        """The class of a message type."""
        return typestore().types[type_name]

    def full(self, name: str) -> str:
        """The name of a topic or service on the bus."""
        return self.names.full(name)

    def subscribe(
        self, topic: str, type_name: str, callback: Callback, qos: Qos = Qos.SENSOR
    ) -> None:
        """Have `callback(message, arrival_ns)` called for every message, in a sender's thread."""
        name = self._checked(topic, type_name)
        self._bus.subscribers[name].append(lambda message: callback(message, self.now_ns()))
        if qos is Qos.LATCHED and name in self._bus.latched:
            callback(self._bus.latched[name], self.now_ns())

    def publish(self, topic: str, type_name: str, qos: Qos = Qos.STATE) -> Callable[[object], None]:
        """Announce a topic; the returned function delivers a message."""
        name, bus = self._checked(topic, type_name), self._bus
        bus.publishers[name] += 1

        def send(message) -> None:
            if qos is Qos.LATCHED:
                bus.latched[name] = message
            bus.deliver(name, message)

        return send

    def _checked(self, topic: str, type_name: str) -> str:
        name = self.names.full(topic)
        known = self._bus.types.setdefault(name, type_name)
        if known != type_name:
            raise DataError(f"{name} has type {known}, not {type_name}", name)
        return name

    def serve(self, service: str, type_name: str, handler: Callable[[object], dict]) -> None:
        """Answer a service."""
        response = self.make(f"{type_name}_Response")
        self._bus.services[self.names.full(service)] = lambda request: response(**handler(request))

    def call(self, service: str, request: object) -> object:
        """Ask a service."""
        return self._bus.services[self.names.full(service)](request)

    def spin(self, stop: threading.Event) -> None:
        """Nothing to deliver: callbacks run in the threads that send."""
        stop.wait()

    def publishers(self, topic: str) -> int:
        """Number of publishers of a topic."""
        return self._bus.publishers[self.names.full(topic)]

    def announced(self, topic: str) -> int:
        """Number of publishers of a topic on the bus."""
        return self.publishers(topic)

    def topics_of(self, type_name: str) -> list[str]:
        """Topics of a type that anybody publishes."""
        return sorted(
            t
            for t, kind in self._bus.types.items()
            if kind == type_name and self._bus.publishers[t]
        )

    def lost(self, topic: str) -> int:
        """Always 0: nothing gets lost in a process."""
        return 0

    def close(self) -> None:
        """Nothing to leave."""
