# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Footholds that are trodden twice tell whether the estimated ground rises."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from prime_estimation.config.policies import RISING
from prime_estimation.contact.rising import Rising

STEP, SPEED = 0.25, 0.4  # s, m/s
HIPS = [(0.19, 0.14), (-0.19, -0.14), (0.19, -0.14), (-0.19, 0.14)]


def trot(height: Callable, rate: float, steps: int = 16, noise: float = 0.001) -> Rising:
    """Diagonal pairs of feet in turn, along x."""
    rng, rising = np.random.default_rng(3), Rising()
    for k in range(steps):
        for x, y in HIPS[:2] if k % 2 else HIPS[2:]:
            place = np.array([x + SPEED * STEP * k, y])
            z = height(*place) + rate * STEP * k + noise * rng.normal()
            rising.add(STEP * k, np.array([*place, z]))
    return rising


def rough(x: float, y: float) -> float:
    """Bumps of 2 cm, wider than a foot."""
    return 0.01 * (np.sin(9.0 * x) + np.sin(11.0 * y + 1.0))


@pytest.mark.parametrize("rate", [-0.03, -0.015, 0.02])
@pytest.mark.parametrize("height", [lambda x, y: 0.0, rough, lambda x, y: 0.2 * x])
def test_a_rate_by_which_it_rises_is_stated(height, rate):
    rising = trot(height, rate)
    assert rising.rate(16 * STEP) == pytest.approx(abs(rate), abs=0.008)


@pytest.mark.parametrize(
    "height",
    [
        lambda x, y: 0.0,
        rough,
        lambda x, y: 0.2 * x,  # up a ramp
        lambda x, y: 0.08 * np.floor(x / 0.3),  # stairs: a third of the pairs has an edge between
    ],
)
def test_ground_that_stays_where_it_is_does_not_rise(height):
    assert trot(height, 0.0).rate(16 * STEP) < 0.004


def test_before_there_are_enough_it_is_not_known():
    rising = trot(lambda x, y: 0.0, 0.0, steps=3)
    assert rising.rate(3 * STEP) == RISING.untold


def test_who_stands_does_not_rise():
    rising = trot(lambda x, y: 0.0, 0.03)
    assert rising.rate(16 * STEP) > 0.0
    assert rising.rate(16 * STEP + RISING.pause) == 0.0
    assert Rising().rate(0.0) == 0.0


def test_footholds_move_with_the_world():
    rising, there = trot(rough, 0.02), trot(rough, 0.02)
    there.move(lambda points: points + np.array([1.0, -2.0, 0.3]))
    for other, away in ((rising, np.zeros(3)), (there, np.array([1.0, -2.0, 0.3]))):
        other.add(17 * STEP, np.array([1.6, 0.1, 0.1]) + away)
    assert there.rate(17 * STEP) == pytest.approx(rising.rate(17 * STEP), rel=1e-3)
