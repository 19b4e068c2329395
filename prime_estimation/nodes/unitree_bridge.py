# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Bridge of Unitree's LowState to `joint_states`, `imu`, and for G1 `imu_torso`.

Motor commands as LowCmd.
"""

from __future__ import annotations

import logging
from collections import Counter

from ..config.files import is_yaml
from ..config.parameters import Config
from ..errors import ConfigError
from ..io.to_messages import header
from ..io.topics import ROLES
from ..io.unitree import LowStateReader, family_of
from ..transport.base import Qos, Transport, graph_name
from .diagnostics import diagnostic_status
from .lowcmd_outlet import LowCmdOutlet
from .periodic import Periodic

log = logging.getLogger("prime.unitree_bridge")


class UnitreeBridgeNode(Periodic):
    """Listens to `lowstate` (and `secondary_imu`) and publishes what it means.

    Args:
        transport: where topics live.
        robot: `go2`, `g1`, ..., the path of a robot's YAML file, or a family of wire formats.
        imu_frame: frame of the IMU in the robot's URDF; default: that of the robot's YAML. Where it
            is that of the second IMU (a G1's torso), this one is `imu`.
        changes: YAML file with changes to the robot's defaults, that of the estimator.
        commands: hand on `mpc/motor_commands` as `lowcmd`: the robot moves. Its own controller must
            have been switched off.
    """

    def __init__(
        self,
        transport: Transport,
        robot: str,
        imu_frame: str = "",
        commands: bool = False,
        changes: str = "",
    ):
        super().__init__(1.0, "diagnostics")
        name, frame = _name_and_imu_frame(robot, changes)
        family, frame = family_of(name), imu_frame or frame
        self.reader = LowStateReader(family, transport.make, frame)
        self._imu_apart = family.imu_apart(frame) is not None
        self._wanted = [r for r in family.roles if r != "imu" or not self._imu_apart]
        self._transport = transport
        self._send = {
            role: transport.publish(ROLES[role].names[0], ROLES[role].types[0], Qos.STATE)
            for role in family.roles
        }
        self._diagnose = transport.publish(
            "/diagnostics", "diagnostic_msgs/msg/DiagnosticArray", Qos.STATE
        )
        transport.subscribe("lowstate", family.type, self._on_lowstate, Qos.SENSOR)
        second = family.secondary_imu
        if second is not None:
            self._torso = transport.publish("imu_torso", "sensor_msgs/msg/Imu", Qos.STATE)
            transport.subscribe(second.topic, second.type, self._on_torso, Qos.SENSOR)
        self.messages = self._reported = 0
        self._refused: Counter[str] = Counter()  # as reported
        self._outlet = LowCmdOutlet(transport, family) if commands else None

    def start(self) -> None:
        """Begin; once."""
        super().start()
        if self._outlet is not None:
            self._outlet.start()

    def stop(self) -> None:
        """End."""
        if self._outlet is not None:
            self._outlet.stop()
        super().stop()

    def _on_lowstate(self, message, arrival_ns: int) -> None:
        self.messages += 1
        if self._outlet is not None:
            self._outlet.writer.mode_machine = int(getattr(message, "mode_machine", 0))
        for role, part in self.reader.read(message, arrival_ns, self._wanted).items():
            self._send[role](part)

    def _on_torso(self, state, arrival_ns: int) -> None:
        imu = self.reader.secondary_imu(state, arrival_ns)
        self._torso(imu)
        if self._imu_apart:
            self._send["imu"](imu)

    def _work(self) -> None:
        rate, self._reported = self.messages - self._reported, self.messages
        if not rate:
            others = self._transport.topics_of(self.reader.family.type)
            log.warning(
                "waiting for lowstate (%s); topics of that type: %s",
                self.reader.family.type,
                ", ".join(others) or "none",
            )
        self._report(rate)

    def _report(self, rate: int) -> None:
        make, clock = self._transport.make, self.reader.clock
        kind = make("diagnostic_msgs/msg/DiagnosticStatus")
        refused = Counter(self.reader.counts)
        lately, self._refused = refused - self._refused, refused
        values = {
            "arrival jitter [ms]": f"{clock.jitter_ms:.2f}",
            "restarts of the robot's clock": clock.restarts,
            **refused,
        }
        wrong = [*lately] if rate else ["no lowstate", *lately]
        if self._outlet is not None and self._outlet.braking:
            wrong.append("no motor commands: the joints brake")
        level = kind.ERROR if not rate else kind.WARN if wrong else kind.OK
        text = ", ".join(wrong) or f"{rate} Hz"
        name = f"{graph_name(self._transport)}: lowstate"
        status = diagnostic_status(make, name, level, text, values)
        stamped = header(make, self._transport.now_ns(), "")
        self._diagnose(make("diagnostic_msgs/msg/DiagnosticArray")(header=stamped, status=[status]))


def _name_and_imu_frame(robot: str, changes: str) -> tuple[str, str]:
    try:
        config = Config.load(robot, changes or None).robot
    except ConfigError:
        if changes or is_yaml(robot):
            raise
        return robot, "imu"  # a family of wire formats, or a robot of which only these are known
    return config.name, config.imu_frame
