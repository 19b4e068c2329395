# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Transport through rclpy: the same verbs on a node of a ROS 2 installation."""

from __future__ import annotations

import importlib
import threading
from collections import Counter
from collections.abc import Callable
from functools import cache

import numpy as np

from ..errors import ConfigError
from .base import Callback, Qos


class RosTransport:
    """Transport on an rclpy node; see `Transport` for the verbs.

    Names, namespace, remapping, clock and QoS overrides are rclpy's own business.

    Args:
        node: rclpy.node.Node or rclpy.lifecycle.LifecycleNode.
    """

    def __init__(self, node):
        self.rejected: Counter[str] = Counter()  # rclpy drops what it cannot decode before we see it
        self._node = node
        self._subscriptions: dict[str, object] = {}
        self._entities: list[tuple[Callable, object]] = []
        self._lost: Counter[str] = Counter()
        # one group: callbacks never run at the same time, with any executor
        from rclpy.callback_groups import MutuallyExclusiveCallbackGroup

        self._group = MutuallyExclusiveCallbackGroup()

    def make(self, type_name: str) -> Callable:
        """The class of a message type, taking numpy arrays for its arrays."""
        return _Maker(_interface(type_name))

    def subscribe(self, topic: str, type_name: str, callback: Callback, qos: Qos = Qos.SENSOR) -> None:
        """Have `callback(message, arrival_ns)` called by the executor for every message."""
        from rclpy.event_handler import SubscriptionEventCallbacks

        kind, name = _interface(type_name), self._node.resolve_topic_name(topic)
        subscription = self._node.create_subscription(
            kind,
            topic,
            lambda message: callback(message, self.now_ns()),
            _qos(qos, 256),
            callback_group=self._group,
            event_callbacks=SubscriptionEventCallbacks(message_lost=lambda event: self._count_lost(name, event)),
            qos_overriding_options=_overriding(),
        )
        self._subscriptions[name] = subscription
        self._entities.append((self._node.destroy_subscription, subscription))

    def publish(self, topic: str, type_name: str, qos: Qos = Qos.STATE) -> Callable[[object], None]:
        """Announce a topic; the returned function sends a message."""
        publisher = self._node.create_publisher(_interface(type_name), topic, _qos(qos, 10), qos_overriding_options=_overriding())
        self._entities.append((self._node.destroy_publisher, publisher))
        return publisher.publish

    def serve(self, service: str, type_name: str, handler: Callable[[object], dict]) -> None:
        """Answer a service."""

        def answer(request, response):
            for name, value in handler(request).items():
                setattr(response, name, value)
            return response

        created = self._node.create_service(_interface(type_name), service, answer, callback_group=self._group)
        self._entities.append((self._node.destroy_service, created))

    def spin(self, stop: threading.Event) -> None:
        """Deliver messages until `stop` is set or rclpy shuts down."""
        import rclpy
        from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor

        executor = SingleThreadedExecutor()
        executor.add_node(self._node)
        try:
            while rclpy.ok() and not stop.is_set():
                executor.spin_once(timeout_sec=0.1)
        except ExternalShutdownException:
            pass
        finally:
            executor.shutdown()

    def publishers(self, topic: str) -> int:
        """Number of publishers of a topic."""
        return self._node.count_publishers(topic)

    def topics_of(self, type_name: str) -> list[str]:
        """Topics of a type that anybody publishes."""
        found = self._node.get_topic_names_and_types()
        return sorted(t for t, types in found if type_name in types and self._node.count_publishers(t))

    def lost(self, topic: str) -> int:
        """Messages that the middleware reported lost."""
        return self._lost[self._node.resolve_topic_name(topic)]

    def _count_lost(self, name: str, event) -> None:
        self._lost[name] += event.total_count_change

    def now_ns(self) -> int:
        """The node's clock (use_sim_time is its parameter)."""
        return self._node.get_clock().now().nanoseconds

    def close(self) -> None:
        """Take everything back that was created through this transport; the node stays."""
        for destroy, entity in self._entities:
            destroy(entity)
        self._entities, self._subscriptions = [], {}


class _Maker:
    """Constructs messages of one class; arrays become lists, which every distribution's setters accept."""

    def __init__(self, kind: type):
        self._kind = kind

    def __call__(self, **fields):
        return self._kind(**{k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in fields.items()})

    def __getattr__(self, name: str):
        return getattr(self._kind, name)  # constants


@cache
def _interface(type_name: str) -> type:
    package, kind, name = type_name.split("/")
    try:
        return getattr(importlib.import_module(f"{package}.{kind}"), name)
    except (ImportError, AttributeError) as error:
        raise ConfigError(f"message type {type_name} is not installed ({error}); is its workspace sourced?", type_name) from error


def _qos(intent: Qos, depth: int):
    from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy

    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=1 if intent is Qos.LATCHED else depth,
        reliability=ReliabilityPolicy.BEST_EFFORT if intent is Qos.SENSOR else ReliabilityPolicy.RELIABLE,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if intent is Qos.LATCHED else DurabilityPolicy.VOLATILE,
    )


def _overriding():
    from rclpy.qos_overriding_options import QoSOverridingOptions

    return QoSOverridingOptions.with_default_policies()
