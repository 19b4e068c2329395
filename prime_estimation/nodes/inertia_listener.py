# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Inertia listener: the gate as a node.

Which shows how a controller takes over estimated inertia.
"""

from __future__ import annotations

import logging

import pinocchio as pin

from ..inertia_gate import Bounds, InertiaGate
from ..robot import Robot
from ..transport.base import Qos, Transport
from .periodic import Periodic, period_of

log = logging.getLogger("prime.inertia_listener")
TOPIC, TYPE = "prime/inertial_parameters", "prime_estimation_msgs/msg/InertialParameters"


class InertiaListenerNode(Periodic):
    """The gate as a node: keeps a robot's model up to date and says what it has applied.

    Topics: in `prime/inertial_parameters`, out `~/applied` (std_msgs/UInt64, sequence, latched).
        Service `~/freeze` (std_srvs/SetBool).
    """

    def __init__(
        self, transport: Transport, robot: Robot, bounds: Bounds = Bounds(), rate: float = 50.0
    ):
        # stands for the controller's loop, between whose solves the model may change
        super().__init__(period_of(rate), "control")
        self.model, self.gate = robot.model, InertiaGate(robot, bounds)
        self._make, self._said = transport.make, 0
        self._report = transport.publish("~/applied", "std_msgs/msg/UInt64", Qos.LATCHED)
        transport.serve("~/freeze", "std_srvs/srv/SetBool", self.gate.on_freeze)
        transport.subscribe(TOPIC, TYPE, self._on_message, Qos.LATCHED)

    def _on_message(self, message, _arrival_ns: int) -> None:
        reason = self.gate.offer(message)
        if reason and reason not in ("not valid", "old"):
            log.warning("refused inertia %d: %s", message.sequence, reason)

    def _work(self) -> None:
        self.gate.apply(self.model, self._period)
        if self.gate.applied != self._said:
            self._said = self.gate.applied
            self._report(self._make("std_msgs/msg/UInt64")(data=self._said))
            log.info(
                "applied inertia %d: total mass %.3f kg",
                self._said,
                pin.computeTotalMass(self.model),
            )
