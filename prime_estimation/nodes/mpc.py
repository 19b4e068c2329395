# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Example controller: a receding-horizon MPC fed by the estimator's odometry, joint states and inertia. A pattern to copy."""

from __future__ import annotations

import logging
import time

import numpy as np
import pinocchio as pin

from ..control.problem import MpcProblem, check
from ..inertia_gate import Bounds, InertiaGate
from ..io.messages import JointOrder, stamp_ns
from ..io.to_messages import header
from ..robot import Robot
from ..transport.base import Qos, Transport
from .inertia_listener import TOPIC, TYPE
from .periodic import Periodic, period_of

log = logging.getLogger("prime.mpc")
STALE_S = 0.2  # age of odometry or joint states after which no torque is commanded


class MpcNode(Periodic):
    """Solves at a fixed rate for the newest state; inertia is taken over between two solves.

    The posture found with the first complete state, with a level trunk, is the one to keep. Topics:
    in `prime/odometry`, `prime/joint_states`, `prime/inertial_parameters`; out `~/joint_commands`
    (sensor_msgs/JointState, effort) and `~/contact_wrenches`
    (prime_estimation_msgs/ContactWrenches, planned forces). Service `~/freeze` (std_srvs/SetBool).
    """

    def __init__(
        self,
        transport: Transport,
        robot: Robot,
        gait: str = "stand",
        rate: float = 20.0,
        bounds: Bounds = Bounds(),
    ):
        super().__init__(period_of(rate), "control")
        check(robot, gait)
        self.robot, self.gate = robot, InertiaGate(robot, bounds)
        self._transport, self._gait, self._began = transport, gait, time.monotonic()
        self._problem: MpcProblem | None = None
        self._base: tuple[np.ndarray, np.ndarray] | None = None
        self._joints: tuple[np.ndarray, np.ndarray] | None = None
        self._orders: dict[tuple, JointOrder] = {}
        self._stamp_ns, self._frame, self._heard_at = (
            0,
            "",
            {"odometry": float("-inf"), "joint_states": float("-inf")},
        )
        self._commands = transport.publish(
            "~/joint_commands", "sensor_msgs/msg/JointState", Qos.STATE
        )
        self._wrenches = transport.publish(
            "~/contact_wrenches", "prime_estimation_msgs/msg/ContactWrenches", Qos.STATE
        )
        transport.serve("~/freeze", "std_srvs/srv/SetBool", self.gate.on_freeze)
        transport.subscribe(
            "prime/odometry", "nav_msgs/msg/Odometry", self._on_odometry, Qos.SENSOR
        )
        transport.subscribe(
            "prime/joint_states", "sensor_msgs/msg/JointState", self._on_joints, Qos.SENSOR
        )
        transport.subscribe(TOPIC, TYPE, lambda message, _: self.gate.offer(message), Qos.LATCHED)

    def _on_odometry(self, message, _arrival_ns: int) -> None:
        pose, twist = message.pose.pose, message.twist.twist
        q = np.array(
            [getattr(pose.position, a) for a in "xyz"]
            + [getattr(pose.orientation, a) for a in "xyzw"]
        )
        # Odometry's twist is in the base frame, as Pinocchio's free-flyer wants it
        v = np.array(
            [getattr(twist.linear, a) for a in "xyz"] + [getattr(twist.angular, a) for a in "xyz"]
        )
        if np.isfinite([*q, *v]).all():  # what is not ages, and no torque is commanded any more
            self._base, self._stamp_ns, self._frame = (
                (q, v),
                stamp_ns(message.header),
                message.header.frame_id,
            )
            self._heard_at["odometry"] = time.monotonic()

    def _on_joints(self, message, _arrival_ns: int) -> None:
        names = tuple(message.name)
        if names not in self._orders:
            self._orders[names] = JointOrder(self.robot.joint_names, names)
        order = self._orders[names]
        position, velocity = order.pick(message.position), order.pick(message.velocity)
        if (
            position is not None
            and velocity is not None
            and np.isfinite([*position, *velocity]).all()
        ):
            self._joints, self._heard_at["joint_states"] = (position, velocity), time.monotonic()

    def _work(self) -> None:
        self.gate.apply(self.robot.model, self._period)
        if time.monotonic() - min(self._heard_at.values()) > STALE_S:
            return
        (base, twist), (position, velocity) = self._base, self._joints
        q, v = np.concatenate([base, position]), np.concatenate([twist, velocity])
        if self._problem is None:
            self._problem = MpcProblem(self.robot, _levelled(q), self._gait)
            log.info("keeping the present posture, base %.3f m high", q[2])
        self._publish(self._problem.solve(q, v, time.monotonic() - self._began), position)

    def _publish(self, effort: np.ndarray, position: np.ndarray) -> None:
        make = self._transport.make
        stamp = header(make, self._stamp_ns, "")
        fields = dict(
            name=list(self.robot.joint_names),
            position=position,
            velocity=np.zeros(0),
            effort=effort,
        )
        self._commands(make("sensor_msgs/msg/JointState")(header=stamp, **fields))
        point, vector = make("geometry_msgs/msg/Point"), make("geometry_msgs/msg/Vector3")
        contacts = [
            make("prime_estimation_msgs/msg/ContactWrench")(
                name=foot,
                position=point(x=float(p[0]), y=float(p[1]), z=float(p[2])),
                wrench=make("geometry_msgs/msg/Wrench")(
                    force=vector(x=float(f[0]), y=float(f[1]), z=float(f[2])),
                    torque=vector(x=0.0, y=0.0, z=0.0),
                ),
                force_covariance=np.zeros(9),
                probability=float(f[2] > 0.0),
                state=int(f[2] > 0.0),
            )
            for foot, f, p in zip(
                self.robot.feet, self._problem.forces, self._problem.points, strict=True
            )
        ]
        stamp = header(make, self._stamp_ns, self._frame)
        self._wrenches(
            make("prime_estimation_msgs/msg/ContactWrenches")(header=stamp, contacts=contacts)
        )


def _levelled(q: np.ndarray) -> np.ndarray:
    yaw = pin.rpy.matrixToRpy(pin.Quaternion(q[3:7]).toRotationMatrix())[2]
    return np.concatenate(
        [q[:3], pin.Quaternion(pin.rpy.rpyToMatrix(0.0, 0.0, yaw)).coeffs(), q[7:]]
    )
