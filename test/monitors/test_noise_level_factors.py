# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Factors of noise levels, from residuals that are given: closed forms of filter and bounds."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest
from helpers.models import config, robot

from prime_estimation import _core
from prime_estimation.config.policies import NOISE_LEVELS
from prime_estimation.mhe.problem import Problem
from prime_estimation.mhe.situation import Situation
from prime_estimation.monitors.noise_levels import PARTS, POINT_FEET, NoiseLevels
from prime_estimation.types import PoseSample

RATES = "rates"


class Residuals:
    """A window of one node that can be looked at: residuals, and which rows others determine."""

    size, unevenness, kept = 1, 0.0, None

    def __init__(self, problem: Problem):
        self.problem, self.rows = problem, problem.measurements.rows
        self.number = max(part.stop for parts in self.rows.values() for part in parts)
        self.square, self.seen = np.ones((2, self.number))
        self.r = np.zeros(self.number)
        x = problem.first.neutral()
        self.xs = [x, x]
        self.arrival = _core.ActionArrival(problem.state, x, 1e-6 * np.eye(problem.ndx))
        self.inputs = [SimpleNamespace(ground_depth=0.0, weighed=True)] * 2
        self.solver = SimpleNamespace(iter=1)

    def posterior(self, k: int) -> None:
        """They are given."""

    def errors(self, k: int):
        return self.r, self.square, self.seen

    def of(self, name: str) -> slice:
        """Rows of a part."""
        return self.rows[name][0]


@pytest.fixture
def problem() -> Problem:
    return Problem(robot("go2"), config("go2"))


def looks(levels: NoiseLevels, window: Residuals, number: int, **situation) -> None:
    """So many looks at the same residuals."""
    for _ in range(number * NOISE_LEVELS.every):
        levels.learn(window, Situation(**situation))


def gains(number: int, least: float) -> float:
    """Sum of the filter's gains over so many looks from the start."""
    return sum(max(least, 1.0 / (k + NOISE_LEVELS.first)) for k in range(1, number + 1))


def test_a_factor_follows_the_logarithm_of_its_squares(problem):
    """ln f = 1/2 sum gain_k ln E e^2; what is as configured stays, and nothing falls below."""
    levels, window = NoiseLevels(problem), Residuals(problem)
    window.square[window.of(RATES)] = 4.0
    window.square[window.of("gyro")] = 0.01
    looks(levels, window, 3)
    expected = 4.0 ** (0.5 * gains(3, NOISE_LEVELS.gain))
    assert levels.factors[RATES] == pytest.approx(expected, rel=1e-12)
    assert {f for name, f in levels.factors.items() if name != RATES} == {1.0}
    noise = problem.measurements.noise
    configured = problem.config.noise.joint_velocity
    assert noise.joint_velocity == pytest.approx(expected * configured)
    assert noise.encoder == problem.config.noise.encoder


def test_slow_parts_are_slow_and_all_are_bounded(problem):
    levels, window = NoiseLevels(problem), Residuals(problem)
    for name in (RATES, "accelerometer"):
        window.square[window.of(name)] = 1.5
    looks(levels, window, 60)
    fast, slow = (1.5 ** (0.5 * gains(60, g)) for g in (NOISE_LEVELS.gain, NOISE_LEVELS.slow_gain))
    assert levels.factors[RATES] == pytest.approx(fast, rel=1e-9)
    assert levels.factors["accelerometer"] == pytest.approx(slow, rel=1e-9) and slow < fast
    window.square[:] = 1e9  # of which no more than an outlier counts
    looks(levels, window, 400)
    for name in (RATES, "encoders"):
        assert levels.factors[name] == PARTS[name].most
    assert levels.factors["contact"] == POINT_FEET.most
    (said,) = levels.health(Situation())
    assert said.ok and "rates 30.0" in said.message


def test_rows_count_by_what_others_know_of_them(problem):
    """A row that its own reading alone determines has a square of 1, whatever its level is."""
    levels, window = NoiseLevels(problem), Residuals(problem)
    rows = np.arange(window.number)[window.of(RATES)]
    window.square[rows[0]], window.seen[rows] = 4.0, 0.0
    looks(levels, window, 1)
    assert levels.factors[RATES] == 1.0  # nothing is known of any of them
    window.seen[rows[0]], window.seen[rows[1]] = 0.75, 0.25
    looks(levels, window, 1)
    level = 0.75 * 4.0 + 0.25 * 1.0
    assert levels.factors[RATES] == pytest.approx(level ** (0.5 / (2 + NOISE_LEVELS.first)))


