# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Inertia keeper: what an estimator has learned outlives it.

A latched message is gone with the process that latched it. The keeper latches the newest valid one
beside the estimator, from where an estimator that is started anew takes it up.
"""

from __future__ import annotations

from ..transport.base import Qos, Transport
from .inertia_listener import TOPIC, TYPE

KEPT, KEPT_JOINTS = "kept_inertia", "kept_joint_parameters"  # below the estimator's name
JOINTS, JOINTS_TYPE = "prime/joint_parameters", "prime_estimation_msgs/msg/JointParameters"


class InertiaKeeperNode:
    """Keeps the newest inertia that is valid, and joint parameters, latched.

    In `prime/inertial_parameters`, `prime/joint_parameters`, out `prime/kept_inertia`,
    `prime/kept_joint_parameters`.

    Args:
        transport: where topics live.
    """

    def __init__(self, transport: Transport):
        self._send = transport.publish(f"prime/{KEPT}", TYPE, Qos.LATCHED)
        send_joints = transport.publish(f"prime/{KEPT_JOINTS}", JOINTS_TYPE, Qos.LATCHED)
        transport.subscribe(TOPIC, TYPE, self._on_message, Qos.LATCHED)
        transport.subscribe(JOINTS, JOINTS_TYPE, lambda m, _: send_joints(m), Qos.LATCHED)

    def start(self) -> None:
        """Nothing to begin: it acts on messages."""

    def stop(self) -> None:
        """Nothing to end."""

    def _on_message(self, message, _arrival_ns: int) -> None:
        if message.valid:
            self._send(message)
