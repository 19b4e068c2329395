# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Pose and velocity that are reported: carried to the stamp, and what the posterior misses."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from helpers.choreography import stood

from prime_estimation.config.parameters import Config
from prime_estimation.config.policies import ACCELEROMETER_BIAS, INTERVAL
from prime_estimation.mhe.problem import Problem
from prime_estimation.reporting.base import BaseReport
from prime_estimation.robot import GRAVITY, Robot
from prime_estimation.types import PoseSample

NOTHING = 0.0, False, 0.0, np.zeros(3), False  # slipping, elsewhere, stuck, tilt, falls


@pytest.fixture(scope="module")
def standing():
    """A report, the window of a robot that stands upright, and the measurement of its head."""
    estimator, (m,) = stood(0.7, to_come=1)
    estimator.update(m)
    window = estimator.window
    estimator.problem.layout.part(window.xs[-1], "rotation")[:] = [0.0, 0.0, 0.0, 1.0]
    return BaseReport(estimator.problem), window, m


def changed(standing, rate, **parts) -> np.ndarray:
    """Head whose velocity and rate differ from those of the node before, with these parts."""
    report, window, _ = standing
    part, last = report.problem.layout.part, window.xs[-1].copy()
    part(last, "velocity")[:] = part(window.xs[-2], "velocity") + [0.1, 0.2, 0.3]
    part(last, "rate")[:] = part(window.xs[-2], "rate") + rate
    for name, value in parts.items():
        part(last, name)[:] = value
    return last


@contextmanager
def headed(window, x: np.ndarray):
    """The window with another head."""
    before, window.xs[-1] = window.xs[-1], x
    yield
    window.xs[-1] = before


def covariances(standing, m=None, beside=NOTHING) -> tuple[np.ndarray, np.ndarray]:
    """Of pose and twist, without a posterior."""
    report, window, own = standing
    fields = report.fields(window, own if m is None else m, np.zeros((12, 12)), *beside)
    return fields["pose_covariance"], fields["twist_covariance"]


def added(standing, m=None, beside=NOTHING, usual=None) -> tuple[np.ndarray, np.ndarray]:
    """By what these arguments have beyond usual ones."""
    usual = covariances(standing) if usual is None else usual
    return tuple(a - b for a, b in zip(covariances(standing, m, beside), usual))


def assert_adds(covariance, *blocks) -> None:
    """Variances of position and rotation, or of velocity and rate, along all axes."""
    expected = np.diag(np.concatenate([np.broadcast_to(b, 3) for b in blocks]))
    np.testing.assert_allclose(covariance, expected, atol=1e-12)


def test_what_hands_carry_and_falls_are_in_the_velocity(standing):
    pose, twist = added(standing, beside=(0.0, True, *NOTHING[2:]))
    assert_adds(twist, INTERVAL.elsewhere**2, 0.0)
    assert_adds(pose, INTERVAL.elsewhere_place**2, [0.0, 0.0, INTERVAL.elsewhere_heading**2])
    pose, twist = added(standing, beside=(*NOTHING[:4], True))
    assert_adds(twist, INTERVAL.fall**2, 0.0)
    assert_adds(pose, INTERVAL.fall_place**2, 0.0)


def test_a_tilt_by_the_accelerometer_is_in_rotation_and_creep(standing):
    tilt = np.array([0.01, -0.02, 0.0])
    pose, twist = added(standing, beside=(*NOTHING[:3], tilt, False))
    np.testing.assert_allclose(pose[3:, 3:], np.outer(tilt, tilt), atol=1e-12)
    creep = ACCELEROMETER_BIAS.creep * np.array([-0.02, -0.01, 0.0])  # tilt x up
    np.testing.assert_allclose(twist[:3, :3], np.outer(creep, creep), atol=1e-8)
    assert not pose[:3].any() and not twist[3:].any()


