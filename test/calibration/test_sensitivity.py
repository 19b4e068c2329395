# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Gradient of the upper loss against finite differences of the lower level's optimum."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.swaying_robot import bent, go2_on_points, shipped_noise, sway, swaying, swinging

from prime_estimation.calibration.bilevel import NoiseObjective
from prime_estimation.calibration.frank_wolfe import frank_wolfe
from prime_estimation.calibration.problem import KinematicProblem
from prime_estimation.calibration.single import calibrate_run
from prime_estimation.calibration.smoother import smooth
from prime_estimation.errors import DataError


@pytest.fixture(scope="module")
def objective():
    return swaying_objective("go2")


@pytest.fixture(scope="module")
def on_soles():
    return swaying_objective("g1")


def swaying_objective(name):
    """A noisy sway: residuals are large enough for Gauss-Newton's gradient to be wrong."""
    robot = swaying(name)
    truth, rng = bent(robot), np.random.default_rng(5)
    clean = sway(robot, truth, 80)
    noisy = replace(
        clean,
        angle=clean.angle + 0.004 * rng.normal(size=clean.angle.shape),
        rate=clean.rate + 0.05 * rng.normal(size=clean.rate.shape),
        gyro=clean.gyro + 0.01 * rng.normal(size=clean.gyro.shape),
    )
    noise = shipped_noise(name)
    velocity = smooth(KinematicProblem(robot, noisy, truth, noise)).trajectory.velocity
    return NoiseObjective(robot, [noisy], truth, noise, [velocity], precision=1e-22)


@pytest.mark.parametrize("name", ["gyro", "encoder", "slip", "leg_velocity"])
def test_gradient_is_that_of_finite_differences(objective, name):
    check_gradient(objective, name)


@pytest.mark.parametrize("name", ["rate", "sole_turning"])
def test_gradient_on_soles(on_soles, name):
    check_gradient(on_soles, name)


def check_gradient(objective, name):
    noise = objective.shipped
    S = noise.blocks[name]
    root = np.random.default_rng(1).normal(size=S.shape)
    d = np.linalg.norm(S) * (root + root.T) / np.linalg.norm(root + root.T)
    # off the shipped values, so that nothing is zero by symmetry
    there = noise.with_blocks({name: S + 0.2 * d})
    slope = float(np.sum(objective.gradient(there)[name] * d))

    def central(h: float) -> float:
        ends = (noise.with_blocks({name: S + (0.2 + s * h) * d}) for s in (-1.0, 1.0))
        low, high = map(objective.value, ends)
        return (high - low) / (2.0 * h)

    h = 4e-3  # Richardson's extrapolation
    assert slope == pytest.approx((4.0 * central(h / 2) - central(h)) / 3.0, rel=1e-6)


def test_the_loss_is_the_mean_of_its_parts(objective):
    noise = objective.shipped.with_blocks({"gyro": 2.0 * objective.shipped.blocks["gyro"]})
    pull = 0.5 * 3.0 * (2.0 - np.log(2.0) - 1.0)
    expected = objective.value(noise) - objective.pull * pull
    assert np.mean(objective.parts(noise)) == pytest.approx(expected, rel=1e-9)


def test_a_lower_level_that_does_not_settle_is_said(objective, monkeypatch):
    """No step promises less than nothing: the loss is infinite, which no line search takes."""
    monkeypatch.setattr(objective, "precision", -1.0)
    assert objective.value(objective.shipped) == np.inf
    with pytest.raises(DataError, match="sway: the estimate without motion capture does not sett"):
        objective.gradient(objective.shipped)


def test_descent_on_noise_that_was_ten_times_wrong(objective):
    """The loss falls, and the block that is wrong moves back."""
    shipped = objective.shipped
    wrong = shipped.with_blocks({"gyro": 100.0 * shipped.blocks["gyro"]})
    found = frank_wolfe(objective, wrong, "cholesky", iterations=4)
    assert found.after < found.before
    before, after = (np.trace(n.blocks["gyro"]) for n in (wrong, found.noise))
    assert after < 0.7 * before


def test_descent_with_a_foot_that_counts_as_standing_while_it_swings():
    """As in long walks with a load: what it pulls at must not keep the lower level from its end."""
    robot, rng = go2_on_points(0.022), np.random.default_rng(6)
    truth = bent(robot)
    clean = swinging(robot, sway(robot, truth, 200), 3)
    noisy = replace(
        clean,
        angle=clean.angle + 0.002 * rng.normal(size=clean.angle.shape),
        rate=clean.rate + 0.05 * rng.normal(size=clean.rate.shape),
    )
    noise = shipped_noise()
    run = calibrate_run(noisy, robot, truth, noise, ("feet", "imu", "mocap"))
    assert run.result.converged
    objective = NoiseObjective(
        robot, [noisy], run.result.offsets, noise, [run.result.trajectory.velocity]
    )
    found = frank_wolfe(objective, noise, "cholesky", iterations=3)
    assert found.after < 0.9 * found.before
