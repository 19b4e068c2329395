# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""From measurements to what a node is given: which reading, with which weight."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.choreography import POSTURE, perform, standing_pose

from prime_estimation.config.parameters import Config
from prime_estimation.config.policies import GROUND
from prime_estimation.estimator import Estimator
from prime_estimation.mhe.problem import Problem
from prime_estimation.robot import Robot
from prime_estimation.sensors.joints import Torque
from prime_estimation.types import Measurement, PoseSample


def given(noise: dict | None = None, **fields):
    """Input of a Go2's node for a measurement with these fields."""
    config = Config.load("go2").updated({"noise": noise or {}})
    problem = Problem(Robot(config.robot), config)
    zero = np.zeros(12)
    values = dict(
        position=zero,
        position_carried=zero + 1.0,
        velocity=zero,
        velocity_samples=5.0,
        gyro=np.zeros(3),
        gyro_samples=5.0,
    )
    return problem.state_input(Measurement(**{"stamp_ns": 0, **values, **fields})), config.noise


def test_noisy_encoders_are_averaged():
    node, noise = given()
    expected = np.hypot(noise.encoder, 0.01 * noise.joint_velocity) / np.sqrt(5.0)
    np.testing.assert_allclose(1.0 / node.weight("encoders"), expected)
    np.testing.assert_array_equal(node.value("encoders")[-12:], np.ones(12))


def test_good_encoders_are_not():
    """Rates that carry older readings would add more than the newest reading's noise."""
    node, noise = given({"encoder": 1e-4})
    np.testing.assert_allclose(1.0 / node.weight("encoders"), noise.encoder)
    np.testing.assert_array_equal(node.value("encoders")[-12:], np.zeros(12))


def test_nor_is_a_joint_that_was_hit():
    node, noise = given(velocity_change=np.eye(12)[3])
    np.testing.assert_array_equal(node.value("encoders")[-12:], 1.0 - np.eye(12)[3])
    assert 1.0 / node.weight("encoders")[3] == pytest.approx(noise.encoder)


def test_gyro_that_jumps_is_trusted_less_about_that_axis():
    node, noise = given(gyro_change=np.array([0.0, 0.0, 0.3]))
    sampled = noise.gyro / np.sqrt(5.0)
    np.testing.assert_allclose(
        1.0 / node.weight("gyro"), [sampled, sampled, np.hypot(sampled, 0.3 / np.sqrt(12.0))]
    )


def test_position_off_the_line_between_its_samples_is_trusted_less():
    node, noise = given({"encoder": 1e-4}, position_change=1.5e-4 * np.eye(12)[2])
    expected = np.full(12, 1e-4)
    expected[2] = np.hypot(1e-4, 1.5e-4)
    np.testing.assert_allclose(1.0 / node.weight("encoders"), expected)


def test_torque_that_jumps_is_trusted_less():
    """By the share of its jump that falls between samples."""
    m = Measurement(0, np.zeros(12), None, None, torque=np.zeros(12), torque_samples=4.0)
    noise = Config.load("go2").noise
    changed = replace(m, torque_change=np.eye(12)[5])
    expected = np.full(12, 0.5 * noise.joint_torque)
    np.testing.assert_allclose(Torque.stddev(m, noise), expected)
    expected[5] = np.hypot(expected[5], noise.joint_torque_sampling)
    np.testing.assert_allclose(Torque.stddev(changed, noise), expected)


def test_without_rates_the_last_position_counts():
    node, noise = given(position_carried=None, velocity=None)
    np.testing.assert_allclose(1.0 / node.weight("encoders"), noise.encoder)
    np.testing.assert_array_equal(node.value("encoders")[-12:], np.zeros(12))


def test_a_lost_estimate_keeps_the_gyro_bias():
    """With twice its deviation; nothing else of it, and no bias that no gyro has."""
    config = Config.load("go2")
    problem = Problem(Robot(config.robot), config)
    bias, other = problem.columns("gyro_bias"), problem.columns("accelerometer_bias")
    x, stddev = problem.first.neutral(), np.full(problem.ndx, 3e-4)
    problem.parameter(x, "gyro_bias")[:] = 0.004, -0.002, 0.001
    problem.parameter(x, "accelerometer_bias")[:] = 0.3
    problem.first.keep(x, stddev)
    first, root = problem.first.neutral(), np.diag(problem.first.root(located=False))
    np.testing.assert_allclose(problem.parameter(first, "gyro_bias"), [0.004, -0.002, 0.001])
    np.testing.assert_allclose(root[bias], 6e-4)
    np.testing.assert_array_equal(problem.parameter(first, "accelerometer_bias"), 0.0)
    np.testing.assert_allclose(root[other], config.noise.accelerometer_bias)
    problem.forget()
    np.testing.assert_array_equal(problem.parameter(problem.first.neutral(), "gyro_bias"), 0.0)
    problem.parameter(x, "gyro_bias")[:] = 10.0 * config.noise.gyro_bias
    problem.first.keep(x, stddev)
    np.testing.assert_array_equal(problem.parameter(problem.first.neutral(), "gyro_bias"), 0.0)
    assert np.diag(problem.first.root(located=False))[bias] == pytest.approx(config.noise.gyro_bias)


def test_poses_whose_nodes_have_left_are_counted():
    config = Config.load("go2")
    robot = Robot(config.robot)
    q, late = standing_pose(robot, POSTURE), []
    estimator = Estimator(robot, config, mocap=True)
    for m in perform(config, lambda t: q, lambda t: 1.0, 0.6):
        poses = [PoseSample(m.stamp_ns, q[:3], q[3:7])]
        if estimator.window is not None:
            late.append(PoseSample(estimator.window.stamps[0] - 500_000_000, q[:3], q[3:7]))
            poses = [late[-1], *poses]
        estimator.update(replace(m, readings={"mocap": tuple(poses)}))
    assert late and estimator.problem.measurements.refused == {"mocap_late_node": len(late)}


def test_ground_begins_harder_where_slopes_or_legs_look_soft():
    def softness(slopes: bool = True, **known) -> float:
        config = Config.load("go2").updated({"estimator": {"terrain_slopes": slopes}})
        problem = Problem(Robot(config.robot), config)
        root = np.diag(problem.first.root(located=False, **known))
        first = problem.config.estimator.softness_stddev
        return float(root[problem.columns("softness")][0]) / first

    assert softness() == pytest.approx(1.0)
    for untold in ({"weighed": False}, {"uneven": True, "weighed": False}):
        assert softness(**untold) == pytest.approx(GROUND.untold_softness)
    assert softness(uneven=True) == pytest.approx(GROUND.uneven_softness)
    assert softness(uneven=True, slopes=False) == pytest.approx(GROUND.untold_softness)
