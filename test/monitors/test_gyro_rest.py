# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Gyro at rest: its mean is the bias, whatever feet that slid had told before."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.models import robot

from prime_estimation.config.parameters import Config
from prime_estimation.config.policies import GYRO_REST, STANCE
from prime_estimation.estimator import Estimator
from prime_estimation.mhe.problem import Problem
from prime_estimation.mhe.situation import Situation
from prime_estimation.monitors import gyro_rest, stance_motion
from prime_estimation.monitors.gyro_rest import GyroRest
from prime_estimation.monitors.stance_motion import StanceMotion
from prime_estimation.types import Measurement

BIAS = np.array([0.002, -0.001, 0.003])  # rad/s
NOISE = 0.005  # rad/s
POSTURE = np.tile([0.0, 0.8, -1.6], 4)  # rad


def measurements(nodes: int, turns=0.0, noise: float = NOISE, joints: float = 0.0, seed: int = 1):
    """A Go2 that stands; turned at a rate [rad/s], or moving its joints by a noise [rad]."""
    rng = np.random.default_rng(seed)
    for k in range(nodes):
        gyro = BIAS + noise * rng.standard_normal(3)
        gyro[2] += turns(k) if callable(turns) else turns
        yield Measurement(
            10_000_000 * k,
            POSTURE + joints * rng.standard_normal(12),
            np.zeros(12),
            gyro,
            accelerometer=np.array([0.0, 0.0, 9.81]) + 0.05 * rng.standard_normal(3),
        )


@pytest.fixture(scope="module")
def problem() -> Problem:
    return Problem(robot("go2"), Config.load("go2"))


def told(problem: Problem, **changes):
    rest = GyroRest(problem)
    for m in measurements(3 * GYRO_REST.nodes, **changes):
        rest.assess(m, None, Situation())
    return rest.told()


def test_rest_tells_the_bias(problem):
    bias, stddev = told(problem)
    assert (np.abs(bias - BIAS) < 3.0 * stddev).all()
    assert (stddev < 1.2 * np.hypot(NOISE / np.sqrt(GYRO_REST.nodes), GYRO_REST.floor)).all()


@pytest.mark.parametrize(
    "changes",
    [
        dict(joints=0.01),
        dict(noise=0.05),
        dict(noise=0.0),  # a gyro that repeats itself
        dict(turns=0.15),  # on a turntable
        dict(turns=lambda k: 3e-4 * k),  # about to turn
    ],
)
def test_what_is_no_rest_tells_nothing(problem, changes):
    assert told(problem, **changes) is None


def test_what_is_predicted_tells_nothing(problem):
    """In place of a dead axis stands what the estimate says, with its bias."""
    rest, dead = GyroRest(problem), np.arange(6) == 2
    for m in measurements(2 * GYRO_REST.nodes):
        rest.assess(replace(m, imu_dead=dead), None, Situation())
    assert rest.told() is None


def test_a_gyro_with_an_axis_that_repeats_itself_tells_nothing(problem):
    rest = GyroRest(problem)
    for m in measurements(2 * GYRO_REST.nodes):
        rest.assess(replace(m, gyro=m.gyro * [1.0, 1.0, 0.0]), None, Situation())
    assert rest.told() is None


def test_what_rest_told_is_taken_where_nothing_else_tells_the_heading(problem, monkeypatch):
    """About axes of which it says more than the estimate, and as long as the robot rests."""
    renewed: list = []
    known = np.array([1e-8, 1.0, 1.0]) * problem.config.noise.gyro_bias**2
    monkeypatch.setattr(gyro_rest, "renew", lambda *told: renewed.append(told[1:]))
    monkeypatch.setattr(gyro_rest, "variance", lambda *_: known)
    state, rest = problem.first.neutral(), GyroRest(problem)
    problem.parameter(state, "gyro_bias")[:] = BIAS
    window = SimpleNamespace(xs=[state], place=SimpleNamespace(measured=True, drift=0.1))
    for m in measurements(GYRO_REST.nodes):
        rest.assess(m, window, Situation())
    rest.judge(window, Situation())
    assert not renewed and window.place.drift == 0.1
    window.place.measured = False
    rest.judge(window, Situation())
    ((name, axes, mean, stddev),) = renewed
    assert (name, axes) == ("gyro_bias", [1, 2]) and window.place.drift == 0.0
    np.testing.assert_allclose(mean, rest.told()[0][1:])
    np.testing.assert_allclose(stddev, rest.told()[1][1:])
    for m in measurements(1, joints=0.01):
        rest.assess(m, window, Situation())
    rest.judge(window, Situation())
    assert len(renewed) == 1


def test_what_hangs_may_turn(problem):
    rest, hangs = GyroRest(problem), Situation(suspended_since_ns=0)
    for m in measurements(2 * GYRO_REST.nodes):
        rest.assess(m, None, hangs)
    assert rest.told() is None
    for m in measurements(2 * GYRO_REST.nodes):
        rest.assess(m, None, hangs.having(resting=True))
    assert rest.told() is not None


def test_what_rest_told_is_worth_less_with_time(problem):
    rest = GyroRest(problem)
    for m in measurements(GYRO_REST.nodes):
        rest.assess(m, None, Situation())
    _, before = rest.told()
    gone = 1000
    for m in measurements(gone, joints=0.01):
        rest.assess(m, None, Situation())
    walk = problem.config.noise.gyro_bias_walk**2 * gone * problem.dt
    np.testing.assert_allclose(rest.told()[1], np.sqrt(before**2 + walk))


def test_a_turn_that_no_foot_shows_is_no_bias_once_the_robot_rests():
    """As of an A1 that gets up: its feet slide, it turns, and by its legs it does not."""
    estimator = Estimator(robot("go2"), Config.load("go2"), mocap=False)

    def turns(k: int) -> float:
        return 0.015 if 60 < k < 200 else 0.0

    biases = {}
    for k, m in enumerate(measurements(330, turns, seed=2)):
        if (estimate := estimator.update(m)) is not None:
            biases[k] = estimate.gyro_bias[2]
    assert biases[195] > BIAS[2] + 0.005  # taken for a bias
    assert biases[329] == pytest.approx(BIAS[2], abs=0.002)  # three deviations


def test_feet_that_move_leave_the_bias_of_rest(problem, monkeypatch):
    renewed: dict = {}
    monkeypatch.setattr(stance_motion, "renew", lambda _, name, *told: renewed.update({name: told}))
    place = SimpleNamespace(drift=0.0)
    window = SimpleNamespace(up=lambda: np.array([0.0, 0.0, 1.0]), place=place)
    rest, prior = GyroRest(problem), problem.config.noise.gyro_bias
    StanceMotion(problem, rest)._forget(window)
    assert renewed["gyro_bias"] == ([2], 0.0, STANCE.gyro_bias) and place.drift == prior

    stance = StanceMotion(problem, rest)  # of an IMU whose own filter tells how the heading turns
    stance.assess(replace(next(measurements(1)), heading_rate=0.0), None, Situation())
    stance._forget(window)
    assert renewed["gyro_bias"] == ([2], 0.0, prior) and place.drift == 0.0

    for m in measurements(GYRO_REST.nodes):
        rest.assess(m, None, Situation())
    StanceMotion(problem, rest)._forget(window)
    assert renewed["gyro_bias"][1] == pytest.approx(BIAS[2], abs=0.002) and place.drift == 0.0
