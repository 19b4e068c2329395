# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Entities of rclpy: message classes, callback group, quality of service."""

from __future__ import annotations

import importlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import numpy as np

from ..errors import ConfigError
from .base import Qos

PATIENCE_S = 0.1  # for which the executor waits at a time
EVENTS_S = 1.0  # from one look at events to the next
LOOK_S = 0.002  # that a look takes at most


def event_callbacks() -> type:
    """Class of the callbacks for events of a subscription, of any distribution."""
    try:
        from rclpy.event_handler import SubscriptionEventCallbacks
    except ImportError:  # Humble
        from rclpy.qos_event import SubscriptionEventCallbacks
    return SubscriptionEventCallbacks


def hands_off():
    """Callback group that keeps subscriptions out of executors, and events most of the time.

    An executor that waits for events of a subscription wakes up with each of its messages, and a
    wake-up costs rclpy a good part of a millisecond under the interpreter lock. Events (lost
    messages) wait: they stay until they are taken, and one look in a second takes them all.
    """
    from rclpy.callback_groups import CallbackGroup
    from rclpy.subscription import Subscription

    class HandsOff(CallbackGroup):
        _looked = -EVENTS_S

        def can_execute(self, entity) -> bool:
            # the executor asks for all entities before it waits: that is one look
            if isinstance(entity, Subscription):
                return False
            now = time.monotonic()
            if now - self._looked > EVENTS_S:
                self._looked = now
            return now - self._looked < LOOK_S

        def beginning_execution(self, entity) -> bool:
            return not isinstance(entity, Subscription)

        def ending_execution(self, entity) -> None:
            pass

    return HandsOff()


class Maker:
    """Constructs messages of one class.

    Arrays become lists, which every distribution's setters accept.
    """

    def __init__(self, kind: type):
        self._kind = kind

    def __call__(self, **fields):
        """A message with these fields."""
        return self._kind(
            **{k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in fields.items()}
        )

    def __getattr__(self, name: str):
        return getattr(self._kind, name)  # constants


@cache
def interface(type_name: str) -> type:
    """Class of a message or service type, by its name; ConfigError where it is not installed."""
    package, kind, name = type_name.split("/")
    try:
        return getattr(importlib.import_module(f"{package}.{kind}"), name)
    except (ImportError, AttributeError) as error:
        raise ConfigError(
            f"message type {type_name} is not installed ({error}); is its workspace sourced?",
            type_name,
        ) from error


def qos_profile(intent: Qos, depth: int):
    """Quality of service of a topic; what is latched keeps its last message."""
    from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy

    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=1 if intent is Qos.LATCHED else depth,
        reliability=ReliabilityPolicy.BEST_EFFORT
        if intent is Qos.SENSOR
        else ReliabilityPolicy.RELIABLE,
        durability=DurabilityPolicy.TRANSIENT_LOCAL
        if intent is Qos.LATCHED
        else DurabilityPolicy.VOLATILE,
    )


def qos_overriding(topic: str):
    """Options by which a user may override the quality of service of a topic.

    Making its entity raises ConfigError where that cannot be one: rclpy takes any number for a
    depth, and no message comes through a queue of less than none.
    """
    from rcl_interfaces.msg import SetParametersResult
    from rclpy.qos_overriding_options import QoSOverridingOptions

    def check(profile) -> SetParametersResult:
        if profile.depth < 0:
            what = f"depth must be a number of messages, 0 or more, got {profile.depth}"
            raise ConfigError(f"qos_overrides.{topic}: {what}", profile)
        return SetParametersResult(successful=True)

    return QoSOverridingOptions.with_default_policies(callback=check)


@contextmanager
def overridable(topic: str) -> Iterator[None]:
    """Make an entity of a topic, whose quality of service the user may have overridden.

    Raises:
        ConfigError: what the user gave is none.
    """
    from rclpy.exceptions import InvalidParameterTypeException

    try:
        yield
    except (InvalidParameterTypeException, RuntimeError) as error:
        of_type = isinstance(error, InvalidParameterTypeException)
        if not of_type and "QoS override" not in str(error):
            raise
        raise ConfigError(
            f"qos_overrides.{topic}: {' '.join(str(error).split())}; reliability is reliable or "
            "best_effort, history keep_last or keep_all, depth a number",
            topic,
        ) from error
