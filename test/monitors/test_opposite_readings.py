# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""A gyro of the opposite sign and exchanged legs are named early; right readings never are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from helpers.models import problem
from helpers.runs import measurements

from prime_estimation.config.parameters import Config
from prime_estimation.config.policies import OPPOSITE
from prime_estimation.mhe.problem import Problem
from prime_estimation.mhe.situation import ON_ITS_FEET
from prime_estimation.monitors.opposite_readings import OppositeReadings
from prime_estimation.policy.observer import StateObserver
from prime_estimation.robot import Robot
from prime_estimation.types import ImuSample, JointSample

FRONT, REAR = ("FL", "FR"), ("RL", "RR")


def negated(m):
    return replace(m, gyro=-m.gyro)


def exchanging(robot, *pairs):
    """Spoils measurements: readings of one leg under the names of the other."""
    names = robot.joint_names
    there = {a: b for pair in pairs for a, b in (pair, pair[::-1])}
    leg = len(names[0].split("_")[0])
    order = [names.index(there.get(name[:leg], name[:leg]) + name[leg:]) for name in names]
    parts = ("position", "velocity", "torque")
    return lambda m: replace(m, **{part: getattr(m, part)[order] for part in parts})


def watch(run, spoil=lambda robot: lambda m: m, seconds=15.0, first=0):
    """The monitor after a run, and the node at which it first found a mistake."""
    config = Config.load(run.name.split("_")[0])
    robot = Robot(config.robot)
    monitor = OppositeReadings(Problem(robot, config, set(), holds=True))
    spoilt = spoil(robot)
    for node, m in enumerate(measurements(run, robot, config, seconds, mocap=False)[first:]):
        monitor.assess(spoilt(m), None, ON_ITS_FEET)
        if monitor.mistake is not None:
            return monitor, node
    return monitor, None


def learned(nodes: int, as_read: float, loss: float, monitor=None) -> OppositeReadings:
    """The monitor after nodes with these losses as read, and with the gyro's sign turned."""
    monitor = monitor or OppositeReadings(problem("go2"))
    for _ in range(nodes):
        monitor._learn(0, as_read, loss)
        monitor._decide()
    return monitor


def test_a_mistake_takes_nodes_that_tell_and_ends_when_it_is_mended():
    few = int(OPPOSITE.told * 1.1)  # what was told fades a little
    assert learned(few // 2, 0.9, 0.1).mistake is None
    monitor = learned(2 * few, 0.9, 0.1)
    assert monitor.said.startswith("the gyro has the opposite sign")
    assert learned(few // 2, 0.1, 0.9, monitor).mistake is not None
    assert learned(int(OPPOSITE.memory), 0.1, 0.9, monitor).mistake is None


@pytest.mark.parametrize("losses", [(0.9, 0.8), (0.4, 0.1)])
def test_nodes_in_which_both_can_be_or_none_tell_nothing(losses):
    """Though their mean difference, of the latter, is nearly that of a mistake."""
    monitor = learned(1000, *losses)
    assert monitor.mistake is None and monitor._told[0] == 0.0


def test_what_is_right_is_not_looked_at_for_ever():
    monitor = OppositeReadings(problem("go2"))
    for k in range(len(monitor._mistakes)):
        for _ in range(2 * int(OPPOSITE.told)):
            monitor._learn(k, 0.1, 0.9)
            monitor._decide()
    assert not monitor._open and not monitor._looks and not monitor.said
    np.testing.assert_array_less(0.0, monitor._worse)


@pytest.mark.parametrize(
    "spoil, said",
    [
        (lambda robot: negated, "the gyro has the opposite sign"),
        (lambda robot: exchanging(robot, FRONT), "legs of FL_foot and FR_foot are exchanged"),
        (lambda robot: exchanging(robot, REAR), "legs of RL_foot and RR_foot are exchanged"),
        (
            lambda robot: exchanging(robot, FRONT, REAR),
            "legs of FL_foot and FR_foot, RL_foot and RR_foot are exchanged",
        ),
    ],
)
def test_what_is_mistaken_within_half_a_second_of_a_trot(spoil, said, recorded_runs):
    monitor, node = watch(recorded_runs / "go2_payload3", spoil, 4.0, first=200)
    assert said in monitor.said and node < 50
    assert [s.message for s in monitor.health(ON_ITS_FEET)] == [monitor.said]


def test_one_foot_tells_the_sign_of_a_humanoids_gyro(recorded_runs):
    monitor, node = watch(recorded_runs / "g1_walk_nominal", lambda robot: negated, 6.0, first=200)
    assert "opposite sign" in monitor.said and node < 150


@pytest.mark.parametrize(
    "run",
    [
        "go2_payload3",
        "go2_lift_payload3",
        "go2_fall_payload2",
        "go2_stairs_payload3",
        "go2_soft_payload3",
        "go1_bumps_payload3",
        "g1_dance102_nominal",
    ],
)
def test_right_readings_are_not_doubted(run, recorded_runs):
    monitor, node = watch(recorded_runs / run)
    assert node is None and not monitor.said and not monitor.health(ON_ITS_FEET)


def test_what_is_mended_is_not_said_any_more(recorded_runs):
    config = Config.load("go2")
    robot = Robot(config.robot)
    monitor = OppositeReadings(Problem(robot, config, set(), holds=True))
    ms = measurements(recorded_runs / "go2_payload3", robot, config, 8.0, mocap=False)
    for m in ms[200:300]:
        monitor.assess(negated(m), None, ON_ITS_FEET)
    assert monitor.said
    for m in ms[300:]:
        monitor.assess(m, None, ON_ITS_FEET)
    assert not monitor.said


def test_a_state_is_not_valid_with_exchanged_legs(recorded_runs):
    observer = StateObserver("go2", threaded=False)
    spoilt = exchanging(observer.robot, FRONT, REAR)
    valid, last = 0, None
    ms = measurements(recorded_runs / "go2_payload3", observer.robot, Config.load("go2"), 4.0)
    for m in map(spoilt, ms[2:]):
        observer.push(JointSample(m.stamp_ns, m.position, m.velocity, m.torque))
        observer.push(ImuSample(m.stamp_ns, m.gyro, m.accelerometer))
        last = observer.state()
        valid += last.valid
    assert not last.valid and valid < 60
