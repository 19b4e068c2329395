# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Ground of a start batch: a level floor, or the footholds of each foot.

A floor determines the tilt better than the specific force does. Slopes, steps or boxes that are
taken for a floor tilt the base instead: a robot on a slope of 12 degrees would start upright.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..config.policies import TERRAIN
from ..contact.footholds import Footholds, Slope

STANDING = 0.5  # share of its part of the weight with which a foot stands
SHORTEST = 3  # nodes of a stance
GUESSED = 0.005  # deviation of the place of a stance by what is guessed [m]
FLAT = 0.002  # deviation of stances that is none of a ground [m]
STEP = 0.01  # and that which even a few are too far apart for on a floor
LIFTED = 0.03  # way of a sole that has stepped: one that begins to lift has stood so far [m]
SKEW = 0.01  # deviation of the vertical by what is felt in a batch; up to 15 mrad were seen [rad]


@dataclass(frozen=True)
class Stance:
    """A foot that stands.

    Attributes:
        node, last: the first one and the last one. place: (3,) of its sole [m].
        sure: it carries all the time.
    """

    node: int
    last: int
    place: np.ndarray
    sure: bool = True


def stances_of(loads: np.ndarray, soles: np.ndarray) -> list[Stance]:
    """Stances of a foot by its loads (n,) and soles (n, 3), one at least."""
    stands = np.flatnonzero(loads > STANDING)
    runs = np.split(stands, np.flatnonzero(np.diff(stands) > 1) + 1)
    stances = [
        Stance(int(k[0]), int(k[-1]), np.average(soles[k], axis=0, weights=loads[k]))
        for k in runs
        if len(k) >= SHORTEST
    ]
    mean = np.average(soles, axis=0, weights=loads)
    return stances or [Stance(0, len(loads) - 1, mean, sure=False)]


def all_stances(loads: np.ndarray, soles: np.ndarray) -> list[list[Stance]]:
    """Stances of each foot by the loads (n, nf) and soles (n, nf, 3) of all."""
    return [stances_of(*of_foot) for of_foot in zip(loads.T, soles.transpose(1, 0, 2))]


def _in_order(stances: list[list[Stance]]) -> list[Stance]:
    """Stances of all feet that carry."""
    return sorted((s for own in stances for s in own if s.sure), key=lambda stance: stance.node)


def deviation(stances: list[list[Stance]]) -> float:
    """Deviation of the stances of all feet from their mean height [m]."""
    return float(np.std([s.place[2] for s in _in_order(stances)] or [0.0]))


def slope_of(stances: list[list[Stance]]) -> Slope:
    """How the ground slopes, by the stances of all feet: level where they do not tell."""
    footholds, away = Footholds(len(stances)), deviation(stances)
    footholds.sinking = GUESSED
    for stance in _in_order(stances):
        footholds.add(stance.place)
    if footholds.few:
        return Slope(np.zeros(2), TERRAIN.slope, level=away < STEP)
    return footholds.slope() if away > FLAT else Slope(np.zeros(2), 0.0, level=True)


def is_floor(stances: list[list[Stance]], skew: float = 0.0) -> bool:
    """Whether the ground is seen to be a level floor, beside motion capture.

        min over s:  mean (z - s . (x, y))^2 / FLAT^2 + |s|^2 / skew^2  <  1

    Feet that were not seen to stand count: without a floor the tilt is as good.

    Args:
        stances: of all feet.
        skew: deviation of the vertical by which their places are told [rad].
    """
    places = np.array([s.place for own in stances for s in own])
    flat, heights = np.split(places - places.mean(axis=0), [2], axis=1)
    rest = np.mean(heights**2)
    if skew:
        inner, cross = flat.T @ flat / len(flat), flat.T @ heights[:, 0] / len(flat)
        rest -= cross @ np.linalg.solve(inner + (FLAT / skew) ** 2 * np.eye(2), cross)
    return bool(rest < FLAT**2)


def footholds_of(stances: list[Stance], n: int) -> np.ndarray:
    """Places (n, 3) [m] of a foot at n nodes: the nearest of its stances in time.

    A foot that swings is nearer to the next one from the middle of its swing on.
    """
    left, came = (np.array([getattr(s, name) for s in stances]) for name in ("last", "node"))
    nearest = np.searchsorted(0.5 * (left[:-1] + came[1:]), np.arange(n))
    return np.array([s.place for s in stances])[nearest]
