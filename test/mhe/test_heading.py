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
from prime_estimation.mhe.situation import ON_ITS_FEET
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
            estimator.window.place.lost = lambda: None  # though no pose ever comes
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


def heading_over(bag, robot, config, lost: int | None = None):
    """Error of the heading since the first estimate, its deviation and those of the place.

    Before the node `lost` the estimate is given up.
    """
    estimator = Estimator(robot, config, mocap=False)
    estimates = []
    for k, m in enumerate(measurements(bag, robot, config, 6.0, mocap=False)):
        if k == lost:
            assert not estimator.monitors.restart("as told", estimator.horizon, ON_ITS_FEET)
        estimates.append(estimator.update(m))
    estimates = [e for e in estimates if e is not None]
    stamps, true = truth(bag, "/ground_truth/odom", true_yaw)
    true = np.interp([e.stamp_ns for e in estimates], stamps, np.unwrap(true))
    turned = np.unwrap([yaw(e.quat_world_base) for e in estimates]) - true
    up = [pin.Quaternion(np.array(e.quat_world_base)).toRotationMatrix() for e in estimates]
    deviation = [np.sqrt(R[2] @ e.pose_covariance[3:, 3:] @ R[2]) for R, e in zip(up, estimates)]
    place = [np.diag(R @ e.pose_covariance[:3, :3] @ R.T)[:2] for R, e in zip(up, estimates)]
    return turned - turned[0], np.array(deviation), np.sqrt(place)


@pytest.mark.slow
def test_slopes_tell_no_heading(bumpy):
    """Ground that slopes about a place seems to know it, once slopes have been corrected."""
    config = Config.load("go2")
    error, deviation, place = heading_over(bumpy, Robot(config.robot), config)
    second = round(1.0 / config.estimator.step)
    for known in (deviation, *place.T):
        assert np.all(known[second::20] > 0.97 * known[:-second:20])
    assert deviation[-1] > 3.0 * deviation[0]
    assert np.all(np.abs(error) < 3.0 * deviation) and np.abs(error).max() < 0.01


def test_a_restart_knows_no_more_of_the_way(bumpy):
    """Place and heading go on where they were lost, and so does what is not known of them."""
    config, lost = Config.load("go2"), 300
    error, deviation, place = heading_over(bumpy, Robot(config.robot), config, lost)
    start = lost - config.estimator.start_nodes
    for known in (deviation, *place.T):
        assert known[-1] > known[start] > 1.5 * known[0]
        assert np.all(known[start:] > 0.9 * known[start])
    assert np.all(np.abs(error) < 3.0 * deviation)


def test_a_robot_is_where_it_was_when_no_start_went_on(bumpy, monkeypatch):
    """A batch that carries no start: odometry goes on with the next one, and does not jump."""
    config = Config.load("go2")
    estimator = Estimator(Robot(config.robot), config, mocap=False)
    ms = measurements(bumpy, estimator.robot, config, 6.0, mocap=False)
    horizon, estimates = estimator.horizon, []

    def fails(*_) -> str:
        horizon.window = None
        return "as told"

    for k, m in enumerate(ms):
        if k == 300:
            with monkeypatch.context() as patch:
                patch.setattr(horizon, "start", fails)
                assert estimator.monitors.restart("as told", horizon, ON_ITS_FEET)
        estimates.append(estimator.update(m))
    estimates = [e for e in estimates if e is not None]
    blind = np.diff([e.stamp_ns for e in estimates])
    k, gap = int(np.argmax(blind)), 1e-9 * blind.max()
    before, after = estimates[k : k + 2]
    assert gap > 0.9 * config.estimator.start_nodes * config.estimator.step
    assert estimates[-1].status.restarts > before.status.restarts
    way = np.linalg.norm(before.linear_velocity_base) * gap
    moved = np.array(after.position_world) - before.position_world
    assert np.linalg.norm(before.position_world[:2]) > 3.0 * way
    assert np.linalg.norm(moved[:2]) < 1.5 * way and abs(moved[2]) < 0.03
    assert abs(yaw(after.quat_world_base) - yaw(before.quat_world_base)) < 0.1
    assert np.all(np.diag(after.pose_covariance)[:2] > 0.5 * way**2)
