# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Plausibility: units, order of joints, axes and clocks, told of readings alone."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pinocchio as pin
import pytest

from prime_estimation.policy.joint_order import JointArrays
from prime_estimation.recordings.plausibility import Plausibility
from prime_estimation.robot import Robot
from prime_estimation.types import ImuSample, JointSample

STANCE = {"go2": np.array([0.0, 0.8, -1.5] * 4), "g1": None}
TILT = pin.exp3(np.array([0.2, -0.1, 0.4]))
UP = 9.81 * TILT.T[:, 2]


@cache
def robot(name: str) -> Robot:
    return Robot.load(name)


def fed(name="go2", position=None, gyro=(0.3, 0.2, 0.1), force=UP, quat=None, late=0, end=1.0):
    """Having seen a second of constant readings."""
    looks = Plausibility(robot(name))
    for stamp in range(0, round(1e9 * end), 2_000_000):
        looks.take(JointSample(stamp - late, STANCE[name] if position is None else position))
        looks.take(ImuSample(stamp, np.array(gyro), np.array(force), quat))
    return looks


def orientation(turn=np.eye(3)) -> np.ndarray:
    return np.array(pin.Quaternion(turn @ TILT).coeffs())


def test_right_readings_are_not_doubted():
    looks = fed(quat=orientation())
    assert looks.doubts == looks.hints == [] and looks.apart == ""
    assert fed(end=0.1).doubts == []  # too few to tell
    assert fed(force=np.zeros(3), end=0.1).doubts == []


@pytest.mark.parametrize(
    "wrong, words",
    [
        (dict(position=np.degrees(STANCE["go2"])), "joint positions reach 86 rad.*in degrees"),
        (dict(force=UP / 9.81), "reads 1 m/s.2 in the mean, gravity is 9.81: is it in g"),
        (dict(force=0.2 * UP), "is gravity taken out, or the unit wrong"),
        (dict(gyro=(40.0, 3.0, 0.0)), "gyro reads 40 rad/s in the median: is it in degrees/s"),
        (dict(quat=orientation(np.diag([1.0, -1.0, -1.0]))), "differ by 180 degrees in where up"),
        (dict(quat=np.roll(orientation(), 1)), "order of its quaternion"),
    ],
)
def test_what_readings_cannot_be(wrong, words):
    (doubt,) = fed(**wrong).doubts
    assert re.search(words, doubt), doubt


@pytest.mark.parametrize(
    "moved, noise, dead", [(0.5, 0.0, True), (0.5, 1e-6, False), (0.0, 0.0, False)]
)
def test_an_imu_that_says_the_same_while_joints_move(moved, noise, dead):
    looks = Plausibility(robot("go2"))
    for k in range(800):
        position = STANCE["go2"] + moved * np.sin(0.01 * k)
        looks.take(JointSample(2_000_000 * k, position))
        looks.take(ImuSample(2_000_000 * k, np.full(3, 0.1 + noise * (k % 9)), UP))
    told = "the IMU has said the same for 64 readings while joints move: is it dead?"
    assert looks.doubts == [told] * dead


def test_joints_in_another_order_stand_beyond_their_ranges():
    own = JointArrays(robot("go2"), "isaac_lab")
    (doubt,) = fed(position=own.to_robot(STANCE["go2"])).doubts
    assert "beyond its range of" in doubt and "order of the joints" in doubt


def test_a_robot_on_its_back_is_hinted_at_only():
    """It may lie there; an accelerometer that reads the other sign looks the same."""
    looks = fed(force=-UP)
    assert looks.doubts == [] and "+9.81 m/s^2 upwards" in looks.hints[0]


def test_an_orientation_that_is_none_is_not_compared():
    assert fed(quat=np.zeros(4)).doubts == []


@pytest.mark.parametrize(
    "late, words",
    [(60_000_000, "60 ms before the IMU"), (-(10**12), "1000 s after the IMU"), (40_000_000, "")],
)
def test_streams_that_have_no_time_in_common(late, words):
    said = fed(late=late).apart
    assert words in said and bool(said) == bool(words)


def test_one_glitch_is_no_doubt():
    looks = fed(quat=orientation())
    looks.take(ImuSample(1_000_000_000, np.full(3, 1e3), np.array([1e3, 0.0, 0.0]), orientation()))
    looks.take(JointSample(1_000_000_000, np.full(12, 50.0)))
    looks.take(JointSample(1_050_000_000, np.full(12, np.nan)))
    looks.take(ImuSample(1_050_000_000, np.full(3, np.inf), UP))
    for k in range(20):
        looks.take(JointSample(1_100_000_000 + 20_000_000 * k, STANCE["go2"]))
    assert looks.doubts == []


@pytest.mark.parametrize(
    "rate, noise, stopped", [(0.8, 0.0, True), (0.8, 1e-6, False), (0.3, 0.0, False)]
)
def test_joints_that_say_the_same_while_the_imu_turns(rate, noise, stopped):
    looks = Plausibility(robot("go2"))
    for k in range(400):
        looks.take(JointSample(2_000_000 * k, STANCE["go2"] + noise * (k % 9)))
        turns = rate * np.array([1.0, 0.0, 0.1 * (-1.0) ** k])
        looks.take(ImuSample(2_000_000 * k, turns, UP))
    told = "the joints have said the same for 32 readings while the IMU turns: do they live?"
    assert looks.doubts == [told] * stopped
