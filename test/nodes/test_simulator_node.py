# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Simulated robot on the network: sensors at their rates, motor commands obeyed."""

import threading
import time

import numpy as np
import pytest
from helpers.waiting import wait

pytest.importorskip("mujoco")

from prime_estimation.config.parameters import Config
from prime_estimation.control.motion_types import JointCommand
from prime_estimation.control.posture import standing_posture
from prime_estimation.nodes.simulator import SimulatorNode
from prime_estimation.robot import GRAVITY, Robot
from prime_estimation.simulate.robot import SimulatedRobot
from prime_estimation.transport.inprocess import Bus, InProcessTransport

TOPICS = {
    "/joint_states": "sensor_msgs/msg/JointState",
    "/imu": "sensor_msgs/msg/Imu",
    "/simulator/ground_truth": "nav_msgs/msg/Odometry",
    "/clock": "rosgraph_msgs/msg/Clock",
}


def made(speed: float = 0.0):
    """A bus, what is heard on it, and the node."""
    bus, config = Bus(), Config.load("go2")
    robot, me = Robot(config.robot), InProcessTransport(bus, "me")
    heard = {topic: [] for topic in TOPICS}
    for topic, kind in TOPICS.items():
        me.subscribe(topic, kind, lambda m, _, kept=heard[topic]: kept.append(m))
    node = SimulatorNode(
        InProcessTransport(bus, "simulator"),
        SimulatedRobot(robot, config.noise),
        standing_posture(robot),
        speed=speed,
    )
    return node, me, heard, robot


def started(speed: float = 0.0):
    """The same, with the node at work."""
    node, *others = made(speed)
    node.start()
    return node, *others


@pytest.fixture
def world():
    node, *others = started()
    yield others
    node.stop()


def stamps(messages) -> np.ndarray:
    return np.array([1e9 * m.header.stamp.sec + m.header.stamp.nanosec for m in messages])


def test_a_node_that_was_never_started_ends():
    node, _, heard, _ = made()
    node.stop()
    assert node.error is None and not any(heard.values())


def test_sensors_of_a_robot_that_stands(world):
    _, heard, robot = world
    assert wait(lambda: len(heard["/joint_states"]) > 150, 20.0)
    assert not heard["/clock"]
    joints, imu = heard["/joint_states"][-1], heard["/imu"][-1]
    assert list(joints.name) == robot.joint_names
    assert np.median(np.diff(stamps(heard["/joint_states"]))) == pytest.approx(2e6, rel=0.01)
    posture = standing_posture(robot)
    assert np.abs(np.array(joints.position) - posture[7:]).max() < 0.1
    assert imu.linear_acceleration.z == pytest.approx(GRAVITY, abs=1.0)
    assert imu.orientation_covariance[0] == -1.0  # it has none
    height = heard["/simulator/ground_truth"][-1].pose.pose.position.z
    assert height == pytest.approx(posture[2], abs=0.03)


def test_it_obeys(world):
    me, heard, robot = world
    send = me.publish("/mpc/motor_commands", "prime_estimation_msgs/msg/MotorCommands")
    zero, names = np.zeros(12), list(reversed(robot.joint_names))  # any order will do
    knees = np.array([-2.2 if "calf" in name else 0.0 for name in names])
    stiff = np.array([60.0 if "calf" in name else 0.0 for name in names])
    fields = dict(position=knees, velocity=zero, effort=zero, stiffness=stiff, damping=zero + 2.0)
    kind = me.make("prime_estimation_msgs/msg/MotorCommands")
    header = me.make("std_msgs/msg/Header")(
        stamp=me.make("builtin_interfaces/msg/Time")(sec=0, nanosec=0), frame_id=""
    )
    wait(lambda: len(heard["/joint_states"]) > 10, 20.0)
    send(kind(header=header, name=names, **{**fields, "effort": zero + np.nan}))  # no sense
    send(kind(header=header, name=names, **fields))
    knee = robot.joint_names.index("FL_calf_joint")
    assert wait(lambda: abs(heard["/joint_states"][-1].position[knee] + 2.2) < 0.15, 20.0)


def test_time_that_it_gives_has_no_gaps_and_a_pace_of_its_own():
    began = time.monotonic()
    node, _, heard, _ = started(speed=0.2)
    assert wait(lambda: len(heard["/joint_states"]) > 100, 30.0)
    node.stop()
    took, seen = time.monotonic() - began, stamps(heard["/joint_states"])
    assert np.diff(seen) == pytest.approx(2e6, abs=1e3)  # also where the computer is too slow
    ticks = np.array([1_000_000_000 * m.clock.sec + m.clock.nanosec for m in heard["/clock"]])
    assert np.diff(ticks) == pytest.approx(2e6, abs=1)
    assert ticks[-1] >= seen[-1]  # what is measured is not of the future
    assert took > 0.9 * 1e-9 * (seen[-1] - seen[0]) / 0.2


def test_a_simulation_that_ends_is_said(tmp_path, monkeypatch, caplog):
    monkeypatch.chdir(tmp_path)  # MuJoCo writes a log where it is
    robot, failed = Robot.load("go2"), threading.Event()
    simulated = SimulatedRobot(robot, Config.load("go2").noise)
    transport, posture = InProcessTransport(Bus(), "simulator"), standing_posture(robot)
    node = SimulatorNode(transport, simulated, posture, failed=failed.set)
    simulated.obey(JointCommand(*np.full((5, 12), np.nan)))
    node.start()
    assert failed.wait(20.0)
    node.stop()
    assert "became unstable" in str(node.error) and "the simulation has ended" in caplog.text
