# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Poses without orientation, or place: the constant that stands in for it is none."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from helpers.models import config, robot

from prime_estimation.mhe.problem import Problem
from prime_estimation.sensors.fixed_pose import FixedPose
from prime_estimation.types import PoseSample

STEP_NS = 10_000_000
LEVEL = np.array([0.0, 0.0, 0.0, 1.0])


@pytest.fixture(scope="module")
def problem():
    return Problem(robot("go2"), config("go2"), {"mocap"})


def told(problem, rate: float, digits: int | None, nodes: int = 100) -> list[bool]:
    """Of a robot that turns at a rate [rad/s], by poses of which so many digits are known."""
    x = np.zeros(problem.layout.nx)
    problem.layout.part(x, "rotation")[:] = LEVEL
    problem.layout.v(x)[5] = rate
    window, fixed, out = SimpleNamespace(xs=[x]), FixedPose(problem), []
    for k in range(nodes):
        half = 0.5e-9 * STEP_NS * k * rate
        quat = LEVEL if digits is None else np.round([0, 0, np.sin(half), np.cos(half)], digits)
        out.append(fixed.holds(PoseSample(STEP_NS * k, np.full(3, 0.01 * k), quat), window))
    return out


def test_a_constant_while_the_robot_turns(problem):
    wrong = told(problem, 0.5, None)
    assert not any(wrong[:10]) and all(wrong[12:])


@pytest.mark.parametrize("digits", [2, 3, 16])
def test_what_is_rounded_is_no_constant(problem, digits):
    assert not any(told(problem, 0.5, digits))


def test_a_robot_that_goes_straight_ahead_may_keep_it(problem):
    assert not any(told(problem, 0.02, None))


def test_a_place_that_is_none(problem):
    """Of a robot that goes at 0.5 m/s and turns; what is rounded to centimetres is one."""
    x = np.zeros(problem.layout.nx)
    problem.layout.part(x, "rotation")[:] = LEVEL
    problem.layout.v(x)[[0, 5]] = 0.5
    for digits in (None, 2):
        fixed, told = FixedPose(problem), []
        for k in range(100):
            place = np.zeros(3) if digits is None else np.round([0.005 * k, 0.0, 0.3], digits)
            half = 0.0025 * k
            pose = PoseSample(STEP_NS * k, place, np.array([0, 0, np.sin(half), np.cos(half)]))
            told.append(fixed.holds(pose, SimpleNamespace(xs=[x])))
        assert not any(told[:10]) and all(told[12:]) if digits is None else not any(told)
