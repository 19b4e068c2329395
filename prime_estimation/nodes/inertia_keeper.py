# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Inertia keeper: what an estimator has learned outlives it.

A latched message is gone with the process that latched it. The keeper latches the newest valid one
beside the estimator, from where an estimator that is started anew takes it up.
"""

from __future__ import annotations

from ..transport.base import Qos, Transport
from .inertia_listener import TOPIC, TYPE

KEPT = "kept_inertia"  # below the estimator's name


class InertiaKeeperNode:
    """In `prime/inertial_parameters`, out `prime/kept_inertia`, the newest valid one, latched.

    Args:
        transport: where topics live.
    """

    def __init__(self, transport: Transport):
        self._send = transport.publish(f"prime/{KEPT}", TYPE, Qos.LATCHED)
        transport.subscribe(TOPIC, TYPE, self._on_message, Qos.LATCHED)

    def start(self) -> None:
        """Nothing to begin: it acts on messages."""

    def stop(self) -> None:
        """Nothing to end."""

    def _on_message(self, message, _arrival_ns: int) -> None:
        if message.valid:
            self._send(message)
