# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Sensors that are not mounted as the YAML says: said, estimated, and no longer in the velocity."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.runs import measurements, truth

from prime_estimation.config.parameters import Config
from prime_estimation.estimator import Estimator
from prime_estimation.robot import Robot

pytest.importorskip("mujoco")

from prime_estimation.simulate import run

SECONDS = 7.0


@pytest.fixture(scope="module")
def walk(tmp_path_factory):
    """A Go2 that trots and turns, mounted as its YAML says."""
    return run("go2", "trot", SECONDS, tmp_path_factory.mktemp("mount") / "run", seed=3)


def estimates(walk, **told) -> tuple[Estimator, list]:
    """Estimator of a robot whose YAML says something else, and its estimates."""
    config = Config.load("go2").updated({"robot": told})
    robot = Robot(config.robot)
    estimator = Estimator(robot, config)
    found = [estimator.update(m) for m in measurements(walk, robot, config, SECONDS)]
    return estimator, [e for e in found if e is not None]


def errors(walk, found, seconds: float = 2.0) -> tuple[float, float]:
    """Rms of the velocity [m/s] and of roll and pitch [rad] over the last seconds."""

    def motion(odometry) -> list[float]:
        v, q = odometry.twist.twist.linear, odometry.pose.pose.orientation
        return [v.x, v.y, v.z, 2.0 * (q.x * q.z - q.w * q.y), 2.0 * (q.y * q.z + q.w * q.x)]

    late = [e for e in found if e.stamp_ns > found[-1].stamp_ns - seconds * 1e9]
    stamps, true = truth(walk, "/ground_truth/odom", motion)
    at = np.array([np.interp([e.stamp_ns for e in late], stamps, c) for c in true.T]).T
    ours = []
    for e in late:
        x, y, z, w = e.quat_world_base
        up = [2.0 * (x * z - w * y), 2.0 * (y * z + w * x)]
        ours.append([*e.linear_velocity_base, *up])
    squares = (np.array(ours) - at) ** 2
    velocity, tilt = (np.sqrt(np.mean(part.sum(axis=1))) for part in np.split(squares, [3], 1))
    return float(velocity), float(tilt)


def said(estimate) -> list[str]:
    return [h.message for h in estimate.status.sensors if h.name == "mount"]


def test_right_mounts_are_kept(walk):
    estimator, found = estimates(walk)
    assert all(hold.held for hold in estimator.problem.mount_holds)
    assert not any(said(e) for e in found)


def test_place_of_the_tracked_body(walk):
    """Eight centimetres behind where the YAML has it; before, the velocity was off by 30 mm/s."""
    estimator, found = estimates(walk, mocap_position=[-0.08, 0.02, 0.05])
    assert "mocap: tracked body" in said(found[-1])[0] and not said(found[0])
    place = estimator.problem.parameter(estimator.window.xs[-1], "mocap_position")
    assert place[:2] == pytest.approx([0.08, -0.02], abs=0.006)
    velocity, tilt = errors(walk, found)
    assert velocity < 0.015 and tilt < 0.004
    assert found[-1].pose_covariance[2, 2] > 0.003**2  # its height is hardly told


def test_rotation_of_the_imu(walk):
    estimator, found = estimates(walk, imu_rotation=[0.0, 0.035, 0.0])
    assert "imu: turned by" in said(found[-1])[0]
    turn = estimator.problem.parameter(estimator.window.xs[-1], "imu_rotation")
    assert turn == pytest.approx([0.0, -0.035, 0.0], abs=0.005)
    velocity, tilt = errors(walk, found)
    assert velocity < 0.015 and tilt < 0.006
    estimator.reset()
    assert all(hold.held for hold in estimator.problem.mount_holds)


def test_an_estimate_that_is_lost_keeps_what_it_learned(walk):
    estimator, found = estimates(walk, mocap_position=[-0.08, 0.02, 0.05])
    before = estimator.problem.parameter(estimator.window.xs[-1], "mocap_position").copy()
    estimator.problem.first.keep(estimator.window.xs[-1], np.full(estimator.problem.ndx, 0.001))
    first = estimator.problem.parameter(estimator.problem.first.neutral(), "mocap_position")
    assert first == pytest.approx(before)
