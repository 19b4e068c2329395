# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""MPC node: what it commands a robot that stands, and when it brakes."""

import time

import numpy as np
import pytest
from helpers.estimates import make_estimate
from helpers.waiting import wait

from prime_estimation.control.posture import standing_posture
from prime_estimation.control.supervisor import Mode
from prime_estimation.errors import ConfigError
from prime_estimation.io import to_messages as outbound
from prime_estimation.io.typestore import typestore
from prime_estimation.nodes.mpc import MpcNode
from prime_estimation.robot import GRAVITY, Robot
from prime_estimation.transport.base import Qos
from prime_estimation.transport.inprocess import Bus, InProcessTransport

TOPICS = {
    "motor_commands": "prime_estimation_msgs/msg/MotorCommands",
    "joint_commands": "sensor_msgs/msg/JointState",
    "contact_wrenches": "prime_estimation_msgs/msg/ContactWrenches",
}


def make(name: str) -> type:
    return typestore().types[name]


class Standing:
    """An MPC node, and the estimator of a Go2 that stands still."""

    def __init__(self):
        bus, self.robot = Bus(), Robot.load("go2")
        self.me = InProcessTransport(bus, "prime")
        self.node = MpcNode(InProcessTransport(bus, "mpc"), self.robot, rate=100.0)
        self.heard = {name: [] for name in TOPICS}
        for name, kind in TOPICS.items():
            kept = self.heard[name]
            self.me.subscribe(f"/mpc/{name}", kind, lambda m, _, k=kept: k.append(m), Qos.STATE)
        self._odometry = self.me.publish("~/odometry", "nav_msgs/msg/Odometry")
        self._joints = self.me.publish("~/joint_states", "sensor_msgs/msg/JointState")
        self.posture = standing_posture(self.robot)
        self.node.start()

    def tell(self, position=None, ahead: int = 0) -> None:
        """Say where it is now, by a clock that is ahead [ns]."""
        q = self.posture
        estimate = make_estimate(
            self.robot,
            stamp_ns=time.time_ns() + ahead,
            position_world=q[:3] if position is None else position,
            quat_world_base=q[3:7],
            joint_position=q[7:],
            linear_velocity_base=np.zeros(3),
            angular_velocity_base=np.zeros(3),
            joint_velocity=np.zeros(12),
        )
        self._joints(outbound.joint_states(make, estimate, self.robot.joint_names))
        self._odometry(outbound.odometry(make, estimate, "odom", "base"))

    def commanded(self, count: int) -> bool:
        """Keep telling until there are so many commands."""
        commands = self.heard["motor_commands"]
        return wait(lambda: self.tell() or len(commands) >= count, 20.0)

    @property
    def brakes(self) -> bool:
        command = self.heard["motor_commands"][-1]
        return (
            not np.any(command.stiffness)
            and not np.any(command.effort)
            and min(command.damping) > 0
        )


@pytest.fixture
def standing():
    made = Standing()
    yield made
    made.node.stop()


def test_commands_carry_the_robot(standing):
    time.sleep(0.05)
    assert not standing.heard["motor_commands"]  # nothing before the state is known
    assert standing.commanded(40)
    command, targets = standing.heard["motor_commands"][-1], standing.heard["joint_commands"][-1]
    assert list(command.name) == standing.robot.joint_names
    assert not standing.brakes and np.isfinite(command.effort).all()
    assert np.abs(np.array(targets.position) - standing.posture[7:]).max() < 0.05
    wrenches = standing.heard["contact_wrenches"][-1]
    assert wrenches.header.frame_id == "odom"
    force = sum(c.wrench.force.z for c in wrenches.contacts)
    assert force == pytest.approx(GRAVITY * standing.robot.total_mass, rel=0.1)
    assert all(abs(c.position.z) < 0.02 for c in wrenches.contacts)


def test_stop_and_resume(standing):
    assert standing.commanded(5)
    standing.me.call("/mpc/stop", make("std_srvs/srv/Trigger_Request")())
    assert wait(lambda: standing.tell() or standing.brakes, 5.0)
    standing.me.call("/mpc/resume", make("std_srvs/srv/Trigger_Request")())
    assert wait(lambda: standing.tell() or not standing.brakes, 20.0)


