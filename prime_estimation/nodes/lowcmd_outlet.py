# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Outlet of motor commands to a Unitree robot: LowCmd, and braking when the commands stop."""

from __future__ import annotations

import logging
import time

import numpy as np

from ..control.parameters import ControlConfig
from ..io.unitree import Family
from ..io.unitree_commands import LowCmdWriter
from ..transport.base import Qos, Transport
from .periodic import Periodic

log = logging.getLogger("prime.unitree_bridge")
PERIOD = 0.01  # s, of the watchdog
SILENCE = 0.1  # s without commands after which the joints brake
BRAKING = ControlConfig().braking  # Nm s/rad: the bridge has no configuration of a controller
LAST_WORDS = 5  # messages


class LowCmdOutlet(Periodic):
    """Hands `mpc/motor_commands` on as `lowcmd`; once they have stopped, lets the joints brake.

    Args:
        transport: where topics live.
        family: wire format of the robot.

    Attributes:
        writer: builds the messages.
        braking: the joints brake, because commands have stopped.
    """

    def __init__(self, transport: Transport, family: Family):
        super().__init__(PERIOD, "watchdog")
        self.writer = LowCmdWriter(family, transport.make)
        self._heard_at: float | None = None
        self._names: dict[str, None] = {}  # of the joints that were ever commanded, in order
        self.braking = self._ended = False
        self._send = transport.publish("lowcmd", self.writer.layout.type, Qos.STATE)
        transport.subscribe(
            "mpc/motor_commands",
            "prime_estimation_msgs/msg/MotorCommands",
            self._on_commands,
            Qos.SENSOR,
        )

    def stop(self) -> None:
        """End; the last word is that the joints brake, for motors go on with what they heard."""
        self._ended = True
        super().stop()
        for _ in range(LAST_WORDS if self._heard_at is not None else 0):
            self._brake()
            time.sleep(PERIOD)

    def _on_commands(self, message, _arrival_ns: int) -> None:
        if self._ended:
            return
        arrays = (
            message.position,
            message.velocity,
            message.effort,
            message.stiffness,
            message.damping,
        )
        if not len(message.name) or not all(np.isfinite(array).all() for array in arrays):
            return  # what makes no sense is silence
        self._send(self.writer.write(message.name, *arrays))
        self._names.update(dict.fromkeys(message.name))
        self._heard_at, self.braking = time.monotonic(), False

    def _work(self) -> None:
        if self._heard_at is None or time.monotonic() - self._heard_at < SILENCE:
            return
        if not self.braking:
            log.error("no motor commands for %.0f ms: the joints brake", 1e3 * SILENCE)
            self.braking = True
        self._brake()

    def _brake(self) -> None:
        names = list(self._names)  # at once: commands may come meanwhile
        zero, braking = np.zeros(len(names)), np.full(len(names), BRAKING)
        self._send(self.writer.write(names, zero, zero, zero, zero, braking))
