# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""A robot that stands: dry friction holds its joints with torques that nothing tells."""

from __future__ import annotations

from operator import attrgetter

import numpy as np
import pinocchio as pin
import pytest
from helpers.runs import measurements, truth

from prime_estimation.config.parameters import Config
from prime_estimation.config.policies import REST
from prime_estimation.estimator import Estimator
from prime_estimation.mhe.problem import Problem
from prime_estimation.robot import Robot
from prime_estimation.types import Measurement


def deviations(problem: Problem, rate: float, **readings) -> np.ndarray:
    """Standard deviations (nj,) [Nm] of the joints' torques of a step at whose end they turn."""
    given, nj = problem.node().input, problem.robot.nj
    at = dict(velocity=np.full(nj, rate), torque=np.zeros(nj), gyro=None, accelerometer=None)
    problem.process.complete(given, Measurement(0, np.zeros(nj), **{**at, **readings}))
    return 1.0 / np.array(given.nominal_force[6:])


def test_torques_of_joints_at_rest_are_not_known():
    config = Config.load("go2")
    problem = Problem(Robot(config.robot), config, sticks=True)
    process = problem.process
    moving = deviations(problem, 1.0)
    assert not process.rests and process.carried_by_friction == 0.0
    held = problem.robot.joint_friction * np.sqrt(REST.nodes)
    np.testing.assert_allclose(deviations(problem, 0.5 * REST.rate), np.hypot(moving, held))
    assert process.rests and 0.005 < process.carried_by_friction < 0.05
    deviations(problem, 1.5 * REST.rate)  # what rests does so until it moves for certain
    assert process.rests
    np.testing.assert_allclose(deviations(problem, 3.0 * REST.rate), moving)
    deviations(problem, 0.0)
    deviations(problem, 0.0, torque=None)
    assert not process.rests


def test_joints_without_friction_do_not_stick():
    config = Config.load("go2").updated({"robot": {"joint_friction": 0.0}})
    problem = Problem(Robot(config.robot), config, sticks=True)
    np.testing.assert_array_equal(deviations(problem, 0.0), deviations(problem, 1.0))
    assert not problem.process.rests


def up(quat: np.ndarray) -> np.ndarray:
    """The vertical in axes of the base."""
    return pin.Quaternion(quat).toRotationMatrix()[2]


def test_a_load_on_a_robot_that_stands(tmp_path):
    """Friction bent the tilt by 12 mrad within 8 s, stated to 1.4, and the mass by 0.6 kg."""
    pytest.importorskip("mujoco")
    from prime_estimation.simulate import Payload, run

    load, seconds = Payload(2.5, (0.05, 0.02, 0.1)), 8.0
    bag = run("go1", "stand", seconds, tmp_path / "run", payload=load, seed=6056)
    config = Config.load("go1")
    robot = Robot(config.robot)
    estimator = Estimator(robot, config, mocap=False)
    found = [e for m in measurements(bag, robot, config, seconds) if (e := estimator.update(m))]
    quat = attrgetter("x", "y", "z", "w")
    stamps, quats = truth(bag, "/ground_truth/odom", lambda m: quat(m.pose.pose.orientation))
    for estimate in found[100::50]:
        true = quats[np.abs(stamps - estimate.stamp_ns).argmin()]
        away = np.cross(up(np.array(estimate.quat_world_base)), up(true))
        stated = np.sqrt(estimate.pose_covariance[3:5, 3:5].trace())
        assert np.linalg.norm(away) < 2.5 * stated
    last = found[-1]
    assert abs(last.total_mass - robot.total_mass - load.mass) < 1.5 * last.total_mass_stddev
    assert last.friction == pytest.approx(config.estimator.friction, rel=0.05)
    assert np.linalg.norm(last.position_world[:2] - found[0].position_world[:2]) < 0.01
