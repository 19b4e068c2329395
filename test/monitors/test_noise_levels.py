# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Noise levels: right ones stay, wrong ones are found, and the bound holds."""

from __future__ import annotations

import copy
import dataclasses
import itertools
from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest
from helpers.runs import measurements

from prime_estimation.config.parameters import Config
from prime_estimation.estimator import Estimator
from prime_estimation.mhe.knowledge import widen
from prime_estimation.mhe.situation import Situation
from prime_estimation.monitors import noise_levels
from prime_estimation.monitors.noise_levels import PARTS
from prime_estimation.robot import Robot


def run(
    recorded_runs, seconds: float = 5.0, spoil=lambda m: m, mocap=False, **options
) -> Estimator:
    config = Config.load("go2").updated({"estimator": options})
    robot = Robot(config.robot)
    estimator = Estimator(robot, config, mocap=mocap)
    path = recorded_runs / "go2_nominal"
    for m in measurements(path, robot, config, seconds, mocap=mocap):
        estimator.update(spoil(m))
    return estimator


def noisy_poses(position: float, rotation: float, every: int = 1):
    """Spoils measurements: one pose of so many, with this noise [m, rad] on top of its own."""
    rng, number = np.random.default_rng(1), itertools.count()

    def noisy(pose):
        turn = pin.Quaternion(pin.exp3(rotation * rng.standard_normal(3)))
        quat = (pin.Quaternion(np.array(pose.quat_world_body)) * turn).coeffs()
        place = pose.position_world + position * rng.standard_normal(3)
        return dataclasses.replace(pose, position_world=place, quat_world_body=quat)

    def spoil(m):
        kept = [pose for pose in m.mocap if next(number) % every == 0]
        return dataclasses.replace(m, readings={**m.readings, "mocap": tuple(map(noisy, kept))})

    return spoil


def test_right_levels_stay(recorded_runs):
    factors = run(recorded_runs).monitors.levels.factors
    assert set(factors) == set(PARTS)
    # a foot creeps under sideways force for as long as it stands, which is no white noise
    assert 1.0 <= factors.pop("contact") < 2.0
    assert all(1.0 <= f < 1.4 for f in factors.values()), factors


def test_noisy_rates_are_found(recorded_runs):
    """Means of rates with five times the configured noise."""
    rng = np.random.default_rng(0)

    def spoil(m):
        if m.velocity is None:
            return m
        extra = 5.0 * 0.05 / np.sqrt(m.velocity_samples)
        noisy = m.velocity + rng.normal(0.0, extra, m.velocity.shape)
        return dataclasses.replace(m, velocity=noisy, position_carried=None)

    levels = run(recorded_runs, spoil=spoil).monitors.levels
    assert 3.0 < levels.factors["rates"] < 7.0
    health = levels.health(None)
    assert len(health) == 1 and "rates" in health[0].message
    others = [f for name, f in levels.factors.items() if name not in ("rates", "encoders")]
    assert max(others) < 1.6


def test_right_poses_keep_their_level(recorded_runs):
    factors = run(recorded_runs, mocap=True).monitors.levels.factors
    assert factors["mocap_position"] < 1.2 and factors["mocap_rotation"] < 1.2


def test_noisy_poses_are_found_from_the_start_on(recorded_runs):
    """With 20 mm of noise the estimate had been lost, and zeros of encoders were blamed."""
    estimator = run(recorded_runs, 0.7, noisy_poses(0.02, 0.05), mocap=True)
    early = dict(estimator.monitors.levels.factors)
    levels = run(recorded_runs, 5.0, noisy_poses(0.02, 0.05), mocap=True).monitors.levels
    for factors in (early, levels.factors):
        assert 14.0 < factors["mocap_position"] < 26.0
        assert 4.0 < factors["mocap_rotation"] < 7.5
    assert "mocap_position" in levels.health(None)[0].message
    gate = estimator.problem.measurements.gates["mocap"]
    assert gate.refused <= 2 and not gate.jumps


