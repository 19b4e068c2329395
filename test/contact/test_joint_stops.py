# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Joints that are pressed against their stops."""

import numpy as np
import pytest
from helpers import models

from prime_estimation.config.policies import UNMODELLED
from prime_estimation.contact.joint_stops import JointStops

CALF = 2


@pytest.fixture(scope="module")
def robot():
    return models.robot("go2")


@pytest.mark.parametrize(
    "end, away, torque, pressed",
    [
        ("upper", 0.0, 9.0, True),
        ("upper", 0.02, 9.0, True),  # stops yield
        ("upper", -0.005, 9.0, True),
        ("upper", 0.0, -9.0, False),  # its motor draws it away
        ("upper", -0.02, 9.0, False),  # not there yet
        ("upper", 0.2, 9.0, False),  # its stop is not where the URDF has it
        ("lower", 0.0, -9.0, True),
        ("lower", -0.02, -9.0, True),
        ("lower", 0.0, 9.0, False),
        ("lower", 0.02, -9.0, False),
    ],
)
def test_a_motor_presses_its_joint_against_a_stop(robot, end, away, torque, pressed):
    lower, upper = robot.joint_range
    q, torques = np.tile([0.0, 0.8, -1.5], 4), np.full(robot.nj, 5.0)
    q[CALF] = {"lower": lower, "upper": upper}[end][CALF] + away
    torques[CALF] = torque
    expected = np.zeros(robot.nj, bool)
    expected[CALF] = pressed
    np.testing.assert_array_equal(JointStops(robot).pressed(q, torques), expected)


@pytest.mark.parametrize(
    "end, away, rate, holding",
    [
        ("upper", 0.0, 0.02, True),
        ("upper", 0.015, -0.02, True),  # stops yield
        ("upper", -0.005, 0.02, True),
        ("lower", 0.0, 0.0, True),
        ("upper", 0.0, -0.3, False),  # leaving
        ("upper", -0.02, 0.0, False),  # not there yet
        ("upper", 0.2, 0.0, False),  # its stop is not where the URDF has it
        ("upper", 0.0, None, False),  # no rate tells that it rests
    ],
)
def test_a_stop_may_hold_a_joint_at_rest_whose_motor_draws_it_away(robot, end, away, rate, holding):
    """What weighs on a trunk that leans on the stop of its waist is more than its motor holds."""
    lower, upper = robot.joint_range
    q, torques, rates = np.tile([0.0, 0.8, -1.5], 4), np.full(robot.nj, 5.0), np.zeros(robot.nj)
    q[CALF] = {"lower": lower, "upper": upper}[end][CALF] + away
    torques[CALF] = {"lower": 9.0, "upper": -9.0}[end]
    rates[CALF] = 0.0 if rate is None else rate
    stops, expected = JointStops(robot), np.zeros(robot.nj, bool)
    expected[CALF] = holding
    np.testing.assert_array_equal(
        stops.holding(q, torques, None if rate is None else rates), expected
    )
    torques[CALF], rates[CALF] = -torques[CALF], 3.0  # pressed, it need not rest
    assert stops.holding(q, torques, rates)[CALF] == stops.pressed(q, torques)[CALF]


def test_how_near_is_near_may_be_said(robot):
    _, upper = robot.joint_range
    q = np.tile([0.0, 0.8, upper[CALF] - 0.02], 4)
    torque = np.full(robot.nj, 5.0)
    assert not JointStops(robot).pressed(q, torque).any()
    assert JointStops(robot, UNMODELLED.stop).pressed(q, torque)[CALF::3].all()


def test_joints_without_an_end_have_no_stop():
    """A continuous joint, and one whose range the URDF leaves out."""
    robot = models.robot("kinova")
    lower, upper = robot.joint_range
    assert np.isinf(upper).any()
    q = np.where(np.isinf(upper), 100.0, upper)
    pressed = JointStops(robot).pressed(q, np.ones(robot.nj))
    np.testing.assert_array_equal(pressed, np.isfinite(upper))
