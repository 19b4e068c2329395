# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Noise of the readings in the residuals, against the residuals of other readings."""

from copy import copy
from dataclasses import replace

import numpy as np
import pytest
from helpers.swaying_robot import PARTS, bent, shipped_noise, sway, swaying

from prime_estimation.calibration.covariances import imu_covariance, leg_gains
from prime_estimation.calibration.leg_factors import leg_measurement, leg_terms
from prime_estimation.calibration.motion_factors import imu_motion
from prime_estimation.calibration.preintegration import preintegrate
from prime_estimation.calibration.problem import KinematicProblem
from prime_estimation.calibration.reading_noise import ReadingNoise
from prime_estimation.calibration.resampling import white_noise
from prime_estimation.calibration.rotations import rotate

H = 1e-30
STDDEV = {"encoder": 0.002, "rate": 0.05, "gyro": 0.005}
SIGNALS = {"encoder": "angle", "rate": "rate", "gyro": "gyro"}


@pytest.fixture(scope="module", params=["go2", "g1"])
def case(request):
    """Feet that roll on spheres, and soles that lie; all offsets are estimated."""
    robot, noise = swaying(request.param), shipped_noise(request.param)
    what = ("feet", "joints", "imu", "mocap")
    recording = sway(robot, bent(robot), 60)
    deviations = {k: np.full_like(v, STDDEV[k]) for k, v in recording.noise.items()}
    recording = replace(recording, noise=deviations)
    return KinematicProblem(robot, recording, bent(robot), noise, what)


def leg_factor(problem, foot, recording):
    leg = problem.legs[foot]
    terms = leg_terms(leg, foot, recording, problem.nominal)
    return leg_measurement(problem.origin, leg, foot, terms, recording)


@pytest.mark.parametrize("source", SIGNALS)
def test_gains_of_a_leg_are_derivatives_of_its_residual(case, source):
    """By a complex step; with the sign, which tells how rows are correlated."""
    recording, up = case.recording, case.origin.rotation[:, 2]
    for foot, leg in enumerate(case.legs):
        gain = leg_gains(leg, foot, recording, case.nominal, up)[source] * np.sqrt(PARTS + 0.5)
        columns = np.arange(3) if source == "gyro" else np.array(leg.joints)
        for i, column in enumerate(columns):
            signal = getattr(recording, SIGNALS[source]).astype(complex)
            signal[:, column] += 1j * H
            moved = leg_factor(case, foot, replace(recording, **{SIGNALS[source]: signal}))
            np.testing.assert_allclose(moved.residual.imag / H, gain[:, :, i], atol=1e-12)


def test_covariance_of_a_step_is_that_of_its_samples(case):
    """White noise of each part of the step through the preintegration, by finite differences."""
    recording, noise, x = case.recording, case.noise, case.origin
    rng, n, h = np.random.default_rng(0), len(recording) - 1, 1e-6
    gyro = rng.normal(size=(n, 1, 3)) + 0.1 * rng.normal(size=(n, PARTS, 3))
    force = [0.0, 0.0, 9.81] + rng.normal(size=(n, PARTS, 3))
    imu = preintegrate(gyro, force, recording.step)
    near, expected = following(x, imu), np.zeros((n, 9, 9))
    for name, signal in (("gyro", gyro), ("accelerometer", force)):
        for part, axis in np.ndindex(PARTS, 3):
            ends = []
            for s in (-h, h):
                readings = {"gyro": gyro, "accelerometer": force}
                readings[name] = signal.copy()
                readings[name][:, part, axis] += s
                moved = preintegrate(step=recording.step, **readings)
                ends.append(imu_motion(near, replace(recording, imu=moved)).residual)
            by = (ends[1] - ends[0]) / (2.0 * h)
            expected += noise.blocks[name][axis, axis] * by[:, :, None] * by[:, None, :]
    R = imu_covariance(recording, noise).matrix(noise)
    size = np.sqrt(np.einsum("mii->mi", R))
    np.testing.assert_allclose(
        expected / (size[:, :, None] * size[:, None, :]),
        R / (size[:, :, None] * size[:, None, :]),
        atol=0.05,
    )


def following(x, imu):
    """Trajectory whose turns are those of the IMU, so that the residual's tangent is straight."""
    R = [x.rotation[0]]
    for step in imu.rotation:
        R.append(R[-1] @ step)
    return replace(x, rotation=np.array(R))


def test_what_noise_adds_to_the_gradient(case):
    """Of residuals and derivatives that are off together; each draw with its opposite."""
    recording, rng, size = case.recording, np.random.default_rng(1), case.nominal.size
    stddev = {k: STDDEV[k] / np.sqrt(PARTS + 0.5) for k in SIGNALS}
    feet, up = range(len(case.legs)), case.origin.rotation[:, 2]
    rest = [leg_factor(case, foot, recording) for foot in feet]
    draws = []
    for _ in range(100):
        error = {
            v: stddev[k] * rng.normal(size=getattr(recording, v).shape) for k, v in SIGNALS.items()
        }
        total = np.zeros(size)
        for sign, foot in ((s, foot) for s in (-1.0, 1.0) for foot in feet):
            noisy = {v: getattr(recording, v) + sign * e for v, e in error.items()}
            f = leg_factor(case, foot, replace(recording, **noisy))
            force = rotate(case.information[f.name], f.residual - rest[foot].residual)
            by = f.offset_jacobian - rest[foot].offset_jacobian
            total[f.parameters] += 0.5 * np.einsum("mrk,mr->k", by, force)
        draws.append(total)
    spread = np.std(draws, axis=0) / np.sqrt(len(draws))
    found = np.zeros(size)
    for foot, leg in enumerate(case.legs):
        W = case.information[f"leg_{foot}"]
        found += ReadingNoise(leg, foot, recording, case.nominal, up).gradient(W)
    # third powers of the noise are left
    close = 5.0 * spread + 0.02 * np.abs(found).max()
    assert np.all(np.abs(np.mean(draws, axis=0) - found) < close)
    at = case.nominal.columns["feet"]
    assert np.abs(found[at]).max() > 20.0 * spread[at].max()


def test_states_that_follow_the_noise_leave_less_of_it(case):
    """Of a foot that hangs in the air, whose place nothing else tells, next to nothing."""
    air = replace(case.recording, stance=np.zeros_like(case.recording.stance))
    problem = copy(case)
    problem.recording = air
    problem.covariance = problem._covariances()
    problem.weigh()
    feet = case.nominal.columns["feet"]
    assert (
        np.abs(problem.noise_gradient[feet]).max() < 0.01 * np.abs(case.noise_gradient[feet]).max()
    )


def test_noise_of_samples_that_move():
    rng, t = np.random.default_rng(2), 0.002 * np.arange(6000)
    values = np.sin(12.0 * t)[:, None] + [0.002, 0.05] * rng.normal(size=(len(t), 2))
    values[::500] += 1.0
    np.testing.assert_allclose(white_noise(values), [0.002, 0.05], rtol=0.05)
