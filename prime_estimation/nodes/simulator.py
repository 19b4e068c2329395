# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""A simulated robot on the network, in real time: sensors out, motor commands in."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

import numpy as np

from ..control.motion_types import JointCommand
from ..errors import PrimeError
from ..io.joint_order import JointOrder
from ..io.to_messages import header
from ..robot import Robot
from ..simulate.payload import Payload
from ..simulate.robot import SimulatedRobot
from ..transport.base import Qos, Transport
from ..types import JointSample
from .restamp import clock

log = logging.getLogger("prime.simulator")
TRUTH_PERIOD = 0.02  # s
CLOCK_PERIOD = 0.002  # s
BEHIND = 0.05  # s, by which the simulation may fall behind before time is let go
# s, likewise where it gives the time: what it catches up it does at once, before any command comes
BEHIND_CLOCK = 0.004


class SimulatorNode:
    """Steps a `SimulatedRobot` in real time.

    On a computer that is too slow, the simulation skips time: other nodes see a gap in the sensor
    data. If it publishes /clock, there are no gaps: the time of the graph is that of the
    simulation, and slows down.

    Topics: in `mpc/motor_commands` (prime_estimation_msgs/MotorCommands); out `joint_states`,
        `imu`, on request /clock,
    and for those who want to know how well it went `~/ground_truth` (nav_msgs/Odometry).

    Args:
        transport: where topics live.
        simulated: the robot; its world is the truth.
        posture: (nq,) in which it is placed.
        payload: what it carries, with the times at which it is put on or taken off.
        speed: of the graph's time against the real one; 0: the graph has the real one.
        failed: called once, by the thread of the physics, when that ends before `stop`.

    Attributes:
        error: what the physics ended of; None while it has not.
        late: seconds that were let go because the computer could not keep up, or by which it took
            longer than the graph's time says.
    """

    def __init__(
        self,
        transport: Transport,
        simulated: SimulatedRobot,
        posture: np.ndarray,
        payload: Payload | None = None,
        speed: float = 0.0,
        failed: Callable[[], None] = lambda: None,
    ):
        self._transport, self._simulated, self._payload = transport, simulated, payload
        self.robot: Robot = simulated.robot
        self.late, self.error, self._failed = 0.0, None, failed
        self._orders: dict[tuple, JointOrder] = {}
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="physics", daemon=True)
        kinds = {
            "joint_states": "sensor_msgs/msg/JointState",
            "imu": "sensor_msgs/msg/Imu",
            "~/ground_truth": "nav_msgs/msg/Odometry",
        }
        if speed:
            kinds["/clock"] = "rosgraph_msgs/msg/Clock"
        self._gives_time, self._speed = bool(speed), speed or 1.0
        self._behind = BEHIND_CLOCK if speed else BEHIND
        self._send = {t: transport.publish(t, kind, Qos.STATE) for t, kind in kinds.items()}
        transport.subscribe(
            "mpc/motor_commands",
            "prime_estimation_msgs/msg/MotorCommands",
            self._on_command,
            Qos.SENSOR,
        )
        simulated.place(posture)

    def start(self) -> None:
        """Begin; once."""
        self._thread.start()

    def stop(self) -> None:
        """End; what has not begun never will."""
        self._stopped.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _on_command(self, message, _arrival_ns: int) -> None:
        names = tuple(message.name)
        if names not in self._orders:
            self._orders[names] = JointOrder(self.robot.joint_names, names)
        pick = self._orders[names].pick
        fields = (message.position, message.velocity, message.effort)
        values = [pick(values) for values in (*fields, message.stiffness, message.damping)]
        if all(v is not None and np.isfinite(v).all() for v in values):
            self._simulated.obey(JointCommand(*values))

    def _run(self) -> None:
        try:
            self._go_on()
        except Exception as error:  # noqa: BLE001 - a thread that dies silently is a robot that froze
            log.error("the simulation has ended: %s", error)
            self.error = error if isinstance(error, PrimeError) else PrimeError(repr(error))
            self._failed()

    def _go_on(self) -> None:
        world, steps = self._simulated.world, 0
        now_ns = self._simulated.now_ns if self._gives_time else self._transport.now_ns()
        self._clock_ns = now_ns - self._simulated.now_ns
        began = time.monotonic()
        while not self._stopped.is_set():
            ahead = steps * world.dt / self._speed - (time.monotonic() - began) + self.late
            if ahead > 0.0:
                time.sleep(ahead)
            elif -ahead > self._behind:
                self.late += -ahead
                self._clock_ns += 0 if self._gives_time else round(-ahead * 1e9)
            self._step(steps * world.dt)
            steps += 1

    def _step(self, t: float) -> None:
        if self._payload is not None:
            self._simulated.world.load(self._payload.at(t))
        samples = self._simulated.advance()
        if self._gives_time and self._due(t, CLOCK_PERIOD):
            self._send["/clock"](clock(self._transport.make, self._simulated.now_ns))
        for sample in samples:
            if isinstance(sample, JointSample):
                self._send["joint_states"](self._joint_states(sample))
            else:
                self._send["imu"](self._imu(sample))
        if self._due(t, TRUTH_PERIOD):
            self._send["~/ground_truth"](self._truth())

    def _due(self, t: float, period: float) -> bool:
        dt = self._simulated.world.dt
        return round(t / dt) % round(period / dt) == 0

    def _header(self, stamp_ns: int, frame: str):
        return header(self._transport.make, stamp_ns + self._clock_ns, frame)

    def _vector(self, v, kind: str = "Vector3"):
        make = self._transport.make(f"geometry_msgs/msg/{kind}")
        return make(x=float(v[0]), y=float(v[1]), z=float(v[2]))

    def _joint_states(self, sample: JointSample):
        return self._transport.make("sensor_msgs/msg/JointState")(
            header=self._header(sample.stamp_ns, ""),
            name=list(self.robot.joint_names),
            position=sample.position,
            velocity=sample.velocity,
            effort=sample.effort,
        )

    def _imu(self, sample):
        make, unknown = self._transport.make, np.zeros(9)
        return make("sensor_msgs/msg/Imu")(
            header=self._header(sample.stamp_ns, self.robot.config.imu_frame),
            orientation=make("geometry_msgs/msg/Quaternion")(x=0.0, y=0.0, z=0.0, w=1.0),
            orientation_covariance=np.array([-1.0, *unknown[1:]]),
            angular_velocity=self._vector(sample.angular_velocity),
            angular_velocity_covariance=unknown,
            linear_acceleration=self._vector(sample.linear_acceleration),
            linear_acceleration_covariance=unknown,
        )

    def _truth(self):
        make, (q, v) = self._transport.make, self._simulated.world.state()
        x, y, z, w = (float(c) for c in q[3:7])
        pose = make("geometry_msgs/msg/Pose")(
            position=self._vector(q, "Point"),
            orientation=make("geometry_msgs/msg/Quaternion")(x=x, y=y, z=z, w=w),
        )
        twist = make("geometry_msgs/msg/Twist")(
            linear=self._vector(v), angular=self._vector(v[3:6])
        )
        return make("nav_msgs/msg/Odometry")(
            header=self._header(self._simulated.now_ns, "world"),
            child_frame_id=self.robot.base_frame,
            pose=make("geometry_msgs/msg/PoseWithCovariance")(pose=pose, covariance=np.zeros(36)),
            twist=make("geometry_msgs/msg/TwistWithCovariance")(
                twist=twist, covariance=np.zeros(36)
            ),
        )
