# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""What footholds tell of the slope under the next one."""

from __future__ import annotations

import numpy as np
import pytest

from prime_estimation.config.policies import TERRAIN
from prime_estimation.contact.footholds import Footholds

PLACES = [(0.2, 0.15), (0.2, -0.15), (-0.2, 0.15), (-0.2, -0.15)]


def footholds(height) -> Footholds:
    out = Footholds(4)
    for x, y in PLACES * 2:
        out.add(np.array([x, y, height(x, y)]))
    return out


def test_nothing_is_known_before_the_first_ones():
    slope = Footholds(4).slope()
    np.testing.assert_array_equal(slope.mean, 0.0)
    assert slope.stddev == TERRAIN.slope


def test_a_plane_is_recognized():
    slope = footholds(lambda x, y: 0.3 + 0.2 * x - 0.1 * y).slope()
    assert slope.mean == pytest.approx([0.2, -0.1], abs=0.005)
    assert slope.stddev < 0.02


def test_a_floor_is_level():
    slope = footholds(lambda x, y: 0.3).slope()
    assert slope.mean == pytest.approx([0.0, 0.0], abs=1e-9)
    assert slope.stddev < 0.02


def test_uneven_ground_leaves_the_slope_open():
    slope = footholds(lambda x, y: 0.03 * np.sign(x * y)).slope()
    assert slope.mean == pytest.approx([0.0, 0.0], abs=1e-9)
    assert slope.stddev == TERRAIN.slope


def test_old_footholds_are_forgotten():
    feet = footholds(lambda x, y: 0.5 * x)
    for x, y in PLACES * TERRAIN.footholds:
        feet.add(np.array([x, y, 0.0]))
    assert feet.slope().mean == pytest.approx([0.0, 0.0], abs=1e-9)


def test_stairs_are_no_slope():
    """Footholds on treads rise like a plane on the whole; each tread is level."""
    feet = Footholds(4)
    for x, height in ((0.0, 0.0), (0.3, 0.09), (0.4, 0.09), (0.6, 0.18)):
        for y in (-0.15, 0.15):
            feet.add(np.array([x, y, height]))
    slope = feet.slope()
    assert np.abs(slope.mean).max() < 0.1
    assert slope.stddev > 0.1


def test_a_floor_is_known_by_a_foothold_of_each_foot():
    feet = Footholds(4)
    for x, y in PLACES[:3]:
        feet.add(np.array([x, y, 0.3]))
    assert not feet.on_floor
    feet.add(np.array([*PLACES[3], 0.3]))
    assert feet.on_floor


def test_bumps_are_no_floor():
    assert not footholds(lambda x, y: 0.03 * np.sign(x * y)).on_floor


def test_what_feet_sink_in_is_no_slope():
    """Footholds that deviate by 1.5 mm are a floor on soft ground, and uneven on a hard one."""
    feet = footholds(lambda x, y: 0.0015 * np.sign(x * y))
    assert not feet.on_floor and feet.slope().stddev > 0.05
    feet.sinking = 0.002
    assert feet.slope().level


@pytest.mark.parametrize("sinking", [0.0, 0.002])
@pytest.mark.parametrize("evenness", [1e-5, 1e-3, 1e-2])
def test_the_regression_is_that_of_its_matrices(evenness, sinking):
    """s = (S / variance + prior)^-1 (xz, yz) / variance, the variance that of the rest before."""
    rng = np.random.default_rng(2)
    for _ in range(20):
        slope, told = rng.normal(0.0, 0.1, 2), Footholds(4)
        told.sinking = sinking
        xy = rng.normal(0.0, 0.4, (8, 2))
        places = np.column_stack([xy, xy @ slope + evenness * rng.normal(size=8)])
        for place in places:
            told.add(place)
        away = places - places.mean(axis=0)
        S, prior = away[:, :2].T @ away[:, :2], np.eye(2) / TERRAIN.slope**2
        variance = least = TERRAIN.evenness**2 + sinking**2
        for _ in range(TERRAIN.passes):
            mean = np.linalg.solve(S / variance + prior, away[:, :2].T @ away[:, 2] / variance)
            rest = away[:, 2] - away[:, :2] @ mean
            variance = max(least, rest @ rest / 5)
        local = (variance - sinking**2) / TERRAIN.grain**2
        spread = 0.5 * np.trace(np.linalg.inv(S / variance + prior)) + local
        found = told.slope()
        assert found.stddev == pytest.approx(min(TERRAIN.slope, np.sqrt(spread)), rel=1e-9)
        mean = mean / (1.0 + local / TERRAIN.slope**2)
        assert found.mean == pytest.approx(np.zeros(2) if found.level else mean, abs=1e-9)


@pytest.mark.parametrize(("slope", "steep"), [(0.0, False), (0.01, False), (0.1, True)])
def test_on_a_slope_the_next_foothold_has_another_height(slope, steep):
    assert footholds(lambda x, y: slope * x).steep == steep


def test_nothing_slopes_before_there_are_footholds():
    assert not Footholds(4).steep


def test_footholds_that_move_with_the_world_slope_as_they_do_there():
    feet = footholds(lambda x, y: 0.2 * x)
    assert feet.slope().mean == pytest.approx([0.2, 0.0], abs=0.005)
    quarter = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    feet.move(lambda points: points @ quarter.T + [1.0, -2.0, 0.3])
    assert feet.slope().mean == pytest.approx([0.0, 0.2], abs=0.005)
    assert len(feet) == 8