def test_a_robot_that_is_not_stopped_is_not_resumed(standing):
    assert standing.commanded(5)
    answer = standing.me.call("/mpc/resume", make("std_srvs/srv/Trigger_Request")())
    assert answer.success and "was not stopped" in answer.message
    assert standing.node.controller.supervisor.mode is Mode.ACTIVE


def test_it_says_what_it_waits_for(standing):
    reason = lambda: standing.node.controller.supervisor.reason  # noqa: E731
    assert wait(lambda: reason() == "no odometry and no joint states yet", 5.0)
    ahead = 3_600_000_000_000
    assert wait(lambda: standing.tell(ahead=ahead) or "another clock" in reason(), 5.0)
    assert not standing.heard["motor_commands"]


@pytest.mark.parametrize("loss", ["silence", "nan"])
def test_it_brakes_without_a_state(standing, loss):
    assert standing.commanded(5)
    lost = (lambda: None) if loss == "silence" else (lambda: standing.tell(np.full(3, np.nan)))
    assert wait(lambda: lost() or standing.brakes, 5.0)
    assert "odometry" in standing.node.controller.supervisor.reason or loss == "silence"


def test_controllers_that_make_no_sense_are_refused_at_once():
    robot, transport = Robot.load("go2"), InProcessTransport(Bus(), "mpc")
    with pytest.raises(ConfigError, match="gait must be one of"):
        MpcNode(transport, robot, gait="gallop")
    for rate in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(ConfigError, match="a rate must be between"):
            MpcNode(transport, robot, rate=rate)


def test_forces_that_lack_a_contact_are_no_news(standing):
    """Of another robot, say: a contact that is not named is not one that carries nothing."""
    send = standing.me.publish("~/contact_wrenches", TOPICS["contact_wrenches"])
    message = outbound.contact_wrenches(make, make_estimate(standing.robot), "odom")
    told = [standing.node.controller._contacts]
    for contacts in (message.contacts, message.contacts[1:]):
        message.contacts, message.header.stamp.sec = contacts, message.header.stamp.sec + 1
        send(message)
        told.append(standing.node.controller._contacts)
    assert told[1] is not told[0] and told[2] is told[1]
    assert standing.node.controller.supervisor.refused == 1


def test_diagnostics_warn_of_forces_that_do_not_come(standing):
    kind, heard = make("diagnostic_msgs/msg/DiagnosticStatus"), []
    keep = lambda m, _: heard.append(m.status[0])  # noqa: E731
    standing.me.subscribe("/diagnostics", "diagnostic_msgs/msg/DiagnosticArray", keep, Qos.STATE)
    assert standing.commanded(5)
    del heard[:]
    assert wait(lambda: standing.tell() or heard, 5.0)
    assert heard[0].level == kind.WARN and heard[0].message.startswith("no contact forces yet")


def test_a_clock_that_stands_is_said_to():
    """As of a simulator that has died: everything is as old as it was, and nothing is sent."""
    bus, heard, now = Bus(), [], [1_700_000_000_000_000_000]
    me = InProcessTransport(bus, "me")
    node = MpcNode(InProcessTransport(bus, "mpc", clock=lambda: now[0]), Robot.load("go2"))
    keep = lambda m, _: heard.append(m.status[0].message)  # noqa: E731
    me.subscribe("/diagnostics", "diagnostic_msgs/msg/DiagnosticArray", keep, Qos.STATE)
    for step in (1, 1_000_000_000, 0):
        now[0] += step
        node._report()
    assert ["/clock stands" in said for said in heard] == [False, False, True]


def test_a_posture_that_is_none_does_not_keep_the_robot_from_obeying():
    robot, bus = Robot.load("go2"), Bus()
    node, me = MpcNode(InProcessTransport(bus, "mpc"), robot), InProcessTransport(bus, "me")
    vector, twist = make("geometry_msgs/msg/Vector3"), make("geometry_msgs/msg/Twist")
    nan, zero = vector(x=0.0, y=float("nan"), z=0.0), vector(x=0.0, y=0.0, z=0.0)
    me.publish("/mpc/posture", "geometry_msgs/msg/Vector3")(nan)
    forward = twist(linear=vector(x=0.3, y=0.0, z=0.0), angular=zero)
    me.publish("cmd_vel", "geometry_msgs/msg/Twist")(forward)
    assert node.controller._wish.vx == 0.3