def test_noisy_poses_of_a_slow_tracker_are_found(recorded_runs):
    """At 30 Hz motion is no less than noise from pose to pose; the window knows motion."""
    levels = run(recorded_runs, 6.0, noisy_poses(0.005, 0.03, every=4), mocap=True).monitors.levels
    assert 3.0 < levels.factors["mocap_position"] < 6.5
    assert 2.0 < levels.factors["mocap_rotation"] < 5.0


def test_errors_that_last_are_found(recorded_runs, monkeypatch):
    """Legs that seem to move 3 % more than they do, on the left, and less on the right.

    Their feet are seen to be on uneven ground, where nothing is asked of levels, and zeros of their
    encoders are blamed for it; where neither is so, what they told of the accelerometer's bias
    becomes as uncertain as they are found to be.
    """
    monkeypatch.setattr(
        noise_levels, "NOISE_LEVELS", dataclasses.replace(noise_levels.NOISE_LEVELS, uneven=9.0)
    )
    growths: list[float] = []

    def widened(window, name, growth, most):
        growths.append(growth)
        at = window.problem.columns(name)
        before = np.sqrt(np.diag(window.arrival.covariance)[at])
        widen(window, name, growth, most)
        after = np.sqrt(np.diag(window.arrival.covariance)[at])
        np.testing.assert_allclose(after, np.minimum(growth * before, most))

    monkeypatch.setattr(noise_levels, "widen", widened)
    share = 0.03 * np.tile([0.0, 1.0, 1.0], 4) * np.repeat([1.0, -1.0, 1.0, -1.0], 3)

    def spoil(m):
        if m.position is None:
            return m
        position = m.position + share * (m.position - np.tile([0.0, 0.8, -1.6], 4))
        velocity = None if m.velocity is None else (1.0 + share) * m.velocity
        return dataclasses.replace(m, position=position, velocity=velocity, position_carried=None)

    levels = run(recorded_runs, 9.0, spoil, adapt_joints=False).monitors.levels
    assert levels.factors["contact"] > 4.0
    assert "contact" in levels.health(None)[0].message
    assert min(growths) > 1.0 and np.prod(growths) == pytest.approx(levels.factors["contact"])


def test_looks_wait_for_nodes_of_one_iteration(recorded_runs):
    """A look that comes beside a second iteration makes the longest updates; it waits, not for
    ever."""
    estimator, looks = run(recorded_runs, 1.0), []
    window, levels = estimator.window, estimator.monitors.levels
    levels._nodes, situation = 0, Situation()
    for node, iterations in enumerate((1, 1, 1, 1, 2, 2, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2)):
        before = levels._looks
        solver = SimpleNamespace(iter=iterations, residual_variance=window.solver.residual_variance)
        solver.compute_posterior = window.solver.compute_posterior
        levels.learn(_with_solver(window, solver), situation)
        looks += [node] * (levels._looks - before)
    assert looks == [6, 16]


def _with_solver(window, solver):
    """A window with another solver in its place."""
    other = copy.copy(window)
    other.solver = solver
    return other


def test_levels_can_be_left_alone(recorded_runs):
    estimator = run(recorded_runs, 2.0, adapt_noise=False)
    assert set(estimator.monitors.levels.factors.values()) == {1.0}
    assert not estimator.monitors.levels.health(None)


def test_factors_outlast_new_settings(recorded_runs):
    """A retuned level is multiplied by what was seen before."""
    estimator = run(recorded_runs, 2.0)
    levels = estimator.monitors.levels
    levels.factors["gyro"] = 2.0
    config = estimator.config.updated({"noise": {"gyro": 0.01}})
    estimator.retune(config)
    assert estimator.problem.measurements.noise.gyro == pytest.approx(0.02)
    assert estimator.problem.config.noise.gyro == 0.01
    estimator.reset()
    assert estimator.problem.measurements.noise.gyro == pytest.approx(0.01)


def test_switched_off_levels_are_the_configured_ones(recorded_runs):
    estimator = run(recorded_runs, 1.0)
    estimator.monitors.levels.factors["contact"] = 8.0
    estimator.retune(estimator.config.updated({"estimator": {"adapt_noise": False}}))
    assert estimator.monitors.levels.factors["contact"] == 1.0
    used = estimator.problem.process.config.noise
    assert used.contact_normal == estimator.config.noise.contact_normal
