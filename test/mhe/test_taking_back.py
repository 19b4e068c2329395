# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""What has been learned of tilt and accelerometer bias since some node, and is taken back."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest
from helpers.models import problem

from prime_estimation import _core
from prime_estimation.mhe.taking_back import TakingBack, forget_impulse
from prime_estimation.robot import GRAVITY

STEP = 10_000_000  # ns
TURN = np.array([0.02, -0.05, 0.3])  # of the base in a node [rad]


@pytest.fixture(scope="module")
def go2():
    return problem("go2")


def state(go2, turns: int) -> np.ndarray:
    """Of a base that leans, after so many turns."""
    x, lean = go2.first.neutral(), pin.exp3(np.array([0.2, 0.1, 0.0]))
    x[3:7] = pin.Quaternion(lean @ pin.exp3(turns * TURN)).coeffs()
    return x


def window(go2, covariance: np.ndarray, turns: int = 0, mean: np.ndarray | None = None):
    """One that has lost so many nodes, with this arrival cost."""
    xs = [state(go2, turns), state(go2, turns + 1)]
    arrival = _core.ActionArrival(go2.state, xs[0], covariance)
    arrival.mean = np.zeros(go2.ndx) if mean is None else mean
    return SimpleNamespace(
        problem=go2, size=10, xs=xs, arrival=arrival, stamps=[turns * STEP, (turns + 1) * STEP]
    )


def rows(go2, x: np.ndarray) -> np.ndarray:
    """(5, ndx) of g times the tilt about the world's x and y, and of the bias."""
    both = np.zeros((5, go2.ndx))
    both[:2, go2.columns("rotation")] = GRAVITY * pin.Quaternion(x[3:7]).toRotationMatrix()[:2]
    both[2:, go2.columns("accelerometer_bias")] = np.eye(3)
    return both


def spread(go2, turns: int = 0) -> np.ndarray:
    """Some covariance, the same in the world after any turns."""
    root = 1e-3 * np.random.default_rng(1).normal(size=(go2.ndx, go2.ndx))
    columns = go2.columns("rotation")
    root[columns] = pin.exp3(turns * TURN).T @ root[columns]
    return root @ root.T + 1e-6 * np.eye(go2.ndx)


def taught(go2, covariance: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance after five readings of both that say something else."""
    both, reading = rows(go2, x), 1e-2 * np.array([0.03, -0.02, 0.05, 0.02, -0.01])
    gain = covariance @ both.T @ np.linalg.inv(both @ covariance @ both.T + 1e-5 * np.eye(5))
    return gain @ reading, covariance - gain @ both @ covariance


@pytest.mark.parametrize("turns", [1, 3])
def test_all_of_the_arrival_cost_is_as_it_was(go2, turns):
    """Other variables, too: readings of these two have told of them only by these two."""
    it = TakingBack(go2, 10)
    for before in range(turns):
        it.note(window(go2, spread(go2, before), before))
    mean, less = taught(go2, spread(go2, turns), state(go2, turns))
    assert np.abs(mean).max() > 1e-4
    after = window(go2, less, turns, mean)
    it.note(after)
    assert it.take_back(after, 0)
    np.testing.assert_allclose(after.arrival.mean, 0.0, atol=1e-7)
    np.testing.assert_allclose(after.arrival.covariance, spread(go2, turns), atol=1e-8)


def test_where_less_is_known_now_nothing_changes(go2):
    covariance = spread(go2)
    it = TakingBack(go2, 10)
    it.note(window(go2, covariance))
    mean = 1e-2 * np.ones(go2.ndx)
    after = window(go2, 4.0 * covariance, 1, mean)
    it.note(after)
    it.take_back(after, 0)
    np.testing.assert_allclose(after.arrival.mean, mean)
    np.testing.assert_allclose(after.arrival.covariance, 4.0 * covariance, atol=1e-12)


def test_what_the_window_still_has_is_not_taken_back(go2):
    covariance = spread(go2)
    it = TakingBack(go2, 10)
    it.note(window(go2, covariance))
    mean, less = taught(go2, covariance, state(go2, 1))
    after = window(go2, less, 1, mean)
    it.note(after)
    assert not it.take_back(after, after.stamps[0])
    np.testing.assert_array_equal(after.arrival.mean, mean)


def test_an_impulse_is_one_of_the_world(go2):
    covariance = spread(go2)
    it, velocity = window(go2, covariance, 2), np.array([0.3, -0.1])
    forget_impulse(it, velocity, 0.2)
    turn = pin.Quaternion(it.xs[0][3:7]).toRotationMatrix()
    added = it.arrival.covariance - covariance
    for name, size in (("velocity", 1.0), ("position", 0.1)):
        columns = go2.columns(name)
        there = turn @ added[columns, columns] @ turn.T
        wanted = np.zeros((3, 3))
        wanted[:2, :2] = size**2 * np.outer(velocity, velocity)
        np.testing.assert_allclose(there, wanted, atol=1e-9)
