# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Whole-body MPC on the network: estimates and a velocity command in, joint commands out."""

from __future__ import annotations

import logging
import time
from collections import deque

import numpy as np

from ..control.controller import WalkingController
from ..control.motion_types import JointCommand, VelocityCommand
from ..control.parameters import ControlConfig
from ..control.supervisor import Mode
from ..errors import PrimeError
from ..io.joint_order import JointOrder
from ..io.messages import stamp_ns
from ..io.to_messages import header
from ..robot import Robot
from ..transport.base import Qos, Transport, graph_name, pace_of
from .inertia_listener import TOPIC, TYPE
from .mpc_messages import MpcMessages
from .periodic import Worker, period_of

log = logging.getLogger("prime.mpc")
SETTLED_NS = 1_000_000_000  # for which states must have come in time before the robot is taken over
REPORTED = 500  # solves whose times the diagnostics summarize


class MpcNode:
    """Solves at the rate of the controller's nodes, commands the motors at `rate`.

    Topics: in `prime/odometry`, `prime/joint_states`, `prime/contact_wrenches`,
    `prime/inertial_parameters`, `cmd_vel` (geometry_msgs/Twist), `~/gait` (std_msgs/String),
    `~/posture` (geometry_msgs/Vector3: lean forwards and to the left, height above the nominal
    one); out `~/motor_commands` (prime_estimation_msgs/MotorCommands), `~/joint_commands`
    (sensor_msgs/JointState: targets, and the torque that they amount to), `~/contact_wrenches`
    (planned forces), `/diagnostics`. Services `~/freeze` (std_srvs/SetBool), `~/stop` and
    `~/resume` (std_srvs/Trigger).

    Args:
        transport: where topics live.
        robot: what is controlled.
        gait: the first one.
        rate: of motor commands [Hz].
        config: of the controller.
    """

    def __init__(
        self,
        transport: Transport,
        robot: Robot,
        gait: str = "stand",
        rate: float = 500.0,
        config: ControlConfig = ControlConfig(),
    ):
        self.robot = robot
        self.controller = WalkingController(robot, config, gait)
        self._transport = transport
        clock = pace_of(transport)
        self._workers = [
            Worker(config.step, "solve", self._solve, clock, patient=True),
            Worker(period_of(rate), "command", self._command, clock),
            Worker(1.0, "diagnostics", self._report),
        ]
        self._messages = MpcMessages(robot, transport.make, graph_name(transport))
        self._orders: dict[tuple, JointOrder] = {}
        self._frame, self._posture = "", (0.0, 0.0, 0.0)
        self._ready_ns: int | None = None  # since when states come in time
        self._times: deque[float] = deque(maxlen=REPORTED)
        self._reported_ns = -1  # time of the last report
        self._listen(transport)
        self._announce(transport)

    def start(self) -> None:
        """Begin; once."""
        for worker in self._workers:
            worker.start()

    def stop(self) -> None:
        """End; motors that obeyed are left braking."""
        for worker in self._workers:
            worker.stop()
        if self.controller.supervisor.mode is not Mode.WAITING:
            self.controller.supervisor.stop("the node ends")
            self._command()

    # --- in ---------------------------------------------------------------------------------------

    def _listen(self, transport: Transport) -> None:
        for topic, kind, callback, qos in (
            ("prime/odometry", "nav_msgs/msg/Odometry", self._on_odometry, Qos.SENSOR),
            ("prime/joint_states", "sensor_msgs/msg/JointState", self._on_joints, Qos.SENSOR),
            (
                "prime/contact_wrenches",
                "prime_estimation_msgs/msg/ContactWrenches",
                self._on_contacts,
                Qos.SENSOR,
            ),
            (TOPIC, TYPE, lambda m, _: self.controller.gate.offer(m), Qos.LATCHED),
            ("cmd_vel", "geometry_msgs/msg/Twist", self._on_velocity, Qos.SENSOR),
            ("~/gait", "std_msgs/msg/String", self._on_gait, Qos.STATE),
            ("~/posture", "geometry_msgs/msg/Vector3", self._on_posture, Qos.STATE),
        ):
            transport.subscribe(topic, kind, callback, qos)
        transport.serve("~/freeze", "std_srvs/srv/SetBool", self.controller.gate.on_freeze)
        transport.serve("~/stop", "std_srvs/srv/Trigger", self._on_stop)
        transport.serve("~/resume", "std_srvs/srv/Trigger", self._on_resume)

    def _on_odometry(self, message, _arrival_ns: int) -> None:
        pose, twist = message.pose.pose, message.twist.twist
        self._frame = message.header.frame_id
        # Odometry's twist is in the base frame, as Pinocchio's free-flyer wants it
        self.controller.on_odometry(
            stamp_ns(message.header),
            np.array(_numbers(pose.position, "xyz") + _numbers(pose.orientation, "xyzw")),
            np.array(_numbers(twist.linear, "xyz") + _numbers(twist.angular, "xyz")),
        )

    def _on_joints(self, message, _arrival_ns: int) -> None:
        names = tuple(message.name)
        if names not in self._orders:
            self._orders[names] = JointOrder(self.robot.joint_names, names)
        order = self._orders[names]
        position, velocity = order.pick(message.position), order.pick(message.velocity)
        if position is not None and velocity is not None:
            self.controller.on_joints(stamp_ns(message.header), position, velocity)

    def _on_contacts(self, message, _arrival_ns: int) -> None:
        force = {contact.name: contact.wrench.force.z for contact in message.contacts}
        normal = np.array([force.get(c.name, np.nan) for c in self.robot.contacts])
        self.controller.on_contacts(stamp_ns(message.header), normal)

    def _on_velocity(self, message, _arrival_ns: int) -> None:
        lean, left, height = self._posture
        wish = VelocityCommand(
            float(message.linear.x),
            float(message.linear.y),
            float(message.angular.z),
            height,
            (lean, left),
        )
        self.controller.on_velocity(self._transport.now_ns(), wish)

    def _on_posture(self, message, _arrival_ns: int) -> None:
        posture = _numbers(message, "xyz")
        if not np.isfinite(posture).all():
            return  # it would be in every velocity command from now on
        self._posture = tuple(posture)
        lean, left, height = self._posture
        wish = VelocityCommand(height=height, lean=(lean, left))
        self.controller.on_velocity(self._transport.now_ns(), wish)

    def _on_gait(self, message, _arrival_ns: int) -> None:
        try:
            self.controller.on_gait(message.data)
        except PrimeError as error:
            log.warning("%s", error)

    def _on_stop(self, _request) -> dict:
        self.controller.supervisor.stop("emergency stop")
        return {"success": True, "message": "the joints brake; ~/resume lets the robot move again"}

    def _on_resume(self, _request) -> dict:
        if not self.controller.supervisor.resume():
            return {"success": True, "message": "the robot was not stopped: it goes on"}
        return {"success": True, "message": "the robot moves again once it is known to stand"}

    # --- out --------------------------------------------------------------------------------------

    def _announce(self, transport: Transport) -> None:
        kinds = {
            "~/motor_commands": "prime_estimation_msgs/msg/MotorCommands",
            "~/joint_commands": "sensor_msgs/msg/JointState",
            "~/contact_wrenches": "prime_estimation_msgs/msg/ContactWrenches",
            "/diagnostics": "diagnostic_msgs/msg/DiagnosticArray",
        }
        self._send = {t: transport.publish(t, kind, Qos.STATE) for t, kind in kinds.items()}

    def _solve(self) -> None:
        began = time.perf_counter()
        now_ns = self._transport.now_ns()
        if not self._settled(now_ns):
            return
        plan = self.controller.solve(now_ns)
        if plan is None:
            return
        self.controller.follow(plan)
        self._times.append(time.perf_counter() - began)
        stamped = header(self._transport.make, plan.stamp_ns, self._frame)
        self._send["~/contact_wrenches"](self._messages.contact_wrenches(stamped, plan))

    def _settled(self, now_ns: int) -> bool:
        """Whether states have come in time for a while: an estimator that starts is late."""
        supervisor = self.controller.supervisor
        if supervisor.mode is not Mode.WAITING:
            return True
        since = self._ready_ns
        if since is None or now_ns < since or not supervisor.ready(now_ns):
            self._ready_ns = now_ns
        return now_ns - self._ready_ns > SETTLED_NS

    def _command(self) -> None:
        now_ns = self._transport.now_ns()
        command = self.controller.command(now_ns)
        if command is None:
            return
        stamped = header(self._transport.make, now_ns, "")
        self._send["~/motor_commands"](self._messages.motor_commands(stamped, command))
        self._publish_joints(stamped, command)

    def _publish_joints(self, stamped, command: JointCommand) -> None:
        torque = self.controller.expected_torque(command)
        if torque is not None:
            self._send["~/joint_commands"](self._messages.joint_commands(stamped, command, torque))

    def _report(self) -> None:
        now_ns, supervisor = self._transport.now_ns(), self.controller.supervisor
        stamped = header(self._transport.make, now_ns, "")
        solves, commands = self._workers[:2]
        values = {
            "mode": supervisor.mode.value,
            "gait": self.controller.mpc.feet.schedule.name,
            "missed solves": solves.missed,
            "missed commands": commands.missed,
            "states refused": supervisor.refused,
            "inertia applied": self.controller.gate.applied,
            **dict(self.controller.gate.refused),
        }
        if self._times:
            p50, p99 = 1e3 * np.percentile(list(self._times), [50, 99])
            values |= {"solve, median [ms]": f"{p50:.1f}", "solve, 99 % [ms]": f"{p99:.1f}"}
        stands = now_ns == self._reported_ns and "the time of /clock stands: no commands are sent"
        self._reported_ns = now_ns
        told = stands or supervisor.reason, supervisor.doubt(now_ns)
        self._send["/diagnostics"](self._messages.diagnostics(stamped, values, *told))

    @property
    def missed(self) -> tuple[int, int]:
        """(solves that were left out because the ones before took too long, solves)."""
        return self._workers[0].missed, self._workers[0].worked


def _numbers(vector, axes: str) -> list[float]:
    return [float(getattr(vector, axis)) for axis in axes]
