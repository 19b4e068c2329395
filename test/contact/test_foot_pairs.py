# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Pairs of standing feet: which they are, where they are, and how they move."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from helpers import models

from prime_estimation.contact.foot_pairs import STANDS, FootPairs
from prime_estimation.contact.leg_forces import LegForces
from prime_estimation.robot import GRAVITY

Q, RATES = np.tile([0.1, 0.8, -1.5], 4), np.linspace(-1.0, 1.0, 12)
TURN, RATE = pin.Quaternion(pin.rpy.rpyToMatrix(0.2, -0.1, 0.7)), np.array([0.3, -0.2, 0.5])


@pytest.fixture(scope="module")
def pairs() -> FootPairs:
    robot = models.robot("go2")
    return FootPairs(robot, LegForces(robot))


def soles_at(pairs, time: float) -> np.ndarray:
    """Soles (nf, 3) [m] of legs that move on at their rates, of a base that turns on the spot."""
    turn = TURN.toRotationMatrix() @ pin.exp3(time * RATE)
    return pairs.soles(Q + time * RATES, 0.0 * RATES, None, 0.0, pin.Quaternion(turn))[0]


def test_rates_are_derivatives_of_places_in_the_middle_of_the_step(pairs):
    step, h = 0.02, 1e-6
    soles, rates, normal = pairs.soles(Q + 0.5 * step * RATES, RATES, None, step, TURN, RATE)
    np.testing.assert_allclose(soles, soles_at(pairs, 0.0), atol=1e-12)
    slopes = (soles_at(pairs, h) - soles_at(pairs, -h)) / (2.0 * h)
    np.testing.assert_allclose(rates, slopes, atol=0.05)  # the lowest point rolls on its sphere
    assert np.isnan(normal).all()


def test_pairs_are_those_of_feet_that_carry(pairs):
    least = STANDS * pairs.robot.total_mass * GRAVITY
    normal = least * np.array([1.1, 0.9, 1.1, 5.0])
    np.testing.assert_array_equal(pairs.standing(normal), [True, False, True, True])
    soles, rates = np.arange(12.0).reshape(4, 3) ** 2, np.arange(12.0).reshape(4, 3) ** 3
    moves, apart = pairs.apart(soles, rates, normal)
    of = [(0, 2), (0, 3), (2, 3)]
    np.testing.assert_array_equal(moves, [rates[i] - rates[j] for i, j in of])
    np.testing.assert_array_equal(apart, [soles[i] - soles[j] for i, j in of])


def test_without_torques_all_feet_may_stand(pairs):
    unknown = np.full(4, np.nan)
    assert pairs.standing(unknown).all()
    assert len(pairs.apart(np.zeros((4, 3)), np.zeros((4, 3)), unknown)[0]) == pairs.number == 6