def test_what_joints_hide_tilts_the_base(standing, monkeypatch):
    pose, _ = added(standing, beside=(0.0, False, 0.5, *NOTHING[3:]))
    about = (0.5 * INTERVAL.rest_tilt) ** 2
    assert_adds(pose, 0.0, [about, about, 0.0])
    usual = covariances(standing)
    monkeypatch.setattr(Problem, "joints_let_go", True)
    pose, _ = added(standing, usual=usual)
    assert_adds(pose, 0.0, [INTERVAL.unlike_tilt**2, INTERVAL.unlike_tilt**2, 0.0])
    monkeypatch.undo()
    monkeypatch.setattr(Problem, "bent", True)
    pose, twist = added(standing, usual=usual)
    assert_adds(pose, INTERVAL.mount_place**2, INTERVAL.mount_tilt**2)
    assert_adds(twist, INTERVAL.mount_velocity**2, 0.0)


def test_commanded_torques_tell_the_tilt_no_better_than_none(standing):
    pose, _ = added(standing, replace(standing[2], torque_commanded=True))
    assert_adds(pose, 0.0, [INTERVAL.untold_tilt**2, INTERVAL.untold_tilt**2, 0.0])


def test_rare_samples_tilt_the_base_but_where_motion_capture_tells_it(standing):
    seldom = INTERVAL.seldom_tilt * (0.008**2 - INTERVAL.often**2)
    rare = replace(standing[2], joint_interval=0.008, imu_interval=0.02)
    pose, _ = added(standing, rare)
    assert_adds(pose, 0.0, [seldom**2, seldom**2, 0.0])
    pose, _ = added(standing, replace(rare, imu_interval=0.0))  # not known
    assert_adds(pose, 0.0, 0.0)
    standing[1].place.measured = True
    pose, _ = added(standing, rare)
    standing[1].place.measured = False
    assert not pose[3:].any()


def test_a_guessed_ground_tilts_the_base(standing):
    usual = covariances(standing)
    standing[1].guessed = 0.01
    pose, _ = added(standing, usual=usual)
    standing[1].guessed = 0.0
    assert_adds(pose, 0.0, [1e-4, 1e-4, 0.0])


def test_a_gyro_reading_of_now_brings_its_noise(standing):
    usual = covariances(standing, replace(standing[2], gyro_now=None))
    _, twist = added(standing, replace(standing[2], gyro_now=np.zeros(3)), usual=usual)
    assert_adds(twist, 0.0, standing[0].problem.config.noise.gyro ** 2)


def test_dead_axes_are_as_uncertain_as_the_last_node_has_changed(standing):
    report, window, m = standing
    dead = np.array([False, True, False, False, False, True])  # gyro y, accelerometer z
    with headed(window, changed(standing, [0.4, 0.5, 0.6])):
        _, twist = added(standing, replace(m, imu_dead=dead))
    assert_adds(twist, [0.0, 0.0, 0.09], [0.0, 0.25, 0.0])


@pytest.mark.parametrize("now", [True, False])
def test_the_velocity_is_carried_from_the_mean_of_a_step_to_its_end(standing, now):
    """By half a step of what is felt; without a reading of now by half of the last change."""
    report, window, m = standing
    part, dt = report.problem.layout.part, report.problem.dt
    R, biases = pin.rpy.rpyToMatrix(0.1, -0.2, 0.5), dict(gyro_bias=0.01, accelerometer_bias=0.5)
    last = changed(standing, [0.4, 0.5, 0.6], rotation=pin.Quaternion(R).coeffs(), **biases)
    mean, rate = part(last, "velocity").copy(), part(last, "rate").copy()
    acceleration = np.array([1.0, -2.0, 3.0])  # of the base's origin, its axes
    base_M_imu, _ = report.problem.mount.motion()
    r, R_imu = base_M_imu.translation, base_M_imu.rotation.T
    lever = np.cross(rate, np.cross(rate, r))
    felt = R_imu @ (acceleration + lever + GRAVITY * R.T[:, 2]) + 0.5
    m = replace(m, gyro_now=R_imu @ rate + 0.01 if now else None, accelerometer_ramp=felt)
    with headed(window, last):
        fields = report.fields(window, m, np.zeros((12, 12)), *NOTHING)
    if now:
        expected = mean + 0.5 * dt * (acceleration - np.cross(rate, mean)), rate
    else:
        expected = mean + [0.05, 0.1, 0.15], rate + [0.2, 0.25, 0.3]
    np.testing.assert_allclose(fields["linear_velocity_base"], expected[0], atol=2e-4)
    np.testing.assert_allclose(fields["angular_velocity_base"], expected[1], atol=2e-4)


