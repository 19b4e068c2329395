# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Supervisor: when the robot may move, what stops it, and that it stays stopped."""

import threading
import time
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from prime_estimation.control.motion_types import Plan
from prime_estimation.control.parameters import ControlConfig
from prime_estimation.control.supervisor import Mode, Supervisor

MS = 1_000_000
POSE, REST = np.array([0.0, 0.0, 0.3, 0.0, 0.0, 0.0, 1.0]), np.zeros(6)


def plan(stamp_ns: int, value: float = 0.0) -> Plan:
    fields = dict(states=np.full((3, 37), value), torques=np.zeros((2, 12)))
    rest = dict(gains=np.zeros((2, 12, 36)), stands=np.ones((2, 4), bool))
    return Plan(stamp_ns, 0.02, **fields, **rest, forces=np.zeros((4, 3)), points=np.zeros((4, 3)))


class Walking:
    """A supervisor of a robot that walks, with a clock."""

    def __init__(self):
        self.now, self.supervisor = 0, Supervisor(ControlConfig())
        self.tell()
        assert self.supervisor.ready(0)
        self.supervisor.begin(0, 0.32, 0.33)

    def tell(self, pose=POSE, joints=0.0) -> None:
        self.supervisor.odometry(self.now, np.array(pose), REST)
        self.supervisor.joints(self.now, np.full(12, joints), np.zeros(12))
        self.supervisor.plan(plan(self.now))

    def after(self, ms: float) -> Mode:
        self.now += round(ms * MS)
        return self.supervisor.judge(self.now)


@pytest.fixture
def walking() -> Walking:
    return Walking()


def test_it_moves_while_it_is_told_about(walking):
    for _ in range(20):
        assert walking.after(20.0) is Mode.ACTIVE
        walking.tell()


def test_what_it_goes_on_without_is_said(walking):
    supervisor = walking.supervisor
    assert supervisor.doubt(walking.now) == (
        "no contact forces yet; feet are taken to do as scheduled"
    )
    assert supervisor.contacts(walking.now, np.full(4, 40.0))
    assert not supervisor.doubt(walking.now + 100 * MS)
    assert not supervisor.contacts(walking.now + 50 * MS, np.array([40.0, np.nan, 40.0, 40.0]))
    assert supervisor.refused == 1
    assert supervisor.doubt(walking.now + 110 * MS).startswith("no contact forces for 110 ms")
    supervisor.stop("by hand")
    assert not supervisor.doubt(walking.now + 110 * MS)


@pytest.mark.parametrize("silent", ("odometry", "joint states", "plan"))
def test_silence_stops_it_for_good(walking, silent):
    for _ in range(30):
        mode = walking.after(10.0)
        if mode is not Mode.ACTIVE:
            break
        if silent != "odometry":
            walking.supervisor.odometry(walking.now, POSE, REST)
        if silent != "joint states":
            walking.supervisor.joints(walking.now, np.zeros(12), np.zeros(12))
        if silent != "plan":
            walking.supervisor.plan(plan(walking.now))
    assert mode is Mode.DAMPING and silent in walking.supervisor.reason
    walking.tell()
    assert walking.after(1.0) is Mode.DAMPING
    command = walking.supervisor.braking(12)
    assert not command.kp.any() and not command.effort.any() and (command.kd > 0.0).all()


def test_what_is_not_finite_is_silence(walking):
    supervisor = walking.supervisor
    assert not supervisor.odometry(MS, np.full(7, np.nan), REST)
    assert not supervisor.odometry(MS, POSE, np.full(6, np.inf))
    assert not supervisor.joints(MS, np.full(12, np.nan), np.zeros(12))
    assert not supervisor.plan(plan(MS, np.nan))
    assert supervisor.refused == 4 and walking.after(50.0) is Mode.ACTIVE
    assert walking.after(60.0) is Mode.DAMPING


@pytest.mark.parametrize("part", ("states", "torques", "gains"))
def test_no_part_of_a_plan_may_be_none(walking, part):
    good = plan(0)
    bad = getattr(good, part).copy()
    bad.flat[-1] = np.nan
    assert walking.supervisor.plan(good) and not walking.supervisor.plan(
        replace(good, **{part: bad})
    )
    assert walking.supervisor.refused == 1


@pytest.mark.parametrize(
    ("height", "mode"), [(0.19, "WAITING"), (0.2, "ACTIVE"), (0.41, "WAITING")]
)
def test_it_begins_at_the_height_of_a_robot_that_stands(height, mode):
    supervisor = Supervisor(ControlConfig())
    supervisor.odometry(0, POSE, REST)
    supervisor.joints(0, np.zeros(12), np.zeros(12))
    assert supervisor.begin(0, height, 0.33) is Mode[mode]


def test_a_robot_that_falls_is_stopped(walking):
    for roll in (0.4, 0.8, 1.0):
        quat = pin.Quaternion(pin.rpy.rpyToMatrix(roll, 0.0, 0.0)).coeffs()
        walking.tell(np.array([0.0, 0.0, 0.3, *quat]))
        mode = walking.after(1.0)
        assert (mode is Mode.DAMPING) == (roll > 0.9)
    assert "tilted by 57" in walking.supervisor.reason


