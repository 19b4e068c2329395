# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Sensor side of a node: topics subscribed to, messages read, what is refused counted and named."""

from __future__ import annotations

from collections.abc import Callable

from ..config.parameters import NodeConfig
from ..errors import DataError
from ..io.messages import MessageReader
from ..io.topics import LOWSTATE, ROLES
from ..io.unitree_commands import command_layout
from ..robot import Robot
from ..sensors import optional_sensors
from ..sensors.joint_targets import NAME as TARGETS
from ..transport.base import Qos, Transport
from ..types import Sample
from .health import Health


class SensorSubscriptions:
    """Subscribes to what a robot's estimator needs.

    Args:
        transport: where topics live.
        robot: tells whether there is an IMU.
        config: which topics, and which optional sensors.
        reader: turns messages into samples.
        health: told what is expected and what comes.
        push: called with every sample, in order of arrival.
    """

    def __init__(
        self,
        transport: Transport,
        robot: Robot,
        config: NodeConfig,
        reader: MessageReader,
        health: Health,
        push: Callable[[Sample], None],
    ):
        self._reader = reader
        self._transport, self._health, self._push = transport, health, push
        if reader.lowstate is not None:
            self._listen(LOWSTATE, LOWSTATE, reader.lowstate.family.type, True)
        else:
            self._listen_to_role("joint_states", True)
            self._listen_to_role("joint_commands", False)
            if robot.imu_joint is not None:
                self._listen_to_role("imu", True)
        in_raw = reader.lowstate.family.roles if reader.lowstate is not None else ()
        for name in expected_sensors(config):
            if name == TARGETS and reader.lowstate is not None:
                self._listen(name, "lowcmd", command_layout(reader.lowstate.family).type, False)
            elif name not in in_raw and name in ROLES:
                self._listen_to_role(name, False)

    def _listen_to_role(self, role: str, required: bool) -> None:
        self._listen(role, ROLES[role].names[0], ROLES[role].types[0], required)

    def _listen(self, role: str, topic: str, kind: str, required: bool) -> None:
        self._health.expect(role, self._transport.full(topic), kind, required)
        self._transport.subscribe(
            topic,
            kind,
            lambda message, arrival: self._on_message(role, message, arrival),
            Qos.SENSOR,
        )

    def _on_message(self, role: str, message, arrival_ns: int) -> None:
        refused = self._receive(role, message, arrival_ns)
        if refused:
            self._health.refused(role, refused)
        else:
            self._health.heard(role)

    def _receive(self, role: str, message, arrival_ns: int) -> str:
        """Hand on what a message says; returns why it is refused, empty when it is not."""
        before = self._reader.refused
        try:
            samples = self._reader.samples(role, message, arrival_ns)
        except DataError as error:
            self._health.refusal = str(error)
            return "not the joints of this robot"
        if self._reader.refused > before:
            return self._reader.reason
        if role in ("joint_states", LOWSTATE):
            self._health.refusal = ""
        for sample in samples:
            self._health.stamped(role, sample.stamp_ns, arrival_ns)
            self._push(sample)
        return ""


def expected_sensors(config: NodeConfig) -> list[str]:
    """Names of the optional sensors that a node expects, motion capture first.

    Raises:
        ConfigError: there is no sensor of this name.
    """
    names = ",".join([*(["mocap"] if config.mocap else []), config.sensors])
    return optional_sensors(names)
