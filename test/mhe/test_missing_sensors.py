# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Walking robots that lack a sensor: without torque or rates the estimate stays on the ground."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from helpers.runs import measurements, truth

from prime_estimation.config.parameters import Config
from prime_estimation.config.policies import INTERVAL
from prime_estimation.errors import ConfigError
from prime_estimation.estimator import Estimator
from prime_estimation.robot import Robot

SECONDS = 6.0
ODOMETRY = "/ground_truth/odom"


def without(m, *fields: str):
    return dataclasses.replace(m, **dict.fromkeys(fields))


def odometry(message) -> list[float]:
    p, v = message.pose.pose.position, message.twist.twist.linear
    return [p.x, p.y, p.z, v.x, v.y, v.z]


def walk(run, robot_name: str, spoil):
    """Estimates of the first seconds, and true position and velocity at their stamps."""
    config = Config.load(robot_name)
    robot = Robot(config.robot)
    ms = measurements(run, robot, config, SECONDS, mocap=False)
    estimator = Estimator(robot, config, mocap=False)
    out = [e for m in ms if (e := estimator.update(spoil(m))) is not None]
    stamps, rows = truth(run, ODOMETRY, odometry)
    at = np.array([e.stamp_ns for e in out])
    true = np.array([np.interp(at, stamps, column) for column in rows.T]).T
    return out, true[:, :3], true[:, 3:], estimator


@pytest.mark.parametrize(
    "robot, missing",
    [
        ("go2", ("torque",)),
        ("go2", ("torque", "velocity", "position_carried")),
        ("go1", ("torque",)),
    ],
)
def test_stays_on_the_ground(recorded_runs, robot, missing):
    """Nothing but motion tells which feet stand; what the IMU feels is carried by them."""
    run = recorded_runs / f"{robot}_nominal"
    out, position, velocity, estimator = walk(run, robot, lambda m: without(m, *missing))
    assert estimator.monitors.consistency.restarts == 0
    error = np.array([e.linear_velocity_base for e in out]) - velocity
    assert np.sqrt(np.mean(np.sum(error**2, axis=1))) < 0.04
    risen = np.array([e.position_world[2] for e in out])
    assert np.abs(risen - risen[0] - position[:, 2] + position[0, 2]).max() < 0.02
    stddev = np.sqrt(np.diag(out[-1].pose_covariance))
    assert np.all(stddev[[0, 1, 5]] < [0.15, 0.15, 0.1])  # place and heading do not run away
    carried = [sum(f.force_world[2] for f in e.feet) for e in out]
    assert np.mean(carried) == pytest.approx(9.81 * estimator.robot.total_mass, rel=0.1)


@pytest.mark.parametrize("missing", [(), ("torque",)])
def test_a_robot_without_imu(recorded_runs, missing):
    """Motion capture and legs are enough; nothing asks for what an IMU would have felt."""
    run = recorded_runs / "go2_nominal"
    config = Config.load("go2").updated({"robot": {"imu_frame": ""}})
    robot = Robot(config.robot)
    estimator = Estimator(robot, config)
    ms = measurements(run, robot, config, SECONDS, mocap=True)
    out = [e for m in ms if (e := estimator.update(without(m, *missing))) is not None]
    stamps, rows = truth(run, ODOMETRY, odometry)
    at = np.array([e.stamp_ns for e in out])
    velocity = np.array([np.interp(at, stamps, column) for column in rows.T[3:]]).T
    error = np.array([e.linear_velocity_base for e in out]) - velocity
    assert estimator.monitors.consistency.restarts == 0
    assert np.sqrt(np.mean(np.sum(error**2, axis=1))) < 0.1


def test_rigid_contacts_without_imu_are_refused():
    changes = {"robot": {"imu_frame": ""}, "estimator": {"contact_model": "rigid"}}
    config = Config.load("go2").updated(changes)
    with pytest.raises(ConfigError, match="contact flags need an IMU"):
        Estimator(Robot(config.robot), config)


def test_start_without_rates(recorded_runs):
    """Torques and positions suffice."""
    run = recorded_runs / "go2_nominal"
    out, _, velocity, _ = walk(run, "go2", lambda m: without(m, "velocity", "position_carried"))
    error = np.array([e.linear_velocity_base for e in out]) - velocity
    assert np.sqrt(np.mean(np.sum(error**2, axis=1))) < 0.03
    assert abs(out[-1].total_mass - 16.08) < 2.0 * out[-1].total_mass_stddev


def test_commanded_torque_widens_mass_and_tilt(recorded_runs):
    """Gears lose some of what the drives are told."""
    run = recorded_runs / "go2_nominal"
    out, _, _, estimator = walk(run, "go2", lambda m: dataclasses.replace(m, torque_commanded=True))
    share = estimator.config.noise.torque_scale_commanded
    assert out[-1].total_mass_stddev >= share * out[-1].total_mass
    assert np.all(np.sqrt(np.diag(out[-1].pose_covariance))[3:5] > INTERVAL.untold_tilt)
    told = {s.name: s for s in out[-1].status.sensors}["torque"]
    assert told.ok and told.message == "commanded, not measured"
