# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Signals at the nodes, of samples whose means are known; scores of averaged errors."""

from types import SimpleNamespace

import numpy as np
import pytest

from prime_estimation.calibration import recording
from prime_estimation.calibration.held_out import AVERAGE, _averaged
from prime_estimation.calibration.noise import MISSED, NoiseModel
from prime_estimation.calibration.recording import LANDING, LIFTING, STEP, align
from prime_estimation.calibration.resampling import changes, mean, part_means
from prime_estimation.config.parameters import Config
from prime_estimation.robot import Robot
from prime_estimation.types import ImuSample, JointSample, PoseSample

ROBOT = Robot.load("go2")


def test_means_of_parts():
    """Of ramps: means over a window, and over halves of each step."""
    times = np.linspace(0.0, 1.0, 11)
    ramp = np.column_stack([2.0 * times, 5.0 - times])
    at = np.array([0.3, 0.55])
    np.testing.assert_allclose(mean(times, ramp, at, 0.2), np.column_stack([2.0 * at, 5.0 - at]))
    t = np.array([0.1, 0.5, 0.9])
    parts = part_means(times, ramp, t, 0.4, 2)
    np.testing.assert_allclose(parts[:, :, 0], [[0.4, 0.8], [1.2, 1.6]])
    # 1 and 3 within 0.1 s each in the first step, 2 in the second
    values = np.array([0.0, 0.0, 1.0, -2.0, *8 * [-2.0]])[:, None]
    values[8:] = 0.0
    found = changes(np.arange(12) * 0.1, values, np.array([0.05, 0.45, 0.95]))
    np.testing.assert_allclose(found[:, 0], [0.1 * np.sqrt(1.0 + 9.0), 0.1 * 2.0])


def test_a_foot_stands_firmly_some_nodes_after_it_landed(monkeypatch):
    """And until some before it lifts; flags are those of the node before the measurement."""
    stands = np.zeros((40, 4), bool)
    stands[10:30] = True
    told = iter(np.concatenate([stands[:1], stands[:-1]]))
    flags = SimpleNamespace(update=lambda m: next(told))
    monkeypatch.setattr(recording, "ContactFlags", lambda robot: flags)
    firm = recording._stance(ROBOT, list(range(40)))
    assert np.flatnonzero(firm[:, 0]).tolist() == list(range(10 + LANDING, 30 - LIFTING))


def test_signals_of_an_accelerated_motion(monkeypatch):
    """Positions at the nodes, not their means; rates; poses with their age."""
    monkeypatch.setattr(recording, "_stance", lambda robot, nodes: np.ones((len(nodes), 4), bool))
    start, dt = 5_000_000_000, 1_000_000
    stamps = start + dt * np.arange(3000)
    t = (stamps - start) * 1e-9
    force, gyro = np.array([1.0, 2.0, 9.81]), np.array([0.0, 0.0, 0.5])
    quat = np.column_stack([0.0 * t, 0.0 * t, np.sin(0.25 * t), np.cos(0.25 * t)])
    one = np.ones(12)
    samples = {
        JointSample: [
            JointSample(int(s), 5.0 * x**2 * one, 10.0 * x * one) for s, x in zip(stamps, t)
        ],
        ImuSample: [ImuSample(int(s), gyro, force) for s in stamps],
        PoseSample: [
            PoseSample(int(s) + 2_000_000, np.array([x, 0.0, 0.3]), q)
            for s, x, q in zip(stamps[::10], t[::10], quat[::10])
        ],
    }
    nodes = [SimpleNamespace(stamp_ns=int(s), torque=None) for s in stamps[:: round(STEP / 1e-3)]]
    found = align("run", ROBOT, nodes, samples)
    at = (found.stamps_ns - start) * 1e-9
    np.testing.assert_allclose(found.angle, 5.0 * at[:, None] ** 2 * one, atol=3e-6)
    np.testing.assert_allclose(found.rate, 10.0 * at[:, None] * one, atol=1e-9)
    np.testing.assert_allclose(found.gyro, np.tile(gyro, (len(at), 1)))
    np.testing.assert_allclose(found.imu.velocity[5], STEP * force, rtol=3e-3, atol=1e-4)
    np.testing.assert_allclose(found.mocap.age, 0.002, atol=1e-9)
    np.testing.assert_allclose(found.mocap.position[:, 0], at[found.mocap.node], atol=1e-9)
    np.testing.assert_allclose(found.mocap.shift[0], 0.5 * 0.002**2 * force)
    assert found.mocap.turn[0][1, 0] == pytest.approx(np.sin(0.002 * 0.5))
    assert found.joint_samples == found.imu_samples == pytest.approx(STEP / 1e-3)


def test_errors_are_averaged_from_where_they_count():
    times, wanted = 0.05 * np.arange(64), np.arange(64) >= 4
    error = np.zeros((64, 6))
    error[:, 0] = 0.2 * times  # m
    error[:4] = 9.0
    found = _averaged(times, error, wanted)
    assert found.count == round(AVERAGE / 0.05) == 5 and found.first.tolist() == [*range(4, 64, 5)]
    np.testing.assert_allclose(found.error[:, 0], 0.2 * times[6::5])
    np.testing.assert_allclose(found.rate, np.tile([0.2, 0.0, 0.0], (11, 1)), atol=1e-12)
    rotations = np.arange(64)
    np.testing.assert_array_equal(found.rotation(rotations), rotations[6::5])


@pytest.mark.parametrize("soles, impact", [(True, 1.0), (False, MISSED)])
def test_landing_soles_are_stiff(soles, impact):
    noise = NoiseModel.of(Config.load("g1"), 6, soles)
    assert noise.impact == impact and ("sole_turning" in noise.blocks) == soles
