# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Transport through rclpy: the same verbs on a node of a ROS 2 installation.

Services, parameters and timers run in rclpy's executor. Subscriptions have a wait set and a thread
of their own: an executor in Python spends about a millisecond per callback on a node with many
entities, which is too much for sensors at 500 Hz.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Callable

from .base import Callback, Qos, deliver
from .ros_entities import (
    PATIENCE_S,
    Maker,
    event_callbacks,
    hands_off,
    interface,
    overridable,
    qos_overriding,
    qos_profile,
)

log = logging.getLogger("prime.transport")
_BATCH = 256  # messages taken at once, and the history of a subscription


class RosTransport:
    """Transport on an rclpy node; see `Transport` for the verbs.

    Names, namespace, remapping, clock and QoS overrides are rclpy's own business.

    Args:
        node: rclpy.node.Node or rclpy.lifecycle.LifecycleNode.
    """

    def __init__(self, node):
        self.rejected: Counter[str] = Counter()
        self.pause_s = 0.0
        self._node, self._hands_off = node, hands_off()
        self._subscriptions: list[tuple[object, Callback]] = []
        self._entities: list[tuple[Callable, object]] = []
        self._lost: Counter[str] = Counter()
        self._skipped: Counter[str] = Counter()
        self._sequence: dict[str, int] = {}
        self._closing = threading.Event()
        self._reader: threading.Thread | None = None

    def full(self, name: str) -> str:
        """The name of a topic in the graph."""
        return self._node.resolve_topic_name(name)

    def make(self, type_name: str) -> Callable:
        """The class of a message type, taking numpy arrays for its arrays."""
        return Maker(interface(type_name))

    def subscribe(
        self, topic: str, type_name: str, callback: Callback, qos: Qos = Qos.SENSOR
    ) -> None:
        """Calls `callback(message, arrival_ns)` for every message, in one thread for all."""
        kind, name = interface(type_name), self.full(topic)
        events = event_callbacks()(message_lost=lambda event: self._count_lost(name, event))
        with overridable(name):
            subscription = self._node.create_subscription(
                kind,
                topic,
                lambda _: None,
                qos_profile(qos, _BATCH),
                callback_group=self._hands_off,
                event_callbacks=events,
                qos_overriding_options=qos_overriding(name),
            )
        self._subscriptions.append(
            (subscription, lambda *heard: deliver(callback, heard, name, self.rejected))
        )
        self._entities.append((self._node.destroy_subscription, subscription))
        if self._reader is None:
            self._reader = threading.Thread(target=self._read, name="subscriptions", daemon=True)
            self._reader.start()

    def publish(self, topic: str, type_name: str, qos: Qos = Qos.STATE) -> Callable[[object], None]:
        """Announce a topic; the returned function sends a message."""
        name = self.full(topic)
        with overridable(name):
            publisher = self._node.create_publisher(
                interface(type_name),
                topic,
                qos_profile(qos, 10),
                qos_overriding_options=qos_overriding(name),
            )
        self._entities.append((self._node.destroy_publisher, publisher))
        return publisher.publish

    def serve(self, service: str, type_name: str, handler: Callable[[object], dict]) -> None:
        """Answer a service."""

        def answer(request, response):
            for name, value in handler(request).items():
                setattr(response, name, value)
            return response

        created = self._node.create_service(interface(type_name), service, answer)
        self._entities.append((self._node.destroy_service, created))

    def spin(self, stop: threading.Event) -> None:
        """Serve until `stop` is set or rclpy shuts down."""
        import rclpy
        from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor

        executor = SingleThreadedExecutor()
        executor.add_node(self._node)
        while rclpy.ok() and not stop.is_set():
            try:
                executor.spin_once(timeout_sec=PATIENCE_S)
            except ExternalShutdownException:
                break
            except Exception as error:  # noqa: BLE001 - rclpy's, of a transition that makes no sense for instance: no reason to end
                log.error("a request could not be served: %s: %s", type(error).__name__, error)
        executor.shutdown()

    def _read(self) -> None:
        """Deliver what the subscriptions have, in the order in which it was sent."""
        while not self._closing.is_set():
            subscriptions = list(self._subscriptions)
            wait_set = self._wait_set(len(subscriptions))
            while not self._closing.is_set() and len(subscriptions) == len(self._subscriptions):
                wait_set.clear_entities()
                for subscription, _ in subscriptions:
                    wait_set.add_subscription(subscription.handle)
                wait_set.wait(100_000_000)
                ready = set(wait_set.get_ready_entities("subscription"))
                taken = [
                    entry
                    for s, callback in subscriptions
                    if s.handle.pointer in ready
                    for entry in self._take(s, callback)
                ]
                for _, callback, message in sorted(taken, key=lambda entry: entry[0]):
                    callback(message, self.now_ns())
                if self.pause_s:
                    self._closing.wait(self.pause_s)

    def _take(self, subscription, callback: Callback) -> list[tuple[int, Callback, object]]:
        """All messages that wait: time of sending, callback, message."""
        out = []
        for _ in range(_BATCH):
            try:
                found = subscription.handle.take_message(subscription.msg_type, False)
            except Exception:  # noqa: BLE001 - bytes that are no such message
                self.rejected[subscription.topic_name] += 1
                continue
            if found is None:
                break
            self._count_skipped(subscription.topic_name, found[1])
            out.append((found[1]["source_timestamp"], callback, found[0]))
        return out

    def _wait_set(self, size: int):
        from rclpy.impl.implementation_singleton import rclpy_implementation

        return rclpy_implementation.WaitSet(size, 0, 0, 0, 0, 0, self._node.context.handle)

    def publishers(self, topic: str) -> int:
        """Number of publishers of a topic."""
        return self._node.count_publishers(self.full(topic))  # rclpy itself does not remap here

    def announced(self, topic: str) -> int:
        """Number of publishers of a topic in the graph."""
        return self.publishers(topic)

    def topics_of(self, type_name: str) -> list[str]:
        """Topics of a type that anybody publishes."""
        found = self._node.get_topic_names_and_types()
        return sorted(
            t for t, types in found if type_name in types and self._node.count_publishers(t)
        )

    def lost(self, topic: str) -> int:
        """Messages that the middleware reported lost, or that their numbers tell to be missing."""
        name = self.full(topic)
        return max(self._lost[name], self._skipped[name])

    def _count_skipped(self, name: str, info: dict) -> None:
        # Fast DDS numbers the messages of a publisher; what was sent faster than it was taken is
        # not reported lost
        number = info.get("publication_sequence_number")
        if number is None:
            return
        missing = number - self._sequence.get(name, number) - 1
        if missing > 0 and self._node.count_publishers(name) == 1:
            self._skipped[name] += missing
        self._sequence[name] = number

    def _count_lost(self, name: str, event) -> None:
        self._lost[name] += event.total_count_change

    def now_ns(self) -> int:
        """The node's clock (use_sim_time is its parameter)."""
        return self._node.get_clock().now().nanoseconds

    def simulated(self) -> bool:
        """Whether the time is that of /clock (use_sim_time)."""
        return self._node.get_clock().ros_time_is_active

    def close(self) -> None:
        """Take everything back that was created through this transport; the node stays."""
        self._closing.set()
        if self._reader is not None:
            self._reader.join()
        for destroy, entity in self._entities:
            destroy(entity)
        self._entities, self._subscriptions = [], []
