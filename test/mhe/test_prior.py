# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Priors of single variables, which are never known exactly."""

import crocoddyl
import numpy as np
import pytest
from helpers.models import config, robot
from helpers.windows import GivenWindow

from prime_estimation import _core
from prime_estimation.errors import RobotError
from prime_estimation.mhe.knowledge import renew
from prime_estimation.mhe.problem import Problem
from prime_estimation.robot import Robot


def test_one_variable_becomes_another_and_noise():
    arrival = _core.ActionArrival(crocoddyl.StateVector(3), np.zeros(3), np.diag([4.0, 9.0, 1.0]))
    rows = np.array([[0.5, 0.0, 0.0]])
    arrival.replace_prior([1], rows, np.array([0.3]), np.array([0.2]))
    expected = [[4.0, 2.0, 0.0], [2.0, 1.0 + 0.09, 0.0], [0.0, 0.0, 1.0]]
    np.testing.assert_allclose(arrival.covariance, expected, atol=1e-12)
    np.testing.assert_allclose(arrival.reference, [0.0, 0.2, 0.0])


@pytest.mark.parametrize("wrong", [0.0, -0.1])
def test_a_stddev_of_nothing_changes_nothing(wrong):
    """The root of the covariance would be singular."""
    arrival = _core.ActionArrival(crocoddyl.StateVector(3), np.zeros(3), np.eye(3))
    given = [0, 1], np.zeros((2, 3)), np.array([0.1, wrong]), np.ones(2)
    with pytest.raises(ValueError, match="needs standard deviations above 0"):
        arrival.replace_prior(*given)
    np.testing.assert_array_equal(arrival.covariance, np.eye(3))
    np.testing.assert_array_equal(arrival.reference, np.zeros(3))


def test_windows_refuse_it_too():
    problem = Problem(robot("go2"), config("go2"))
    x = problem.first.neutral()
    window = GivenWindow(problem, [x, x])
    window.arrival = _core.ActionArrival(problem.state, x, np.eye(problem.ndx))
    with pytest.raises(ValueError, match="above 0"):
        renew(window, "friction", [0], 0.0, 0.0)
    with pytest.raises(ValueError, match="above 0"):
        window.tie("height", [2], np.zeros((1, problem.ndx)), np.zeros(1), np.zeros(1))
    np.testing.assert_array_equal(window.arrival.covariance, np.eye(problem.ndx))


def test_negative_deviations_of_joints_are_refused():
    told = {"robot": {"joint_stddev": {"damping/FL_hip_joint": -0.1}}}
    go2 = Robot(config("go2").updated(told).robot)
    with pytest.raises(RobotError, match="joint_stddev of 'damping/FL_hip_joint' is -0.1"):
        Problem(go2, config("go2").updated(told))
