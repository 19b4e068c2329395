# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Torque at the links: what motors read, less losses of gears, joints and rotors."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.models import robot

from prime_estimation.joint_friction import FRICTION_VELOCITY, TORQUE_WIDTH, JointLosses

NONE = dict.fromkeys(("damping", "dry_friction", "gear_loss", "stribeck"), np.zeros(12))
FAST = 1e6 * FRICTION_VELOCITY  # rad/s, at which dry friction is all there


def passed(torque: float, rate: float = 0.0, acceleration: float = 0.0, **told: float) -> float:
    """Torque [Nm] at the links of a Go2 whose joints have these losses alone."""
    losses = JointLosses.of(
        robot("go2"), NONE | {name: np.full(12, value) for name, value in told.items()}
    )
    at_links = losses.passed(*(np.full(12, x) for x in (torque, rate, acceleration)))
    assert np.ptp(at_links) == pytest.approx(0.0, abs=1e-9)
    return at_links[0]


def test_a_gain_says_how_much_larger_a_reading_is_and_an_offset_comes_first():
    assert passed(4.0) == 4.0
    assert passed(4.0, torque_gain=np.log(2.0)) == pytest.approx(2.0)
    assert passed(4.0, torque_gain=np.log(2.0), torque_offset=1.0) == pytest.approx(1.5)


@pytest.mark.parametrize("way", [1.0, -1.0])
def test_losses_act_against_the_motion(way):
    rate = way * FAST
    assert passed(4.0, rate, dry_friction=0.5) == pytest.approx(4.0 - 0.5 * way)
    assert passed(4.0, way * 2.0, damping=0.1) == pytest.approx(4.0 - 0.2 * way)
    for torque in (4.0, -4.0):  # of gears whichever way they push
        lost = 0.1 * (np.hypot(4.0, TORQUE_WIDTH) - TORQUE_WIDTH)
        assert passed(torque, rate, gear_loss=0.1) == pytest.approx(torque - lost * way)


def test_a_joint_that_begins_to_move_breaks_away():
    slow = 30.0 * FRICTION_VELOCITY
    more = 4.0 - passed(4.0, slow, stribeck=0.5, stribeck_velocity=slow)
    assert more == pytest.approx(0.5 * np.exp(-1.0), rel=1e-3)
    assert passed(4.0, FAST, stribeck=0.5, stribeck_velocity=slow) == pytest.approx(4.0)


def test_rotors_that_the_model_lacks_take_their_part():
    own = robot("go2").model.armature[-12:]
    losses = JointLosses.of(robot("go2"), NONE | {"armature": own + 0.01})
    at_links = losses.passed(np.full(12, 4.0), np.zeros(12), np.full(12, 50.0))
    np.testing.assert_allclose(at_links, 4.0 - 0.01 * 50.0)
    assert not JointLosses.of(robot("go2")).added_armature.any()
