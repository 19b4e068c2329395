# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Sensors that are not mounted as the YAML says: said, estimated, and no longer in the velocity."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from helpers.runs import measurements, truth

from prime_estimation.config.parameters import Config
from prime_estimation.estimator import Estimator
from prime_estimation.monitors.mount_fit import SAID
from prime_estimation.robot import Robot
from prime_estimation.types import PoseSample

pytest.importorskip("mujoco")

from prime_estimation.simulate import Ground, run

SECONDS = 7.0


@pytest.fixture(scope="module")
def walk(tmp_path_factory):
    """A Go2 that trots and turns, mounted as its YAML says."""
    return run("go2", "trot", SECONDS, tmp_path_factory.mktemp("mount") / "run", seed=3)


def spoilt(m, late: float, tilted, turned):
    """A measurement of another motion capture.

    It is late [s], in a world that is tilted, of a body that is turned on the base [rad].
    """
    (world, body), poses = (pin.exp3(np.array(turn)) for turn in (tilted, turned)), []
    for pose in m.mocap:
        R = world @ pin.Quaternion(np.array(pose.quat_world_body)).toRotationMatrix() @ body
        place, quat = world @ pose.position_world, pin.Quaternion(R).coeffs()
        poses.append(PoseSample(pose.stamp_ns + round(late * 1e9), place, quat, pose.arrival_ns))
    return replace(m, readings={**m.readings, "mocap": tuple(poses)}) if poses else m


STRAIGHT = 0.0, 0.0, 0.0


def estimates(
    walk, late=0.0, tilted=STRAIGHT, turned=STRAIGHT, name="go2", **told
) -> tuple[Estimator, list]:
    """Estimator of a robot whose YAML says something else, and its estimates."""
    config = Config.load(name).updated({"robot": told})
    robot = Robot(config.robot)
    estimator = Estimator(robot, config)
    ms = measurements(walk, robot, config, SECONDS)
    if late:  # a pose comes with the node that its stamp says
        nodes = round(late / config.estimator.step)
        given = [()] * nodes + [m.readings.get("mocap", ()) for m in ms]
        ms = [replace(m, readings={**m.readings, "mocap": p}) for m, p in zip(ms, given)]
    found = [estimator.update(spoilt(m, late, tilted, turned)) for m in ms]
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


def said(estimate) -> dict[str, str]:
    names = {name for name, *_ in SAID.values()}
    return {h.name: h.message for h in estimate.status.sensors if h.name in names}


@pytest.mark.slow
def test_right_mounts_are_kept(walk):
    estimator, found = estimates(walk)
    assert all(hold.held for hold in estimator.problem.mount_holds)
    assert not any(said(e) for e in found)


@pytest.mark.slow
def test_feet_that_sink_move_no_tracked_body(tmp_path):
    """They looked like markers 20 mm from their place, on soft bumps."""
    soft = Ground(bump_height=0.018, softness=0.022)
    bag = run("mini_cheetah", "trot", SECONDS, tmp_path / "soft", terrain=soft, seed=5398)
    estimator, found = estimates(bag, name="mini_cheetah")
    assert all(hold.held for hold in estimator.problem.mount_holds)
    assert not any(said(e) for e in found)


def test_place_of_the_tracked_body(walk):
    """Eight centimetres behind where the YAML has it; before, the velocity was off by 30 mm/s."""
    estimator, found = estimates(walk, mocap_position=[-0.08, 0.02, 0.05])
    assert "tracked body" in said(found[-1])["mocap_mount"] and not said(found[0])
    place = estimator.problem.parameter(estimator.window.xs[-1], "mocap_position")
    assert place[:2] == pytest.approx([0.08, -0.02], abs=0.006)
    velocity, tilt = errors(walk, found)
    assert velocity < 0.015 and tilt < 0.004
    assert found[-1].pose_covariance[2, 2] > 0.003**2  # its height is hardly told


