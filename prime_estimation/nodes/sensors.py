# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The sensor side of a node.

Topics subscribed to, messages turned into samples, what is refused counted and named.
"""

from __future__ import annotations

from collections.abc import Callable

from ..errors import DataError
from ..io.messages import Inbound
from ..io.topics import ROLES
from ..io.unitree import LowStateReader, family_of
from ..robot import Robot
from ..transport.base import Qos, Transport
from ..types import Sample
from .health import Health


class Sensors:
    """Subscribes to what a robot's estimator needs.

    Args:
        transport: where topics live.
        robot: gives joint names, and whether there is an IMU.
        lowstate: read Unitree's own message in place of joint_states and imu.
        mocap: listen to motion capture.
        health: told what is expected and what comes.
        push: called with every sample, in order of arrival.
    """

    def __init__(
        self,
        transport: Transport,
        robot: Robot,
        lowstate: bool,
        mocap: bool,
        health: Health,
        push: Callable[[Sample], None],
    ):
        self.inbound = Inbound(robot.joint_names, robot.config.locked_joints)
        self._transport, self._health, self._push = transport, health, push
        if lowstate:
            family = family_of(robot.name)
            self._lowstate = LowStateReader(family, transport.make)
            self._listen("lowstate", "lowstate", family.type, True, self._on_lowstate)
        else:
            self._listen_to_role("joint_states", "joint_states", True)
            self._listen_to_role("joint_commands", "joint_commands", False)
            if robot.imu_joint is not None:
                self._listen_to_role("imu", "imu", True)
        if mocap:
            self._listen_to_role("mocap", "mocap/pose", False)

    def _listen_to_role(self, role: str, topic: str, required: bool) -> None:
        kind = ROLES[role].types[0]
        self._listen(
            role,
            topic,
            kind,
            required,
            lambda *heard: self._note(role, self._receive(role, role, *heard)),
        )

    def _listen(self, stream: str, topic: str, kind: str, required: bool, callback) -> None:
        self._health.expect(stream, self._transport.full(topic), kind, required)
        self._transport.subscribe(topic, kind, callback, Qos.SENSOR)

    def _on_lowstate(self, message, arrival_ns: int) -> None:
        read = self._lowstate.read(message, arrival_ns)
        if read is None:
            self._health.refusal = ", ".join(self._lowstate.counts)
            return
        reasons = [
            self._receive("lowstate", role, part, arrival_ns)
            for role, part in zip(("joint_states", "imu"), read, strict=True)
        ]
        self._note("lowstate", reasons[0] or reasons[1])

    def _receive(self, stream: str, role: str, message, arrival_ns: int) -> str:
        """Hand on what a message says; returns why it is refused, empty when it is not."""
        try:
            sample = self.inbound.sample(role, message, arrival_ns)
        except DataError as error:
            self._health.refusal = str(error)
            return "not the joints of this robot"
        if sample is None:
            return self.inbound.reason
        if role == "joint_states":
            self._health.refusal = ""
        self._health.stamped(stream, sample.stamp_ns, arrival_ns)
        self._push(sample)
        return ""

    def _note(self, stream: str, refused: str) -> None:
        if refused:
            self._health.refused(stream, refused)
        else:
            self._health.heard(stream)