def test_forces_need_torques_and_nothing_is_learned_in_the_air(problem):
    levels, window = NoiseLevels(problem), Residuals(problem)
    window.square[:] = 4.0
    looks(levels, window, 2, suspended_since_ns=0)
    assert set(levels.factors.values()) == {1.0}
    window.inputs = [SimpleNamespace(ground_depth=0.0, weighed=False)] * 2
    looks(levels, window, 2)
    forces = {"base_force", "base_moment", "joint_torque"}
    assert {levels.factors[name] for name in forces} == {1.0} < {levels.factors[RATES], 1.0}
    window.inputs = [SimpleNamespace(ground_depth=0.0, weighed=True)] * 2
    looks(levels, window, 1)
    assert all(levels.factors[name] > 1.0 for name in forces)


def test_errors_that_last_add_their_covariance(problem):
    """Feet that seem to move alike at all looks have their long-run variance, not that of one."""
    lasting, white = NoiseLevels(problem), NoiseLevels(problem)
    for levels, sign in ((lasting, 1.0), (white, -1.0)):
        window, known = Residuals(problem), NOISE_LEVELS.looks_back
        window.r[window.of("contact")] = 0.3
        looks(levels, window, known)
        assert levels.factors["contact"] == 1.0  # there is nothing yet to compare with
        for _ in range(8):
            window.r = sign * window.r
            looks(levels, window, 1)
    assert white.factors["contact"] == 1.0 < lasting.factors["contact"]
    product = known * 0.3**2  # with each of the looks before
    found = 2 * NOISE_LEVELS.every * product
    expected, covariance = 0.0, 0.0
    for k in range(known + 1, known + 9):
        covariance += NOISE_LEVELS.gain * (found - covariance)
        gain = max(NOISE_LEVELS.gain, 1.0 / (k + NOISE_LEVELS.first))
        expected += 0.5 * gain * np.log(1.0 + covariance)
    assert np.log(lasting.factors["contact"]) == pytest.approx(expected, rel=1e-9)
    # what the feet told of the accelerometer's bias is as uncertain as they are
    bias = problem.columns("accelerometer_bias")
    before = Residuals(problem).arrival.covariance[bias, bias]
    window = Residuals(problem)
    window.r[window.of("contact")] = 0.3
    factor = lasting.factors["contact"]
    looks(lasting, window, 1)
    growth = lasting.factors["contact"] / factor
    np.testing.assert_allclose(window.arrival.covariance[bias, bias], growth**2 * before, rtol=1e-9)


def test_poses_of_the_start_show_their_noise():
    """Before anything is estimated; 5 mm and 20 mrad where 1 mm and 3.5 mrad are configured."""
    problem, rng = Problem(robot("go2"), config("go2"), {"mocap"}), np.random.default_rng(4)
    levels, noise = NoiseLevels(problem), problem.config.noise

    def batch(position: float, rotation: float):
        for k in range(200):
            turn = pin.exp3(rotation * rng.standard_normal(3))
            place = np.array([0.004 * k, 0.0, 0.3]) + position * rng.standard_normal(3)
            pose = PoseSample(10_000_000 * k, place, pin.Quaternion(turn).coeffs())
            yield SimpleNamespace(mocap=[pose])

    levels.expect(list(batch(0.005, 0.02)))
    expected = 0.005 / noise.mocap_position, 0.02 / noise.mocap_rotation
    found = levels.factors["mocap_position"], levels.factors["mocap_rotation"]
    assert min(expected) > NOISE_LEVELS.worth_saying and found == pytest.approx(expected, rel=0.15)
    assert problem.measurements.noise.mocap_position == pytest.approx(0.005, rel=0.15)
    levels.expect(list(batch(noise.mocap_position, noise.mocap_rotation)))
    assert levels.factors["mocap_position"] == levels.factors["mocap_rotation"] == 1.0
    assert problem.measurements.noise.mocap_position == noise.mocap_position