@pytest.mark.parametrize("dead", ["gyro", "accelerometer", "all"])
def test_dead_axes_go_on_as_they_changed(standing, dead):
    """Whatever they say, and beside others that live: here those feel no change."""
    report, window, m = standing
    part = report.problem.layout.part
    R, biases = pin.rpy.rpyToMatrix(0.1, -0.2, 0.5), dict(gyro_bias=0.0, accelerometer_bias=0.0)
    last = changed(standing, [0.04, 0.05, 0.06], rotation=pin.Quaternion(R).coeffs(), **biases)
    mean, rate = part(last, "velocity").copy(), part(last, "rate").copy()
    R_imu = report.problem.mount.motion()[0].rotation.T
    turn, force = R_imu @ rate, R_imu @ (np.cross(rate, mean) + GRAVITY * R.T[:, 2])
    of_gyro, of_force = dead != "accelerometer", dead != "gyro"
    m = replace(
        m,
        gyro_now=np.full(3, 9.0) if of_gyro else turn,
        accelerometer_ramp=np.full(3, 99.0) if of_force else force,
        imu_dead=np.repeat([of_gyro, of_force], 3),
    )
    with headed(window, last):
        fields = report.fields(window, m, np.zeros((12, 12)), *NOTHING)
    step, turned = [0.05, 0.1, 0.15], [0.02, 0.025, 0.03]
    np.testing.assert_allclose(
        fields["angular_velocity_base"], rate + np.multiply(turned, of_gyro), atol=1e-9
    )
    # an IMU beside the base's origin feels that the rate changes, too
    np.testing.assert_allclose(
        fields["linear_velocity_base"], mean + np.multiply(step, of_force), atol=3e-3
    )


def test_what_is_not_known_of_place_and_heading_is_added(standing):
    usual = covariances(standing)
    standing[1].place._beside[0, 0] = 0.05
    pose, _ = added(standing, usual=usual)
    standing[1].place._beside[0, 0] = 0.0
    np.testing.assert_allclose(pose, np.diag([0.05**2, 0, 0, 0, 0, 0]), atol=1e-6)


def test_fewer_poses_are_averaged_for_longer(standing):
    """Noise times the root of the time between poses, by their mean number of a second."""
    problem, window, m = standing[0].problem, standing[1], standing[2]
    report, dt = BaseReport(problem), problem.dt
    pose = PoseSample(m.stamp_ns, np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0]))
    window.place.measured = True
    for _ in range(1000):  # every other node has one
        report._noise_of_poses(window, replace(m, readings={"mocap": (pose,)}))
        noise = report._noise_of_poses(window, replace(m, readings={}))
    window.place.measured = False
    assert noise == pytest.approx(problem.noise.mocap_position * np.sqrt(2.0 * dt), rel=0.01)
    assert report._noise_of_poses(window, m) == 0.0


def test_a_fixed_base_is_where_it_is():
    config = Config.load("ricmonk")
    report = BaseReport(Problem(Robot(config.robot), config))

    class AnyWindow:
        xs = [None]

    fields = report.fields(AnyWindow(), None, None, *NOTHING)
    assert fields["quat_world_base"].tolist() == [0.0, 0.0, 0.0, 1.0]
    assert not any(v.any() for name, v in fields.items() if name != "quat_world_base")
