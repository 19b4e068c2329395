# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Health of a node's inputs: each bound just before and just behind it, by a clock of its own."""

from __future__ import annotations

import time
from collections import Counter
from types import SimpleNamespace

import pytest

from prime_estimation.nodes.health import Health
from prime_estimation.transport.inprocess import Bus, InProcessTransport

IMU, JOINTS = "sensor_msgs/msg/Imu", "sensor_msgs/msg/JointState"
MS = 1_000_000  # ns


class Watched:
    """Health of joint states, which must come, and of feet, which may; `clock` is its time [s]."""

    def __init__(self, monkeypatch):
        self.clock = time.monotonic()
        now = SimpleNamespace(monotonic=lambda: self.clock)
        monkeypatch.setattr("prime_estimation.nodes.health.time", now)
        self.bus = Bus()
        self.transport = InProcessTransport(self.bus, "prime", "robot1")
        self.health = Health(self.transport, "go2")
        self.health.expect("joint_states", "/joint_states", JOINTS, True)
        self.health.expect("foot_force", "/foot_force", IMU, False)

    def diagnostics(self):
        """Entries of /diagnostics, the estimator's first."""
        make = self.transport.make
        return self.health.diagnostics(make, 0, "running", {}, Counter()).status


@pytest.fixture
def watched(monkeypatch):
    return Watched(monkeypatch)


def test_what_must_come_is_missed_at_once_and_what_may_once_it_has_come(watched):
    health = watched.health
    watched.clock += 0.29
    assert not health.troubles()
    watched.clock += 0.02
    assert health.troubles() == {"joint_states": "nothing came in 0.3 s"}
    health.heard("joint_states")
    health.heard("foot_force")
    watched.clock += 0.31
    assert set(health.troubles()) == {"joint_states", "foot_force"}
    assert health.troubles()["foot_force"] == "no data for 0.3 s"


def test_what_must_come_is_an_error_and_what_may_is_not(watched):
    health = watched.health
    health.heard("foot_force")
    health.heard("joint_states")
    watched.clock += 0.4
    health.heard("joint_states")
    kind = watched.transport.make("diagnostic_msgs/msg/DiagnosticStatus")
    estimator, joints, feet = watched.diagnostics()
    assert [s.level for s in (estimator, joints, feet)] == [kind.WARN, kind.OK, kind.WARN]
    assert estimator.message == "foot_force: no data for 0.4 s"
    assert estimator.hardware_id == "robot1/go2"
    watched.clock += 0.4
    health.heard("foot_force")
    estimator, joints, feet = watched.diagnostics()
    assert [s.level for s in (estimator, joints, feet)] == [kind.ERROR, kind.ERROR, kind.OK]


@pytest.mark.parametrize("latency_ms, seconds, late", [(101, 2.1, 1), (99, 2.1, 0), (101, 1.9, 0)])
def test_estimates_that_are_late_for_long(latency_ms, seconds, late, watched):
    health = watched.health
    health.estimated(5.0)
    watched.clock += seconds
    health.estimated(latency_ms)
    assert health.late.startswith("estimates are 0.1 s late") == bool(late)
    watched.clock += 2.1  # those that do not come any more are not late
    assert not health.late


def test_estimates_that_cease_while_sensors_talk(watched):
    health, kind = watched.health, watched.transport.make("diagnostic_msgs/msg/DiagnosticStatus")

    def talk(seconds: float) -> None:
        for _ in range(round(10 * seconds)):
            watched.clock += 0.1
            health.heard("joint_states")

    talk(3.0)
    assert not health.ceased  # the first one may take a while
    health.estimated(5.0)
    talk(0.9)
    assert not health.ceased
    talk(0.2)
    assert health.ceased.startswith("no estimate for 1.1 s although")
    assert watched.diagnostics()[0].level == kind.ERROR
    assert health.ceased in health.waiting()
    status = health.standby_status(watched.transport.make, 0, "odom", 0, 0)
    assert health.ceased in [s.message for s in status.sensors]
    watched.clock += 5.0
    assert not health.ceased  # that the sensor is silent is said of the sensor
    talk(0.9)
    assert not health.ceased  # time for a start batch
    talk(0.3)
    health.failure = "the solver failed"
    assert not health.ceased
    health.failure = ""
    assert health.ceased
    health.estimated(5.0)
    assert not health.ceased


@pytest.mark.parametrize("ms, number, told", [(21, 20, 1), (19, 20, 0), (21, 19, 0)])
def test_another_clock_is_told_by_messages_in_a_row(ms, number, told, watched):
    health = watched.health
    for k in range(number):
        now = 10_000 * MS + k * MS
        health.stamped("joint_states", now, now)
        health.stamped("foot_force", now - ms * MS, now)
        health.heard("joint_states")
        health.heard("foot_force")
    said = health.troubles().get("foot_force", "")
    assert said.startswith("stamped 0.02 s behind the joints") == bool(told)
    watched.clock += 0.4  # silence is worse
    assert health.troubles()["foot_force"].startswith("no data")


def test_messages_that_are_missing_by_the_sensors_own_counter(watched):
    watched.health.skipped("joint_states", 7)
    assert watched.health.lost() == {"joint_states: lost on the way": 7}
    said = {pair.key: pair.value for pair in watched.diagnostics()[1].values}
    assert said["lost on the way"] == "7"


def test_another_node_of_this_name(watched):
    watched.transport.publish("~/status", JOINTS)
    watched.health.measure()
    assert watched.health.rival == ""
    InProcessTransport(watched.bus, "prime", "robot1").publish("~/status", JOINTS)
    watched.health.measure()
    assert watched.health.rival.startswith("2 publishers on /robot1/prime/status")
