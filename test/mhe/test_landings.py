# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Ground under feet that come down: free, then that of before or another one."""

from __future__ import annotations

import numpy as np
import pytest

from prime_estimation.config.policies import GROUND
from prime_estimation.mhe.landings import Landings

FOOT, GATE = 1, 0.004
OTHERS = np.array([True, False, True, True])


@pytest.fixture
def landing(standing):
    """Landings, window, and the arrival's covariance before a foot has touched down."""
    window = standing[0].window
    landings, before = Landings(window.problem, 4), np.array(window.arrival.covariance)
    landings.touch(window, ~OTHERS, np.full(4, 0.02), OTHERS)
    return landings, window, before


def height_and_the_rest(window) -> tuple[int, np.ndarray]:
    """Tangent index of the foot's height, and those of what is no velocity."""
    nv, row = window.problem.nv, window.problem.columns("height").start + FOOT
    return row, np.setdiff1d(np.arange(window.problem.ndx), [*range(nv, 2 * nv), row])


def find(window, away: float) -> float:
    """Let the ground be found so much higher than known [m]; returns what was known."""
    heights = window.problem.parameter(window.xs[0], "height").copy()
    known = heights[FOOT]
    heights[FOOT] += away
    window.set_parameter("height", heights)
    return known


def test_ground_is_free_while_a_foot_comes_down(landing):
    _, window, before = landing
    row, rest = height_and_the_rest(window)
    after = window.arrival.covariance
    assert after[row, row] - before[row, row] == pytest.approx(0.02**2 / 3.0, rel=0.01)
    np.testing.assert_allclose(after[rest][:, rest], before[rest][:, rest], atol=1e-12)


@pytest.mark.parametrize("away", [0.0, 0.001, 0.003])
def test_ground_found_where_it_was_is_known_again(landing, away):
    """With all that was known between it and the rest, and less surely the further off it is."""
    landings, window, before = landing
    row, rest = height_and_the_rest(window)
    known = find(window, away)
    assert not landings.join(window, ~OTHERS, GATE).any()
    away = known + away - window.problem.parameter(window.xs[-1], "height")[FOOT]
    after = window.arrival.covariance
    added = GROUND.flat**2 + (away**2 / GATE) ** 2
    assert after[row, row] == pytest.approx(before[row, row] + added, rel=1e-6)
    scale = np.sqrt(np.outer(np.diag(before), np.diag(before)))[row, rest]
    np.testing.assert_allclose(after[row, rest] / scale, before[row, rest] / scale, atol=1e-6)
    assert window.problem.parameter(window.xs[-1], "height")[FOOT] == pytest.approx(known, abs=1e-4)


def test_the_prior_is_as_before(landing):
    """The window's data, by which the ground was found, do not count twice."""
    landings, window, _ = landing
    mean, reference = np.array(window.arrival.mean), np.array(window.arrival.reference)
    find(window, 0.001)
    assert not landings.join(window, ~OTHERS, GATE).any()
    arrival, problem = window.arrival, window.problem
    moved = problem.parameter(arrival.reference, "height")
    moved = moved - problem.parameter(reference, "height")
    row, _ = height_and_the_rest(window)
    mean[problem.columns("height")] -= moved
    np.testing.assert_allclose(arrival.mean[row], mean[row], atol=1e-6)


def test_feet_that_come_down_together_are_known_again(standing):
    """Each by what stands; the height of one is not known by that of the other, which is free."""
    window = standing[0].window
    landings, before = Landings(window.problem, 4), np.array(window.arrival.covariance)
    two = np.array([True, False, False, True])
    landings.touch(window, two, np.full(4, 0.02), ~two)
    landings.join(window, two, GATE)
    heights = window.problem.columns("height")
    after = np.diag(window.arrival.covariance)[heights]
    np.testing.assert_allclose(after, np.diag(before)[heights] + two * GROUND.flat**2, rtol=1e-3)


def test_ground_found_elsewhere_stays_there(landing):
    landings, window, _ = landing
    known = find(window, 0.006)
    np.testing.assert_array_equal(landings.join(window, ~OTHERS, GATE), ~OTHERS)
    assert window.problem.parameter(window.xs[-1], "height")[FOOT] == pytest.approx(known + 0.006)
    assert not landings.join(window, ~OTHERS, GATE).any()  # it has been told once


@pytest.mark.parametrize("how", ["forgotten", "of another foot"])
def test_only_ground_that_is_remembered_is_joined(landing, how):
    landings, window, _ = landing
    if how == "forgotten":
        landings.forget()
    find(window, 0.006)
    assert not landings.join(window, ~OTHERS if how == "forgotten" else OTHERS, GATE).any()


def test_after_a_flight_the_ground_tells_the_height_of_the_base(standing):
    window = standing[0].window
    before = np.array(window.arrival.covariance)
    Landings(window.problem, 4).touch(window, ~OTHERS, np.full(4, 0.02), np.zeros(4, bool))
    np.testing.assert_array_equal(window.arrival.covariance, before)
