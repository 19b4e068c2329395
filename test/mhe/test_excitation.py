# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""What motion tells of the inertia, and what stays as it is while there is none."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.windows import GivenWindow

from prime_estimation import _core
from prime_estimation.config.parameters import Config
from prime_estimation.config.policies import EXCITATION
from prime_estimation.inertia import com_stddev, inertia_about_com
from prime_estimation.mhe.excitation import Excitation
from prime_estimation.mhe.knowledge import LEFT, release_inertia
from prime_estimation.mhe.problem import Problem
from prime_estimation.mhe.still_inertia import StillInertia
from prime_estimation.robot import GRAVITY, Robot

LOOKS = 60
MOVES = np.array([1.5, 1.5, 1.5, 6.0, 6.0, 6.0])  # m/s2, rad/s2: a trot


@pytest.fixture(scope="module")
def problem() -> Problem:
    config = Config.load("go2")
    return Problem(Robot(config.robot), config, ("mocap",), holds=True)


def noise_of(problem: Problem) -> np.ndarray:
    """Deviation of what accelerometer and gyro tell of the base's acceleration."""
    noise = problem.measurements.noise
    force = np.hypot(noise.accelerometer, noise.accelerometer_model)
    return np.repeat([force, np.sqrt(2.0) * noise.gyro / problem.dt], 3)


def window_of(problem: Problem, acceleration: np.ndarray) -> GivenWindow:
    """A node whose base accelerates so, axes of the base."""
    before, after = (problem.first.neutral() for _ in range(2))
    problem.layout.v(after)[:6] += problem.dt * acceleration
    return GivenWindow(problem, [before, after])


def seen(problem: Problem, deviation: np.ndarray) -> Excitation:
    """After accelerations at random."""
    rng, excitation = np.random.default_rng(4), Excitation(problem)
    for _ in range(LOOKS):
        excitation.look(window_of(problem, deviation * rng.normal(size=6)), 0)
    return excitation


def test_noise_tells_seven_directions_less_than_motion_does(problem):
    x, still = problem.first.neutral(), seen(problem, noise_of(problem))
    assert still.missing(x, EXCITATION.least).shape == (10, 7)
    assert seen(problem, MOVES).missing(x, EXCITATION.enough).shape == (10, 0)
    assert seen(problem, np.zeros(6)).missing(x, EXCITATION.least).shape == (10, 7)


@pytest.mark.parametrize("share", [0.1, 1.0, 2.0, 2.7, 3.0, 4.0, 10.0])
def test_nothing_is_missing_as_soon_as_one_factorization_says_so(problem, share, monkeypatch):
    """It leaves out what lasts, and need not say so; where it does, all ratios are large enough."""
    moved, x = seen(problem, share * noise_of(problem)), problem.first.neutral()
    shortly = moved.missing(x, EXCITATION.least)
    monkeypatch.setattr("prime_estimation.mhe.excitation._exceeds", lambda A, B: False)
    np.testing.assert_array_equal(shortly, moved.missing(x, EXCITATION.least))


def test_an_inertia_far_off_has_directions_too(problem):
    """A start may lead there before it is judged."""
    x = problem.first.neutral()
    problem.parameter(x, "theta")[3] += 12.0
    basis = seen(problem, noise_of(problem)).missing(x, EXCITATION.least)
    np.testing.assert_allclose(basis.T @ basis, np.eye(basis.shape[1]), atol=1e-9)


def test_gravity_tells_the_mass_and_where_it_is_across_it(problem):
    """Directions that no motion tells change neither weight nor moment of a robot that stands."""
    x, excitation = problem.first.neutral(), seen(problem, np.zeros(6))
    basis = excitation.missing(x, EXCITATION.least)
    _, jacobian = problem.inertias(x)[0]
    change = jacobian @ problem.theta_prior_root @ basis
    assert np.abs(GRAVITY * change[:3]).max() < 0.02  # N, Nm: a hundredth of what the base feels
    height = problem.robot.model.inertias[1].mass * problem.config.estimator.com_stddev
    assert np.linalg.norm(change[3]) > 0.99 * height  # kg m: all of the prior's


def test_a_turn_about_one_axis_tells_the_inertia_about_it(problem):
    x, moves = problem.first.neutral(), noise_of(problem)
    moves[5] = MOVES[5]
    still, turns = seen(problem, noise_of(problem)), seen(problem, moves)
    known, unknown = (e.missing(x, EXCITATION.least) for e in (turns, still))
    _, jacobian = problem.inertias(x)[0]
    izz = (jacobian @ problem.theta_prior_root)[9]  # by theta in units of its prior
    assert np.linalg.norm(izz @ known) < 0.3 * np.linalg.norm(izz @ unknown)


