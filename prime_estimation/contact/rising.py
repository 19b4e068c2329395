# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Apparent rise of the ground, from footholds at the same place at different times."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable

import numpy as np

from ..config.policies import RISING, TERRAIN


class Rising:
    """Estimates the rate at which the height of footholds near each other changes with time.

    No sensor measures the height of the world. If each foothold is placed anew, an error of the
    same sign in every step moves all of the ground: feet that rise as their load decreases, legs
    that yield, ground that stays compressed. The real ground does not move. For pairs of footholds
    (i before j) near each other,

        z_j - z_i = s . (p_j - p_i) + r (t_j - t_i) + n,   n ~ N(0, (roughness d)^2 + 2 place^2)

    with one slope s for all pairs, r is the drift of the estimate. Slopes and stairs do not cause
    such a rate, because front and hind feet tread on them at different times. Heavy tails of n
    exclude edges. The rate is stated as an uncertainty, and not corrected: a constant difference
    between front and hind feet, of legs that yield, would look like such a rate, too.
    """

    def __init__(self) -> None:
        self._footholds: deque[np.ndarray] = deque(maxlen=RISING.footholds)
        self._rate: float | None = RISING.untold  # None: not asked for since the last foothold

    def rate(self, time: float) -> float:
        """Deviation of the vertical velocity [m/s] at a time [s], beside what r is by chance.

        It goes on for as long as feet are put down.
        """
        if not self._footholds or time - self._footholds[-1][0] >= RISING.pause:
            return 0.0
        if self._rate is None:
            self._rate = self._regress()
        return self._rate

    def move(self, points: Callable[[np.ndarray], np.ndarray]) -> None:
        """Carry all footholds along, by where points (n, 3) [m] come to."""
        for foothold in self._footholds:
            foothold[1:] = points(foothold[None, 1:])[0]

    def add(self, time: float, place: np.ndarray) -> None:
        """Remember a foothold (3,) [m] of this time [s]; what they tell is known anew."""
        self._footholds.append(np.array([time, *place]))
        if len(self._footholds) >= RISING.least:
            self._rate = None

    def _regress(self) -> float:
        footholds = np.array(self._footholds)
        first, second = np.triu_indices(len(footholds), 1)
        pairs = footholds[second] - footholds[first]
        far = np.hypot(pairs[:, 1], pairs[:, 2])
        near = (far < RISING.near) & (pairs[:, 0] > RISING.apart)
        pairs, far = pairs[near], far[near]
        if not len(pairs):
            return 0.0
        weight = 1.0 / ((RISING.roughness * far) ** 2 + 2.0 * RISING.place**2)
        rows, rise = pairs[:, [1, 2, 0]], pairs[:, 3]
        prior = np.diag([TERRAIN.slope**-2, TERRAIN.slope**-2, RISING.stddev**-2])
        found, data, dof = np.zeros(3), prior, RISING.dof
        for _ in range(RISING.passes):  # from level ground that stays: edges are outliers then
            square = weight * (rise - rows @ found) ** 2
            weighed = rows.T * (weight * (dof + 1.0) / (dof + square))
            data = weighed @ rows
            found = np.linalg.solve(data + prior, weighed @ rise)
        # pairs share footholds, which are what is independent
        share = min(1.0, len(footholds) / len(pairs))
        variance = np.linalg.inv(share * data + prior)[2, 2] + RISING.chance**2
        return math.sqrt(max(float(found[2] ** 2 - variance), 0.0))
