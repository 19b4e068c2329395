# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""What a node says about the sensors that it hears, mishears and misses."""

import threading
import time
from collections import Counter

import numpy as np
import pytest
from helpers.messages import random_message
from helpers.waiting import wait

from prime_estimation.alignment.synchronizer import Synchronizer
from prime_estimation.config.parameters import Config
from prime_estimation.io.messages import MessageReader
from prime_estimation.io.unitree import FAMILIES, LowStateReader, family_of
from prime_estimation.nodes import health as health_module
from prime_estimation.nodes.health import Health
from prime_estimation.nodes.periodic import Periodic
from prime_estimation.nodes.sensors import SensorSubscriptions
from prime_estimation.robot import Robot
from prime_estimation.transport.inprocess import Bus, InProcessTransport

IMU, JOINTS = "sensor_msgs/msg/Imu", "sensor_msgs/msg/JointState"


@pytest.fixture
def bus():
    return Bus()


@pytest.fixture
def health(bus, monkeypatch):
    monkeypatch.setattr(health_module, "STALE_S", 0.05)
    return Health(InProcessTransport(bus, "prime", "robot1", remap={"imu": "/xsens/data"}), "prime")


def listen(health: Health, lowstate: bool = False) -> list:
    taken, robot, transport = [], Robot.load("go2"), health._transport
    split = LowStateReader(family_of("go2"), transport.make) if lowstate else None
    reader = MessageReader(robot.joint_names, lowstate=split)
    config = Config.load("go2").updated({"node": {"mocap": False}}).node
    SensorSubscriptions(transport, robot, config, reader, health, taken.append)
    return taken


def test_a_sensor_that_sends_rubbish_is_not_called_silent(bus, health):
    listen(health)
    message = random_message(IMU, np.random.default_rng(0))
    message.angular_velocity.x = np.nan
    send = InProcessTransport(bus, "driver").publish("/xsens/data", IMU)
    send(message)
    time.sleep(0.1)
    said = health.troubles()["imu"]
    assert said.startswith("nothing usable for") and said.endswith("(NaN or infinite value)")
    message.angular_velocity.x = 0.0
    send(message)
    assert "imu" not in health.troubles()


def test_the_log_names_topics_as_the_graph_does_and_not_our_own_output(bus, health):
    listen(health)
    InProcessTransport(bus, "prime", "robot1").publish("~/joint_states", JOINTS)
    time.sleep(0.1)
    line = health.waiting()
    assert (
        f"expected {IMU.replace('/msg/', '/')} on /xsens/data" in line
        and "on /robot1/joint_states" in line
    )
    assert "topics of that type: none" in line and "/prime/joint_states" not in line


def test_diagnostics_file_counts_under_the_sensor_that_they_are_of(bus, health):
    for role in ("joint_states", "joint_commands", "joint_targets", "imu"):
        health.expect(role, f"/{role}", JOINTS, False)
    said = {
        "joint_held": "joint_states",
        "joint_commands: no efforts": "joint_commands",
        "command_stale": "joint_commands",
        "joint_targets_stale": "joint_targets",
        "imu_stale": "imu",
        "solver: overruns": None,
    }
    array = health.diagnostics(health._transport.make, 0, "running", {}, Counter(said))
    found = {pair.key: s.name.split()[-1] for s in array.status[1:] for pair in s.values}
    assert {reason: found.get(reason) for reason in said} == said


def test_estimates_that_stay_late_are_said(health, monkeypatch):
    now = [time.monotonic()]
    monkeypatch.setattr("prime_estimation.nodes.health.time.monotonic", lambda: now[0])
    said = []
    for latency_ms in (5.0, 400.0, 400.0, 400.0, 5.0, 400.0):
        now[0] += 1.5
        health.estimated(latency_ms)
        array = health.diagnostics(health._transport.make, 0, "running", {}, Counter())
        said.append(array.status[0].message)
    assert said[3].startswith("estimates are 0.4 s late: this computer is too slow")
    assert [text == "running" for text in said] == [True, True, False, False, True, True]


def test_a_lowstate_is_one_message(bus, health):
    taken = listen(health, lowstate=True)
    kind = FAMILIES["unitree_go"].type
    send = InProcessTransport(bus, "dog").publish("/robot1/lowstate", kind)
    low = random_message(kind, np.random.default_rng(0))
    for k in range(10):
        low.tick = 1000 + 2 * k
        send(low)
    assert len(taken) == 20 and health._streams["lowstate"].count == 10


@pytest.mark.parametrize(
    ("offset", "words"),
    [(0.05, "0.05 s ahead of"), (-1.0, "1.00 s behind"), (0.0, ""), (0.015, "")],
)
def test_sensors_on_another_clock_are_named(bus, health, offset, words, monkeypatch):
    now = [1_700_000_000_000_000_000]
    monkeypatch.setattr(health._transport, "now_ns", lambda: now[0])
    listen(health)
    driver, rng = InProcessTransport(bus, "driver"), np.random.default_rng(0)
    joints, imu = random_message(JOINTS, rng), random_message(IMU, rng)
    joints.name = Robot.load("go2").joint_names
    joints.position = joints.velocity = joints.effort = np.zeros(12)
    send_joints = driver.publish("/robot1/joint_states", JOINTS)
    send_imu = driver.publish("/xsens/data", IMU)
    for _ in range(30):
        now[0] += 2_000_000
        # a player is faster or slower than time: only the difference counts
        for message, ahead, send in ((joints, 0.0, send_joints), (imu, offset, send_imu)):
            stamp = now[0] // 3 + round(1e9 * ahead)
            message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, 10**9)
            send(message)
    said = health.troubles().get("imu", "")
    assert said.startswith(f"stamped {words} the joints") if words else not said


def test_reasons_may_come_up_while_others_are_counted():
    """The callbacks of sensors count in one thread, the status is made in others."""

    class Growing(dict):
        def items(self):
            for item in super().items():
                self[f"new_{len(self)}"] = 1
                yield item

    sync = Synchronizer(10_000_000, 12)
    sync.counts = Growing(imu_late=3)
    assert sync.dropped_samples == 3


def test_a_periodic_thread_survives_what_goes_wrong_once(caplog):
    class Clumsy(Periodic):
        passed = 0

        def _work(self):
            self.passed += 1
            if self.passed == 1:
                raise ValueError("broken")

    clumsy = Clumsy(0.01, "clumsy")
    clumsy.start()
    assert wait(lambda: clumsy.passed > 2)
    clumsy.stop()
    assert "clumsy went wrong" in caplog.text and threading.current_thread().is_alive()
