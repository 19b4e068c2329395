# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Strapdown integration between nodes.

Motions with a known answer, and what is not known between two samples.
"""

from dataclasses import replace

import numpy as np
import pytest
from helpers import models
from helpers.estimates import make_estimate

from prime_estimation.config.parameters import Config
from prime_estimation.config.policies import INTERVAL
from prime_estimation.mhe.imu_mount import ImuMount
from prime_estimation.mhe.prediction import UNSEEN, Predictor
from prime_estimation.robot import Robot
from prime_estimation.types import ImuSample

PERIOD_NS, STILL = 2_000_000, np.zeros(3)


@pytest.fixture(scope="module")
def robot():
    return Robot(Config.load("go2").robot)


def at_rest(robot):
    """An upright robot that does not move, without biases, and its predictor.

    Which has seen the sample of that instant.
    """
    estimate = make_estimate(
        robot,
        quat_world_base=np.array([0.0, 0.0, 0.0, 1.0]),
        linear_velocity_base=STILL,
        angular_velocity_base=STILL,
    )
    predictor = Predictor(robot, ImuMount(robot))
    predictor.predict(ImuSample(estimate.stamp_ns, STILL, -predictor.gravity))
    predictor.correct(estimate)
    return estimate, predictor


def run(predictor, estimate, forces):
    """The prediction after samples of these specific forces (n, 3), one after the other.

    The robot does not turn.
    """
    for k, force in enumerate(forces, start=1):
        predicted = predictor.predict(
            ImuSample(estimate.stamp_ns + k * PERIOD_NS, STILL, force - predictor.gravity)
        )
    return predicted


def test_at_rest_nothing_changes(robot):
    estimate, predictor = at_rest(robot)
    predicted = run(predictor, estimate, np.zeros((5, 3)))
    assert predicted.stamp_ns == estimate.stamp_ns + 5 * PERIOD_NS
    np.testing.assert_allclose(predicted.linear_velocity_base, 0.0, atol=1e-12)
    np.testing.assert_allclose(predicted.position_world, estimate.position_world, atol=1e-12)
    grown = predicted.twist_covariance - estimate.twist_covariance
    untold = 1e-9 * 5 * PERIOD_NS * INTERVAL.carried_force
    np.testing.assert_allclose(grown, np.diag([untold**2] * 3 + [0.0] * 3), atol=1e-15)


def test_jump_of_the_force_at_any_instant_between_two_samples(robot):
    """From 0 to f somewhere within dt.

    The velocity is f dt/2 on average, with the deviation f dt/sqrt(12) of an even distribution.
    """
    estimate, predictor = at_rest(robot)
    f, dt = np.array([3.0, -4.0, 30.0]), 1e-9 * PERIOD_NS
    predicted = run(predictor, estimate, [np.zeros(3), f])
    np.testing.assert_allclose(predicted.linear_velocity_base, 0.5 * dt * f, atol=1e-12)
    grown = predicted.twist_covariance - estimate.twist_covariance
    velocities = np.outer(dt * (np.arange(1000) + 0.5) / 1000.0, f)  # by the instant of the jump
    spread = np.cov(velocities.T, bias=True) + (2.0 * dt * INTERVAL.carried_force) ** 2 * np.eye(3)
    np.testing.assert_allclose(grown[:3, :3], spread, rtol=1e-5)
    np.testing.assert_allclose(grown[3:], 0.0, atol=1e-15)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_quaternions_keep_the_sign_of_the_estimate(robot, sign):
    """q and -q are one rotation.

    A robot that has turned about by more than half a turn is estimated with a negative w, and what
    lies between two estimates must not jump to the other sign and back.
    """
    estimate, predictor = at_rest(robot)
    turned = sign * np.array([0.0, 0.0, np.sin(0.6), np.cos(0.6)])
    predictor.correct(replace(estimate, quat_world_base=turned))
    predicted = run(predictor, estimate, np.zeros((5, 3)))
    np.testing.assert_allclose(predicted.quat_world_base, turned, atol=1e-12)


def test_a_sample_from_the_past_changes_nothing(robot):
    """One that comes after a newer one.

    Neither now nor when the samples are run through again from the next estimate.
    """
    answers = []
    for late in (False, True):
        estimate, predictor = at_rest(robot)
        run(predictor, estimate, [np.array([k, 0.0, 0.0]) for k in range(1, 4)])
        if late:
            predictor.predict(ImuSample(estimate.stamp_ns + PERIOD_NS, np.ones(3), np.ones(3)))
        predictor.correct(estimate)
        answers.append(
            predictor.predict(
                ImuSample(estimate.stamp_ns + 4 * PERIOD_NS, STILL, -predictor.gravity)
            )
        )
    assert answers[0].stamp_ns == answers[1].stamp_ns
    np.testing.assert_array_equal(answers[0].position_world, answers[1].position_world)
    np.testing.assert_array_equal(answers[0].linear_velocity_base, answers[1].linear_velocity_base)


def test_a_late_estimate_is_carried_by_all_samples_since(robot):
    """A quarter of a second of an IMU at 1 kHz, which felt something at its beginning only."""
    estimate, predictor = at_rest(robot)
    forces = np.zeros((250, 3))
    forces[10:40] = [1.0, -2.0, 3.0]
    stamps = estimate.stamp_ns + 1_000_000 * np.arange(1, 251)
    samples = [
        ImuSample(int(t), STILL, f - predictor.gravity) for t, f in zip(stamps, forces, strict=True)
    ]
    at_once = [predictor.predict(sample) for sample in samples][-1]
    predictor.correct(estimate)  # which comes only now
    late = predictor.predict(samples[-1])
    np.testing.assert_allclose(at_once.linear_velocity_base, 0.03 * forces[10], rtol=1e-9)
    np.testing.assert_allclose(late.linear_velocity_base, at_once.linear_velocity_base, rtol=1e-9)


def test_beyond_its_reach_nothing_is_predicted_and_nothing_lost(robot):
    """A solver that catches up: what was not integrated meanwhile is, once the estimate is near."""
    estimate, predictor = at_rest(robot)
    force = np.array([1.0, -2.0, 3.0])
    late = [
        ImuSample(estimate.stamp_ns + k * PERIOD_NS, STILL, force - predictor.gravity)
        for k in range(1, 101)
    ]
    reach = 1e-9 * 50.5 * PERIOD_NS
    told = [predictor.predict(sample, reach) is not None for sample in late]
    assert told == [True] * 50 + [False] * 50
    there = 1e-9 * 60 * PERIOD_NS * force
    predictor.correct(replace(estimate, stamp_ns=late[59].stamp_ns, linear_velocity_base=there))
    predicted = predictor.predict(late[-1], reach)
    np.testing.assert_allclose(
        predicted.linear_velocity_base, 1e-9 * 100 * PERIOD_NS * force, rtol=1e-9
    )


def test_samples_of_a_clock_that_was_set_back_are_not_run_through(robot):
    """An IMU that runs alone, an hour ahead, before the first estimate of all."""
    estimate, predictor = at_rest(robot)
    predictor.reset()
    ahead, back = estimate.stamp_ns + 3_600_000_000_000, estimate.stamp_ns - 50 * PERIOD_NS
    for k in range(100):
        predictor.predict(ImuSample(ahead + k * PERIOD_NS, np.ones(3), np.ones(3)))
    for k in range(52):
        predictor.predict(ImuSample(back + k * PERIOD_NS, STILL, -predictor.gravity))
    predictor.correct(estimate)
    predicted = predictor.predict(
        ImuSample(estimate.stamp_ns + 2 * PERIOD_NS, STILL, -predictor.gravity)
    )
    assert predicted.stamp_ns == estimate.stamp_ns + 2 * PERIOD_NS
    np.testing.assert_allclose(predicted.linear_velocity_base, STILL, atol=1e-12)


@pytest.mark.parametrize("samples", [10, 100])
def test_the_place_is_less_certain_by_the_velocity_and_the_time_since(robot, samples):
    """And by the mean force that is not told: `c t` of velocity are `c t^2 / 2` of the place."""
    estimate, predictor = at_rest(robot)
    predicted = run(predictor, estimate, np.zeros((samples, 3)))
    grown = predicted.pose_covariance - estimate.pose_covariance
    age = 1e-9 * samples * PERIOD_NS
    untold = (0.5 * INTERVAL.carried_force * age**2) ** 2 * np.eye(3)
    expected = age**2 * estimate.twist_covariance[:3, :3] + untold
    np.testing.assert_allclose(grown[:3, :3], expected, rtol=1e-6)
    assert not grown[3:].any()


def test_what_dead_axes_miss_grows_with_time(robot):
    estimate, predictor = at_rest(robot)
    usual = run(predictor, estimate, np.zeros((10, 3))).twist_covariance
    dead = np.array([False, False, True, True, False, False])  # gyro z, accelerometer x
    predictor.correct(estimate, dead)
    predicted = run(predictor, estimate, np.zeros((10, 3)))
    R, age = predictor.mount.motion()[0].rotation, 1e-9 * 10 * PERIOD_NS
    turns, moves = age * UNSEEN[0] * R[:, 2], age * UNSEEN[3] * R[:, 0]
    expected = np.zeros((6, 6))
    expected[:3, :3], expected[3:, 3:] = np.outer(moves, moves), np.outer(turns, turns)
    np.testing.assert_allclose(predicted.twist_covariance - usual, expected, atol=1e-12)


def test_a_base_stands_while_the_torso_with_the_imu_turns():
    """Whose gyro has a bias: what it says beyond the base is the turning of the waist."""
    g1, bias, turn = models.robot("g1"), np.array([0.02, -0.01, 0.03]), 0.8
    mount, waist = ImuMount(g1), g1.joint_names.index("waist_yaw_joint")
    rates = turn * (np.arange(g1.nj) == waist)
    estimate = make_estimate(
        g1,
        quat_world_base=np.array([0.0, 0.0, 0.0, 1.0]),
        linear_velocity_base=STILL,
        angular_velocity_base=STILL,
        joint_position=np.zeros(g1.nj),
        joint_velocity=rates,
        gyro_bias=bias,
        accelerometer_bias=STILL,
    )
    predictor = Predictor(g1, mount)
    base_M_imu, moved = mount.motion(np.zeros(g1.nj), rates)
    up = -base_M_imu.rotation.T @ predictor.gravity
    stamps = estimate.stamp_ns + PERIOD_NS * np.arange(51)
    gyro = moved.angular + bias
    predictor.predict(ImuSample(int(stamps[0]), gyro, up))
    predictor.correct(estimate)
    for stamp in stamps[1:]:
        predicted = predictor.predict(ImuSample(int(stamp), gyro, up))
    np.testing.assert_allclose(predicted.angular_velocity_base, 0.0, atol=1e-9)
    np.testing.assert_allclose(predicted.quat_world_base, [0.0, 0.0, 0.0, 1.0], atol=1e-6)
