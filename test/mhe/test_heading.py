# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Without motion capture no sensor sees place and heading: what is known of them must not grow."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from helpers.choreography import POSTURE, perform, standing_pose
from helpers.runs import measurements, truth

from prime_estimation.cli import main
from prime_estimation.config.parameters import Config
from prime_estimation.estimator import Estimator
from prime_estimation.robot import Robot

START, SHIFTS = 0.6, 100  # s, nodes


def information(window) -> tuple[np.ndarray, np.ndarray]:
    """Motions of the world along x, y and around z in the tangent at the arrival cost's reference
    (ndx, 3), and what it knows of each."""
    x = window.arrival.reference
    R, motions = pin.Quaternion(x[3:7]).toRotationMatrix(), np.zeros((window.problem.ndx, 3))
    motions[:3] = R.T @ np.column_stack(
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], np.cross([0.0, 0.0, 1.0], x[:3])]
    )
    motions[3:6, 2] = R[2]
    return motions, np.sum(np.linalg.solve(window.arrival.L, motions) ** 2, axis=0)


def test_place_and_heading_stay_unknown():
    """A robot that sways and turns on slipping feet, known to 1 m and 0.1 rad.

    So it stays while a hundred nodes leave a window that keeps place and heading itself, where
    the slope of a floor is exact.
    """
    config = Config.load("go2")
    robot = Robot(config.robot)
    q, slow = standing_pose(robot, POSTURE), 2.0 * np.pi

    def path(t):
        moved = q.copy()
        moved[:2] = 1.0 + 0.02 * np.sin(slow * t), -2.0
        moved[3:7] = pin.Quaternion(
            pin.rpy.rpyToMatrix(0.05 * np.sin(slow * t), 0.0, 0.2 * t)
        ).coeffs()
        return moved

    estimator, before = Estimator(robot, config, mocap=False), None
    for k, m in enumerate(perform(config, path, lambda t: 1.0, START + 0.01 * SHIFTS)):
        estimator.update(m)
        if before is None and estimator.window is not None:
            estimator.window.place.measured = True  # before a foot has come down on any floor
        if before is None and k > 100 * START:
            motions, _ = information(estimator.window)
            estimator.window.arrival.inflate_covariance(motions * [1.0, 1.0, 0.1])
            _, before = information(estimator.window)
    assert estimator.monitors.last_restart[0] == 0
    _, after = information(estimator.window)
    np.testing.assert_allclose(after, before, rtol=1e-2)


def yaw(quaternion) -> float:
    R = pin.Quaternion(np.array(quaternion)).toRotationMatrix()
    return np.arctan2(R[1, 0], R[0, 0])


def true_yaw(odometry) -> float:
    q = odometry.pose.pose.orientation
    return yaw([q.x, q.y, q.z, q.w])


@pytest.fixture(scope="module")
def bumpy(tmp_path_factory):
    """A walk over bumps, under whose feet the ground slopes."""
    out = tmp_path_factory.mktemp("runs") / "bumpy"
    scene = ["--robot", "go2", "--motion", "forward", "--bumps", "0.05", "--duration", "6"]
    assert main(["simulate", *scene, "--seed", "2", "--out", str(out), "--no-progress"]) == 0
    return out


def heading_over(bag, robot, config):
    """Error of the heading since the first estimate, its deviation and those of the place."""
    estimator = Estimator(robot, config, mocap=False)
    run = measurements(bag, robot, config, 6.0, mocap=False)
    estimates = [e for e in map(estimator.update, run) if e is not None]
    stamps, true = truth(bag, "/ground_truth/odom", true_yaw)
    true = np.interp([e.stamp_ns for e in estimates], stamps, np.unwrap(true))
    turned = np.unwrap([yaw(e.quat_world_base) for e in estimates]) - true
    up = [pin.Quaternion(np.array(e.quat_world_base)).toRotationMatrix() for e in estimates]
    deviation = [np.sqrt(R[2] @ e.pose_covariance[3:, 3:] @ R[2]) for R, e in zip(up, estimates)]
    place = [np.diag(R @ e.pose_covariance[:3, :3] @ R.T)[:2] for R, e in zip(up, estimates)]
    return turned - turned[0], np.array(deviation), np.sqrt(place)


def test_slopes_tell_no_heading(bumpy):
    """Ground that slopes about a place seems to know it, once slopes have been corrected."""
    config = Config.load("go2")
    error, deviation, place = heading_over(bumpy, Robot(config.robot), config)
    second = round(1.0 / config.estimator.step)
    for known in (deviation, *place.T):
        assert np.all(known[second::20] > 0.97 * known[:-second:20])
    assert deviation[-1] > 3.0 * deviation[0]
    assert np.all(np.abs(error) < 3.0 * deviation) and np.abs(error).max() < 0.01
