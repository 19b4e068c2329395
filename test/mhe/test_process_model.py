# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Sizes of a node's disturbances: what the ground adds to those of its feet."""

import numpy as np
import pytest

from prime_estimation.config.parameters import Config
from prime_estimation.config.policies import TERRAIN
from prime_estimation.mhe.problem import Problem
from prime_estimation.robot import Robot
from prime_estimation.types import Measurement


def contact_stddevs(robot: str, softness: float) -> tuple[np.ndarray, np.ndarray]:
    """Standard deviations (nf, rows) of contact velocities as configured, and on soft ground."""
    config = Config.load(robot)
    problem = Problem(Robot(config.robot), config)
    given = problem.node().input
    problem.process.unmeasured(given)
    before, feet = 1.0 / given.nominal_xi, problem.dynamics.nfeet
    problem.process.expect_motion(given, np.zeros(feet, bool), softness)
    np.testing.assert_array_equal(given.weight_xi, given.nominal_xi)
    return before.reshape(feet, -1), (1.0 / given.nominal_xi).reshape(feet, -1)


@pytest.mark.parametrize("robot", ["go2", "g1"])
def test_feet_on_soft_ground_move_as_no_law_has_it(robot):
    before, after = contact_stddevs(robot, 2.0)
    added = 2.0 * np.array([TERRAIN.soft_tangential] * 2 + [TERRAIN.soft_normal])
    np.testing.assert_allclose(after[:, :3], np.hypot(before[:, :3], added))
    np.testing.assert_array_equal(after[:, 3:], before[:, 3:])  # a sole turns no more than on hard


@pytest.mark.parametrize("softness", [0.0, -0.1])
def test_on_hard_ground_they_stand(softness):
    before, after = contact_stddevs("go2", softness)
    np.testing.assert_array_equal(after, before)


def test_feet_that_come_down_or_creep_move_alone():
    config = Config.load("go2")
    problem = Problem(Robot(config.robot), config)
    given = problem.node().input
    problem.process.unmeasured(given)
    before = 1.0 / given.nominal_xi.reshape(4, 3)
    lands, creep = np.array([False, True, False, False]), np.array([0.0, 0.0, 0.3, 0.0])
    problem.process.expect_motion(given, lands, creep=creep)
    after = 1.0 / given.nominal_xi.reshape(4, 3)
    np.testing.assert_allclose(after[1], config.noise.contact_landing * before[1])
    np.testing.assert_allclose(after[2], np.hypot(before[2], 0.3))
    np.testing.assert_array_equal(after[[0, 3]], before[[0, 3]])


def test_a_stop_may_take_what_its_motor_presses():
    """A knee at its stop: what the links get lies between zero and the reading."""
    config = Config.load("go2")
    problem = Problem(robot := Robot(config.robot), config)
    given, (_, upper), calf = problem.node().input, robot.joint_range, 2
    position, torque = np.tile([0.0, 0.8, -1.5], 4), np.full(robot.nj, 20.0)
    position[calf] = upper[calf]
    problem.process.complete(given, Measurement(0, position, None, None, torque=torque))
    stddev = 1.0 / given.nominal_force[-robot.nj :]
    assert stddev[calf] == pytest.approx(np.hypot(20.0, stddev[calf + 3]))
    assert (np.delete(stddev, calf) < 1.0).all()


def test_a_stop_may_hold_more_than_the_motor_that_draws_its_joint_away():
    config = Config.load("go2")
    problem = Problem(robot := Robot(config.robot), config)
    given, (_, upper), calf = problem.node().input, robot.joint_range, 2
    position, torque = np.tile([0.0, 0.8, -1.5], 4), np.full(robot.nj, -20.0)
    position[calf] = upper[calf]
    for rate, held in ((0.0, True), (0.3, False)):
        m = Measurement(0, position, np.full(robot.nj, rate), None, torque=torque)
        problem.process.complete(given, m)
        stddev = 1.0 / given.nominal_force[-robot.nj :]
        assert (stddev[calf] > 20.0) == held