def test_odometry_that_jumps_stops_it(walking):
    walking.tell(POSE + [0.05, 0, 0, 0, 0, 0, 0])
    assert walking.after(1.0) is Mode.ACTIVE
    walking.tell(POSE + [1.0, 0, 0, 0, 0, 0, 0])
    assert walking.after(1.0) is Mode.DAMPING and "jumped by 0.95 m" in walking.supervisor.reason


def test_odometry_that_turns_at_once_stops_it(walking):
    def turned(yaw):
        quat = pin.Quaternion(pin.rpy.rpyToMatrix(0.0, 0.0, yaw)).coeffs()
        return np.array([0.0, 0.0, 0.3, *quat])

    for yaw in (0.3, -0.1):
        walking.tell(turned(yaw))
        assert walking.after(1.0) is Mode.ACTIVE
    walking.tell(-turned(-0.1) + [0.0, 0.0, 0.6, 0.0, 0.0, 0.0, 0.0])  # the same rotation
    assert walking.after(1.0) is Mode.ACTIVE
    walking.tell(turned(3.0))
    assert walking.after(1.0) is Mode.DAMPING
    assert "turned by 178 degrees at once" in walking.supervisor.reason


@pytest.mark.parametrize("seconds", (-10.0, 11.0, 1e8))
def test_a_clock_that_is_set_stops_it(walking, seconds):
    assert walking.after(1e3 * seconds) is Mode.DAMPING
    assert "clock" in walking.supervisor.reason


def test_states_from_the_future_are_none():
    supervisor = Supervisor(ControlConfig())
    assert not supervisor.ready(0) and supervisor.reason == "no odometry and no joint states yet"
    supervisor.odometry(3_600_000 * MS, POSE, REST)
    assert not supervisor.ready(0) and supervisor.reason == "no joint states yet"
    supervisor.joints(0, np.zeros(12), np.zeros(12))
    assert not supervisor.ready(0)
    assert "odometry stamped 3.6e+03 s ahead: another clock" in supervisor.reason
    supervisor.odometry(-150 * MS, POSE, REST)
    assert not supervisor.ready(0) and supervisor.reason == "no odometry for 150 ms"
    supervisor.odometry(50 * MS, POSE, REST)
    assert supervisor.ready(0)


def test_a_robot_that_moves_is_not_to_be_resumed(walking):
    assert not walking.supervisor.resume()
    assert walking.after(1.0) is Mode.ACTIVE
    walking.supervisor.stop("emergency stop")
    assert walking.supervisor.resume() and walking.after(1.0) is Mode.WAITING


def test_why_a_tilted_robot_does_not_stand():
    supervisor = Supervisor(ControlConfig())
    quat = pin.Quaternion(pin.rpy.rpyToMatrix(0.5, 0.0, 0.0)).coeffs()
    supervisor.odometry(0, np.array([0.0, 0.0, 0.3, *quat]), REST)
    supervisor.joints(0, np.zeros(12), np.zeros(12))
    assert supervisor.begin(0, 0.32, 0.33) is Mode.WAITING
    assert supervisor.reason == "it does not stand: tilted by 29 degrees, 23 at most"


def test_a_stopped_robot_resumes_only_when_it_stands(walking):
    walking.supervisor.stop("emergency stop")
    walking.supervisor.stop("another reason")
    assert walking.supervisor.reason == "emergency stop"
    walking.supervisor.resume()
    assert walking.after(1.0) is Mode.WAITING and not walking.supervisor.ready(walking.now)
    walking.tell()
    assert walking.supervisor.ready(walking.now)
    assert walking.supervisor.begin(walking.now, 0.12, 0.33) is Mode.WAITING
    assert "does not stand" in walking.supervisor.reason
    assert walking.supervisor.begin(walking.now, 0.31, 0.33) is Mode.ACTIVE


def test_a_stop_while_it_arms_stays_a_stop():
    """Between the look at a robot that waits and the moment from which it may move."""
    supervisor = Supervisor(ControlConfig())
    supervisor.odometry(0, POSE, REST)
    supervisor.joints(0, np.zeros(12), np.zeros(12))
    assert supervisor.ready(0)
    supervisor.stop("emergency stop")
    assert supervisor.begin(0, 0.31, 0.33) is Mode.DAMPING
    assert supervisor.reason == "emergency stop"
    supervisor.resume()
    assert supervisor.begin(0, 0.31, 0.33) is Mode.WAITING  # of which nothing is known any more


def test_messages_commands_and_stops_in_threads_of_their_own():
    """Whatever comes between, nothing fails, and what was stopped last stays so."""
    supervisor, failed, end = Supervisor(ControlConfig()), [], threading.Event()

    def again(act):
        try:
            while not end.is_set():
                act()
        except Exception as error:  # noqa: BLE001 - told by the test
            failed.append(error)

    def tell():
        supervisor.odometry(0, POSE, REST)
        supervisor.joints(0, np.zeros(12), np.zeros(12))

    def arm():
        if supervisor.ready(0):
            supervisor.begin(0, 0.31, 0.33)

    acts = tell, arm, lambda: supervisor.judge(0), supervisor.resume
    threads = [threading.Thread(target=again, args=(act,)) for act in acts]
    for thread in threads:
        thread.start()
    time.sleep(0.3)
    end.set()
    for thread in threads:
        thread.join()
    assert not failed
