# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Sensor side of a node: topics subscribed to, messages read, what is refused counted and named."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ..config.parameters import NodeConfig
from ..errors import DataError
from ..io.messages import MessageReader
from ..io.topics import LOWSTATE, ROLES
from ..io.unitree import LowStateReader
from ..io.unitree_commands import command_layout
from ..robot import Robot
from ..sensors import optional_sensors
from ..sensors.joint_targets import NAME as TARGETS
from ..transport.base import Qos, Transport
from ..types import Sample
from .health import Health
from .pose_sources import POSE_SOURCES, PoseSource

View = Callable[[object, int], object] | None  # message of another type to that of the role


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
        self._apart: tuple[str, ...] = ()  # roles that are not read of the raw message
        if reader.lowstate is not None:
            self._listen_to_lowstate(robot, reader.lowstate)
        else:
            self._listen_to_role("joint_states", True)
            self._listen_to_role("joint_commands", False)
            if robot.imu_joint is not None:
                self._listen_to_role("imu", True)
        in_raw = reader.lowstate.family.roles if reader.lowstate is not None else ()
        for name in expected_sensors(config):
            if name == TARGETS and reader.lowstate is not None:
                self._listen(name, "lowcmd", command_layout(reader.lowstate.family).type, False)
            elif name == "mocap":
                source, body = POSE_SOURCES[config.mocap_source], config.mocap_body or robot.name
                topic = ROLES[name].names[0]
                self._listen(name, topic, source.type, False, partial(_pose, source, body))
            elif name not in in_raw and name in ROLES:
                self._listen_to_role(name, False)

    def _listen_to_lowstate(self, robot: Robot, lowstate: LowStateReader) -> None:
        self._listen(LOWSTATE, LOWSTATE, lowstate.family.type, True)
        second = lowstate.family.imu_apart(robot.config.imu_frame)
        if second is not None:
            self._apart = ("imu",)
            self._listen("imu", second.topic, second.type, True)

    def _listen_to_role(self, role: str, required: bool) -> None:
        self._listen(role, ROLES[role].names[0], ROLES[role].types[0], required)

    def _listen(self, role: str, topic: str, kind: str, required: bool, view: View = None) -> None:
        self._health.expect(role, self._transport.full(topic), kind, required)

        def heard(message, arrival_ns: int) -> None:
            try:
                seen = message if view is None else view(message, arrival_ns)
            except ValueError as error:
                self._reader.refuse(role, str(error))
                self._health.refused(role, str(error))
                return
            self._on_message(role, seen, arrival_ns)

        self._transport.subscribe(topic, kind, heard, Qos.SENSOR)

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
            samples = self._reader.samples(role, message, arrival_ns, self._apart)
        except DataError as error:
            self._health.refusal = str(error)
            return "not the joints of this robot"
        if role == LOWSTATE:
            self._health.skipped(role, self._reader.lowstate.clock.skipped)
        if self._reader.refused > before:
            return self._reader.reason
        if role in ("joint_states", LOWSTATE):
            self._health.refusal = ""
        for sample in samples:
            self._health.stamped(role, sample.stamp_ns, arrival_ns)
            self._push(sample)
        return ""


def _pose(source: PoseSource, body: str, message, _arrival_ns: int):
    return source.pose(message, body)


def expected_sensors(config: NodeConfig) -> list[str]:
    """Names of the optional sensors that a node expects, motion capture first.

    Raises:
        ConfigError: there is no sensor of this name.
    """
    return optional_sensors([*["mocap"] * config.mocap, config.sensors])
