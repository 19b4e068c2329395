# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""What a controller is told while estimates are late."""

import time
from dataclasses import replace

import numpy as np
import pytest
from helpers.estimates import make_estimate
from helpers.waiting import wait

from prime_estimation.config.parameters import Config
from prime_estimation.io.messages import stamp_ns
from prime_estimation.nodes.streams import JointStream, OdometryStream
from prime_estimation.robot import Robot
from prime_estimation.types import Estimate, Measurement

STEP = 10_000_000  # ns
START = 1000 * STEP
ZEROS = np.array([0.01, -0.02])
ROBOT = Robot(Config.load("go2").robot)  # for the fields that do not matter here


def reading(k: int, **fields) -> Measurement:
    """Of two joints at a node: they turn at 1 and -2 rad/s, their encoders read from `ZEROS`."""
    q = np.array([1.0, -2.0]) * 1e-9 * k * STEP
    return Measurement(START + k * STEP, q + ZEROS, None, None, **fields)


def estimate(k: int) -> Estimate:
    """The estimate at a node, which knows the zeros."""
    q, rate = reading(k).position - ZEROS, np.array([1.0, -2.0])
    return make_estimate(ROBOT, START + k * STEP, joint_position=q, joint_velocity=rate)


class Heard:
    """A stream, and what it has sent."""

    def __init__(self):
        self.sent = []
        self.stream = JointStream(self.sent.append, lambda e: e, 1e-9 * STEP, backlog=4)

    def stamps(self) -> list[int]:
        """Of all that was sent, in steps from the start."""
        return [(e.stamp_ns - START) // STEP for e in self.sent]


@pytest.fixture
def heard():
    h = Heard()
    h.stream.measured(reading(0))
    h.stream.estimated(estimate(0), estimate(0))
    return h


def test_odometry_goes_on_for_a_quarter_of_a_second_without_estimates():
    sent = []
    stream = OdometryStream(sent.append, lambda e: e, rate=100.0)
    stream.estimated(estimate(0), estimate(0))
    for k in range(1, 40):
        stream.predicted(estimate(k))
    assert [(e.stamp_ns - START) // STEP for e in sent] == list(range(25))


def test_odometry_comes_at_the_rate_that_was_asked_for():
    """Of an IMU at 500 Hz every second reading at 250, although stamps are rounded."""
    sent = []
    stream = OdometryStream(sent.append, lambda e: e, rate=250.0)
    first = estimate(0)
    stream.predicted(first)  # there is nothing yet that could be carried on
    stream.estimated(first, first)
    stamps = [START + 2_000_000 * k - 500 * (k % 4 == 2) for k in range(1, 101)]
    for stamp in stamps:
        stream.predicted(replace(first, stamp_ns=stamp))
    assert [e.stamp_ns for e in sent] == [START, *stamps[1::2]]
    stream.forget()
    stream.predicted(estimate(3))
    assert len(sent) == 51


def test_joints_go_on_from_an_estimate_as_late_as_the_backlog():
    """Twice four nodes may wait or be worked on: the readings of all of them are known."""
    h = Heard()
    for k in range(9):
        h.stream.measured(reading(k))
    h.stream.estimated(estimate(0), estimate(0))
    h.stream.measured(reading(9))
    assert h.stamps() == [0, 9]
    assert h.sent[-1].joint_position == pytest.approx(reading(9).position - ZEROS)


def test_joints_are_those_of_all_readings_of_a_step(heard):
    carried = reading(2).position + 0.001
    heard.stream.measured(reading(1))
    heard.stream.measured(reading(2, position_carried=carried))
    assert heard.sent[-1].joint_position == pytest.approx(carried - ZEROS)
    assert heard.sent[-1].joint_velocity == pytest.approx([1.1, -1.9])


def test_joints_go_on_without_estimates(heard):
    for k in range(1, 6):
        heard.stream.measured(reading(k))
    assert heard.stamps() == [0, 2, 3, 4, 5]  # the estimate of the first might still have come
    last = heard.sent[-1]
    assert last.joint_position == pytest.approx(reading(5).position - ZEROS)
    assert last.joint_velocity == pytest.approx([1.0, -2.0]) and last.joint_torque.size == 0
    measured = {"velocity": np.array([3.0, 4.0]), "torque": np.array([5.0, 6.0])}
    heard.stream.measured(replace(reading(6), **measured))
    assert heard.sent[-1].joint_velocity.tolist() == [3.0, 4.0]
    assert heard.sent[-1].joint_torque.tolist() == [5.0, 6.0]


def test_a_late_estimate_is_not_sent_behind_what_was_said(heard):
    for k in range(1, 5):
        heard.stream.measured(reading(k))
    for k in (1, 2, 4):
        heard.stream.estimated(estimate(k), estimate(k))
    heard.stream.measured(reading(5))
    heard.stream.estimated(estimate(5), estimate(5))
    assert heard.stamps() == [0, 2, 3, 4, 5]


def test_nothing_is_said_before_the_first_estimate_nor_after_a_seam(heard):
    heard.stream.forget()
    for k in range(3):
        heard.stream.measured(reading(k))
    heard.stream.measured(Measurement(START + 3 * STEP, None, None, None))
    assert heard.stamps() == [0]


def test_node_says_joints_of_now_while_the_solver_is_behind(graph, messages):
    g = graph()
    g.play(messages[:3000])
    assert wait(lambda: len(g.heard["status"]) > 30)
    update = g.node.estimator.update

    def slow(*args):
        time.sleep(0.2)
        return update(*args)

    g.node.estimator.update = slow
    before = len(g.heard["joint_states"])
    g.play(messages[3000:4000], pace=1e-4)  # 0.3 s of the robot's time
    said = list(g.heard["joint_states"])[before:]
    gap = np.diff([stamp_ns(m.header) for m in said])
    assert len(said) > 15 and (gap > 0).all() and gap.max() <= 2 * STEP
    sensed = [m for role, m in messages[:4000] if role == "joint_states"][-1]
    assert stamp_ns(sensed.header) - stamp_ns(said[-1].header) <= 2 * STEP
    assert np.abs(np.array(said[-1].position) - sensed.position).max() < 0.15
