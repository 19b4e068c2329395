# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Sizes of a node's disturbances: what the ground adds to those of its feet."""

import numpy as np
import pytest

from prime_estimation.config.parameters import Config
from prime_estimation.config.policies import LIFT, TERRAIN
from prime_estimation.mhe.measurement_model import OUT_OF_REACH
from prime_estimation.mhe.problem import Problem
from prime_estimation.mhe.process_model import GROUND_UNKNOWN, UNSEEN, UNWEIGHED_ARM
from prime_estimation.mhe.situation import Situation
from prime_estimation.robot import GRAVITY, Robot
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


@pytest.mark.parametrize(("robot", "configured"), [("go2", 0.008), ("go2", 0.05), ("g1", 0.05)])
def test_feet_may_give_way_under_loads_that_nothing_tells(robot, configured):
    config = Config.load(robot).updated({"noise": {"contact_normal": configured}})
    problem = Problem(Robot(config.robot), config)
    given, feet = usual(problem), problem.dynamics.nfeet
    before = 1.0 / given.nominal_xi.reshape(feet, -1)
    problem.process.expect_motion(given, np.zeros(feet, bool), untold=True)
    before[:, 2] = max(configured, TERRAIN.untold_normal)
    np.testing.assert_allclose(1.0 / given.nominal_xi.reshape(feet, -1), before)
    np.testing.assert_array_equal(given.weight_xi, given.nominal_xi)


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


@pytest.fixture(scope="module")
def go2() -> Problem:
    config = Config.load("go2")
    return Problem(Robot(config.robot), config)


def usual(problem: Problem):
    """Input of a node of which nothing is measured yet."""
    given = problem.node().input
    problem.process.unmeasured(given)
    return given


def forces(given) -> np.ndarray:
    """(nv,) standard deviations of generalized forces, those with robust weights as nominal."""
    np.testing.assert_array_equal(given.weight_force, given.nominal_force)
    return 1.0 / given.nominal_force


def velocities(given) -> np.ndarray:
    """(nf, 3) standard deviations of contact velocities [m/s]."""
    return 1.0 / given.nominal_xi.reshape(4, 3)


def test_a_push_is_as_large_as_the_noise_at_least(go2):
    given, weight = usual(go2), GRAVITY * go2.robot.total_mass
    before = forces(given)
    go2.process.leave_pushed(given, 0.3, 0.0)
    np.testing.assert_allclose(forces(given)[:2], 0.3 * weight)
    np.testing.assert_array_equal(forces(given)[2:], before[2:])
    go2.process.leave_pushed(given, 1e-6, 0.1)  # none takes away from another
    np.testing.assert_allclose(forces(given)[:3], weight * np.array([0.3, 0.3, 0.1]))


def test_a_push_that_is_told_late_leaves_outliers_their_weights(go2):
    given = usual(go2)
    weight = given.nominal_force.copy()
    weight[[0, -1]] *= 0.1
    given.weight_force = weight
    go2.process.leave_pushed(given, 0.3, 0.0)
    np.testing.assert_allclose(given.weight_force[:2], given.nominal_force[:2])
    np.testing.assert_array_equal(given.weight_force[2:], weight[2:])


def test_without_torques_the_centre_of_what_is_carried_is_not_known(go2):
    given = usual(go2)
    before = forces(given)
    go2.process.expect_unknown_load(given)
    moment = UNWEIGHED_ARM * GRAVITY * go2.robot.total_mass
    np.testing.assert_allclose(forces(given)[3:6], np.hypot(before[3:6], moment))
    np.testing.assert_array_equal(np.delete(forces(given), [3, 4, 5]), np.delete(before, [3, 4, 5]))


@pytest.mark.parametrize("tangential", [False, True])
def test_a_creeping_foot_may_keep_its_distance_from_the_ground(go2, tangential):
    """Weights that outliers among the other feet have lost stay so."""
    given = usual(go2)
    before, outlier = velocities(given), given.weight_xi.copy()
    outlier[0] *= 0.1
    given.weight_xi = outlier
    go2.process.expect_creep(given, np.array([0.0, 0.0, 0.3, 0.0]), tangential)
    added = [0.3, 0.3, 0.0 if tangential else 0.3]
    expected = before.copy()
    expected[2] = np.hypot(before[2], added)
    np.testing.assert_allclose(velocities(given), expected)
    np.testing.assert_allclose(given.weight_xi, np.minimum(outlier, 1.0 / expected.ravel()))


def test_feet_on_ground_that_moves_move_along_it(go2):
    given = usual(go2)
    before = velocities(given)
    go2.process.expect_motion(given, np.zeros(4, bool), unrest=0.2)
    np.testing.assert_allclose(velocities(given), np.hypot(before, [0.2, 0.2, 0.0]))


def test_where_the_place_is_told_soft_ground_is_as_well(go2):
    given = usual(go2)
    before = velocities(given)
    go2.process.expect_motion(given, np.zeros(4, bool), softness=2.0, located=True)
    added = 2.0 * np.array([TERRAIN.soft_tangential] * 2 + [TERRAIN.soft_located])
    np.testing.assert_allclose(velocities(given), np.hypot(before, added))


@pytest.mark.parametrize("resting", [False, True])
def test_what_hangs_moves_slowly_and_what_falls_does_not(go2, resting):
    hangs = Situation(suspended_since_ns=0, resting=resting)
    for felt, speed in ((9.81, LIFT.resting if resting else LIFT.carried), (1.0, np.inf)):
        given, nothing = usual(go2), np.zeros(12)
        m = Measurement(1, nothing, nothing, np.zeros(3), accelerometer=np.array([0.0, 0.0, felt]))
        go2.process.complete(given, m, hangs)
        np.testing.assert_allclose(given.weight("held"), 1.0 / speed)


def test_a_step_without_joints_has_no_contacts_and_a_base_that_follows_the_imu(go2):
    given = usual(go2)
    before, feet = forces(given), velocities(given)
    go2.process.complete(given, Measurement(1, None, None, None))
    assert given.ground_depth == OUT_OF_REACH and not given.weighed
    np.testing.assert_allclose(forces(given)[:6], UNSEEN.base * before[:6])
    np.testing.assert_array_equal(velocities(given), feet)


def test_a_start_without_torques_leaves_the_ground_open(go2):
    nothing = np.zeros(12)
    unweighed, weighed = usual(go2), usual(go2)
    go2.process.complete(unweighed, Measurement(1, nothing, nothing, None))
    go2.process.complete(weighed, Measurement(1, nothing, nothing, None, torque=nothing))
    before, feet, other = forces(unweighed), velocities(unweighed), forces(weighed)
    for given in (unweighed, weighed):
        go2.process.leave_ground_open(given)
    np.testing.assert_allclose(forces(unweighed)[:6], GROUND_UNKNOWN.base * before[:6])
    np.testing.assert_allclose(velocities(unweighed), GROUND_UNKNOWN.contact * feet)
    np.testing.assert_array_equal(forces(weighed), other)


def test_torques_read_late_are_known_with_their_change():
    """Of both steps between which they change."""
    config = Config.load("go2").updated({"robot": {"torque_delay": 0.005}})
    problem = Problem(Robot(config.robot), config)
    before, given = usual(problem), usual(problem)
    before.torque, given.torque = np.full(12, 1.0), np.full(12, 3.0)
    problem.process.follow(given, before)
    for each in (before, given):
        np.testing.assert_allclose(each.torque_change, 2.0 / config.estimator.step)
