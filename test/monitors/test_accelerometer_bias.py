# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Bias of the accelerometer: beyond its prior, the tilt is doubted as much, unless it is told."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest
from helpers.models import robot

from prime_estimation.config.parameters import Config
from prime_estimation.config.policies import ACCELEROMETER_BIAS
from prime_estimation.mhe.problem import Problem
from prime_estimation.mhe.situation import Situation
from prime_estimation.monitors.accelerometer_bias import AccelerometerBias
from prime_estimation.robot import GRAVITY
from prime_estimation.types import Measurement

UPRIGHT = np.array([0.0, 0.0, 0.0, 1.0])


@pytest.fixture(scope="module")
def problem() -> Problem:
    return Problem(robot("go2"), Config.load("go2"))


def seen(problem: Problem, bias, attitude=UPRIGHT, oriented=None, place=False):
    """What the monitor makes of a bias (3,), base axes [m/s2], of a base at this attitude."""
    x = problem.state.zero()
    problem.layout.part(x, "rotation")[:] = attitude
    base_M_imu, _ = problem.imu_motion(x)
    problem.parameter(x, "accelerometer_bias")[:] = base_M_imu.rotation.T @ np.array(bias)
    window = SimpleNamespace(xs=[x], place=SimpleNamespace(measured=place))
    monitor, situation = AccelerometerBias(problem), Situation()
    m = Measurement(0, np.zeros(12), np.zeros(12), np.zeros(3), quat_world_imu=oriented)
    monitor.assess(m, window, situation)
    assert monitor.judge(window, situation) == ""
    return monitor


@pytest.fixture(scope="module")
def most(problem) -> float:
    return ACCELEROMETER_BIAS.most * problem.config.noise.accelerometer_bias


@pytest.mark.parametrize("axis", [0, 1])
def test_a_bias_that_no_accelerometer_has_may_be_a_tilt(problem, most, axis):
    bias = np.zeros(3)
    bias[axis] = 5.0 * most
    monitor = seen(problem, bias)
    tilt = np.zeros(3)
    tilt[1 - axis] = (1.0, -1.0)[axis] * np.sqrt(24.0) * most / GRAVITY
    np.testing.assert_allclose(monitor.tilt, tilt, atol=1e-12)
    (said,) = monitor.health(Situation())
    assert "the tilt may be wrong by" in said.message


def test_a_small_tilt_is_stated_and_not_said(problem, most):
    """A bias just beyond its prior comes and goes; the status does not flicker with it."""
    monitor = seen(problem, [1.01 * most, 0.0, 0.0])
    assert 0.0 < np.linalg.norm(monitor.tilt) < ACCELEROMETER_BIAS.said
    assert monitor.health(Situation()) == ()


def test_such_a_tilt_is_felt_as_that_bias(problem, most):
    """To first order: gravity in a base that is turned by d, less that in the base as thought."""
    attitude = pin.exp3(np.array([0.2, -0.3, 1.0]))
    bias = attitude.T @ np.array([100.0 * most, 50.0 * most, 0.0])  # along the ground
    tilt = seen(problem, bias, pin.Quaternion(attitude).coeffs()).tilt
    felt = np.cross(GRAVITY * attitude.T[:, 2], tilt)
    np.testing.assert_allclose(np.abs(felt @ bias) / (bias @ bias), 1.0, atol=1e-3)


def test_what_is_along_the_vertical_is_no_tilt(problem, most):
    assert not seen(problem, [0.0, 0.0, 5.0 * most]).tilt.any()


def test_a_bias_within_its_prior_is_the_sensors(problem, most):
    monitor = seen(problem, [0.6 * most, -0.6 * most, 0.0])
    assert not monitor.tilt.any() and monitor.health(Situation()) == ()


@pytest.mark.parametrize("told", [dict(oriented=UPRIGHT), dict(place=True)])
def test_where_the_tilt_is_told_the_bias_is_the_sensors(problem, most, told):
    assert not seen(problem, [5.0 * most, 0.0, 0.0], **told).tilt.any()