def test_tracked_body_at_the_head(walk):
    """Markers of a Go2 as a laboratory had them: 21 cm ahead and 11 up, pitched by 7 degrees.

    The base is first dragged to where the YAML has it, and its feet over the ground and into it;
    velocities were off by 100 mm/s for good, and motion capture was said to be well.
    """
    estimator, found = estimates(walk, mocap_position=[-0.21, 0.0, -0.11], turned=(0.0, 0.13, 0.0))
    assert "tracked body" in said(found[-1])["mocap_mount"]
    assert found[-1].status.restarts == 1
    told = next(e.stamp_ns for e in found if said(e))
    assert told < found[0].stamp_ns + 1.5e9  # 2 s of the walk went with 0.1 m/s before
    place = estimator.problem.parameter(estimator.window.xs[-1], "mocap_position")
    assert place == pytest.approx([0.21, 0.0, 0.11], abs=0.015)
    velocity, tilt = errors(walk, found)
    assert velocity < 0.015 and tilt < 0.004
    assert {h.name for h in found[-1].status.sensors if not h.ok} <= {"mocap_mount"}


@pytest.mark.slow
def test_rotation_of_the_imu(walk):
    estimator, found = estimates(walk, imu_rotation=[0.0, 0.035, 0.0])
    assert "turned by" in said(found[-1])["imu_mount"]
    turn = estimator.problem.parameter(estimator.window.xs[-1], "imu_rotation")
    assert turn == pytest.approx([0.0, -0.035, 0.0], abs=0.005)
    velocity, tilt = errors(walk, found)
    assert velocity < 0.015 and tilt < 0.006
    estimator.reset()
    assert all(hold.held for hold in estimator.problem.mount_holds)


@pytest.mark.slow
def test_place_of_the_imu(walk):
    """Three centimetres from its place in the YAML: velocities and intervals would be wrong."""
    estimator, found = estimates(walk, imu_position=[0.03, -0.02, 0.0])
    assert "from its place" in said(found[-1])["imu_lever"]
    lever = estimator.problem.parameter(estimator.window.xs[-1], "imu_position")
    assert lever == pytest.approx([-0.03, 0.02, 0.0], abs=0.005)
    velocity, tilt = errors(walk, found)
    assert velocity < 0.015 and tilt < 0.004
    estimator.reset()
    assert all(hold.held for hold in estimator.problem.mount_holds)


@pytest.mark.slow
@pytest.mark.parametrize("late", [0.03, 0.08])
def test_stamps_of_motion_capture_that_are_late(walk, late):
    """Before, 80 ms put the velocity off by 100 mm/s."""
    estimator, found = estimates(walk, late=late)
    assert "stamps are off by" in said(found[-1])["mocap_clock"]
    delay = estimator.problem.parameter(estimator.window.xs[-1], "mocap_delay")
    assert delay == pytest.approx(late, rel=0.15)
    velocity, tilt = errors(walk, found)
    assert velocity < 0.015 and tilt < 0.004
    assert estimator.monitors.levels.factors["mocap_position"] < 2.0  # what lasts is no noise
    estimator.reset()
    assert estimator.problem.delay == 0.0


def test_what_is_wrong_by_more_than_can_be_is_said(walk):
    """Seven degrees: not a mount, but another frame, or another robot."""
    estimator, found = estimates(walk, imu_rotation=[0.0, 0.12, 0.0])
    assert estimator.problem.mount_holds[0].held
    wrong = [h for e in found for h in e.status.sensors if h.name == "imu_mount" and not h.ok]
    assert wrong and "more than is credible" in wrong[-1].message


def test_world_that_is_tilted(walk):
    estimator, found = estimates(walk, tilted=[0.012, -0.01, 0.0])
    assert "tilted by" in said(found[-1])["mocap_world"]
    tilt = estimator.problem.parameter(estimator.window.xs[-1], "mocap_world")
    assert tilt == pytest.approx([0.012, -0.01], abs=0.002)
    assert errors(walk, found)[1] < 0.003  # the robot's is against gravity


@pytest.mark.slow
def test_an_estimate_that_is_lost_keeps_what_it_learned(walk):
    estimator, found = estimates(walk, mocap_position=[-0.08, 0.02, 0.05])
    before = estimator.problem.parameter(estimator.window.xs[-1], "mocap_position").copy()
    estimator.problem.first.keep(estimator.window.xs[-1], np.full(estimator.problem.ndx, 0.001))
    problem = estimator.problem
    first = problem.parameter(problem.first.neutral(), "mocap_position")
    assert first == pytest.approx(before)
    # what is held begins with the width by which its hold asks, however often it is lost
    turn = next(hold for hold in problem.mount_holds if hold.held)
    columns = problem.columns(turn.names[0])
    root = problem.first.root(True)[columns, columns]
    assert np.diag(root) == pytest.approx(turn.share * turn.stddev)