class Told(GivenWindow):
    """With what is known of its first state."""

    def __init__(self, problem: Problem, x: np.ndarray, covariance: np.ndarray):
        super().__init__(problem, [x, x.copy()])
        self.arrival = _core.ActionArrival(problem.state, x, covariance)
        self.kept = None

    def theta(self) -> np.ndarray:
        """What the arrival cost knows of the inertia (10, 10)."""
        columns = self.problem.columns("theta")
        return self.arrival.covariance[columns, columns]


@pytest.fixture
def window(problem):
    """Of a robot whose batch has told what its prior did not."""
    rng, n = np.random.default_rng(7), problem.ndx
    A = rng.normal(size=(n, n)) / n
    x = problem.first.neutral()
    problem.parameter(x, "theta")[:] += 0.3 * problem.theta_prior_root @ rng.normal(size=10)
    window = Told(problem, x, A @ A.T + 1e-4 * np.eye(n))
    window.arrival.mean = 0.01 * rng.normal(size=n)
    return window


@pytest.fixture
def still(problem):
    """Of a robot that stands."""
    still = StillInertia(problem)
    still.excitation = seen(problem, noise_of(problem))
    return still


def projector(still: StillInertia, window: Told) -> np.ndarray:
    """On what is not told."""
    basis = still.excitation.missing(window.xs[-1], EXCITATION.least)
    unit = still.problem.theta_prior_root
    return unit @ basis @ basis.T @ np.linalg.inv(unit)


def test_what_is_kept_and_what_the_window_knows_are_all_that_is_known(still, window):
    across, before = projector(still, window), window.theta()
    still.hold(window)
    expected, rest = across @ before @ across.T, np.eye(10) - across
    np.testing.assert_allclose(window.kept.covariance, (1.0 - LEFT**2) * expected, rtol=1e-6)
    left = rest @ before @ rest.T + LEFT**2 * expected
    np.testing.assert_allclose(window.theta(), left, rtol=1e-6, atol=1e-10)
    # once more, where nothing has changed, nothing changes
    again = window.kept.covariance
    still.hold(window)
    np.testing.assert_allclose(window.kept.covariance, again, rtol=1e-4)


def test_the_estimate_stays_where_nothing_tells_it(problem, still, window):
    of = lambda x: problem.parameter(x, "theta").copy()  # noqa: E731
    across, value, was = projector(still, window), of(window.xs[-1]), of(window.arrival.estimate())
    still.hold(window)
    now, rest = of(window.arrival.estimate()), np.eye(10) - across
    np.testing.assert_allclose(across @ now, across @ value, atol=1e-9)
    np.testing.assert_allclose(rest @ now, rest @ was, atol=1e-9)


def test_motion_gives_back_what_was_kept(problem, still, window):
    still.hold(window)
    known = window.theta() + window.kept.covariance
    still.excitation = seen(problem, MOVES)
    still.hold(window)
    assert window.kept is None
    np.testing.assert_allclose(window.theta(), known, rtol=1e-6)


def test_a_load_leaves_what_nothing_tells_kept(problem, still, window):
    """Of a load on a robot that stands its weight is told, and nothing of its height."""
    across, root = projector(still, window), problem.theta_prior_root
    still.hold(window)
    inside, kept = window.theta(), window.kept.covariance
    release_inertia(window, root)
    rest = np.eye(10) - across
    added = rest @ root @ root.T @ rest.T
    np.testing.assert_allclose(window.theta(), inside + added, rtol=1e-6, atol=1e-9)
    expected = kept + across @ root @ root.T @ across.T
    np.testing.assert_allclose(window.kept.covariance, expected, rtol=1e-6, atol=1e-9)


def test_a_start_batch_that_stands_tells_no_height(standing):
    """Before: from 0.098 to 0.045 m within half a second of noise."""
    estimator, m = standing
    body = estimator.update(m).bodies[0]
    prior = estimator.config.estimator.com_stddev
    assert body.com_stddev[2] > 0.8 * prior
    assert max(body.com_stddev[:2]) < 0.3 * prior
    nominal = estimator.robot.model.inertias[1].inertia
    away = inertia_about_com(body.parameters) - nominal
    assert np.abs(away).max() < 0.05 * nominal.max()
    estimator.window.posterior()
    theta = estimator.window.head_covariance()[estimator.problem.columns("theta")]
    theta = theta[:, estimator.problem.columns("theta")]
    _, jacobian = estimator.problem.inertias(estimator.window.xs[-1])[0]
    assert com_stddev(body.parameters, jacobian @ theta @ jacobian.T)[2] > 0.8 * prior
