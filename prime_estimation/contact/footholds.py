# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Footholds: where feet stood last, and how the ground between them slopes."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from ..config.policies import TERRAIN


@dataclass(frozen=True)
class Slope:
    """Slope of the ground under a foot, along the first two axes of the world.

    Attributes:
        mean: (2,). stddev: of each component. level: the ground is a level floor.
    """

    mean: np.ndarray
    stddev: float
    level: bool = False


class Footholds:
    """The newest footholds of all feet, and the plane through them.

    Ridge regression `z = c + s . (x, y)`: s is level within TERRAIN.slope, a foothold lies on the
    plane within what the footholds themselves show (at least TERRAIN.evenness). What they deviate
    from the plane is what the ground does between them: it slopes locally by that much over
    TERRAIN.grain. Where that is more than a slope may be, the plane is none of the ground's
    (stairs), and each foot's ground is level as far as anyone knows. What soft ground makes of
    them (`sinking`) is no slope.

    Attributes:
        on_floor: all of them, one for each foot at least, lie on one level plane.
        sinking: deviation from it that is no shape of the ground: feet sink in more or less
            deeply [m].
    """

    def __init__(self, feet: int):
        self._feet = feet
        self._places: deque[np.ndarray] = deque(maxlen=TERRAIN.footholds * feet)
        self.on_floor, self.sinking = False, 0.0

    def __len__(self) -> int:
        return len(self._places)

    @property
    def few(self) -> bool:
        """Whether there is not one for each foot."""
        return len(self) < self._feet

    def add(self, place: np.ndarray) -> None:
        """Remember a foothold (3,) [m], world axes."""
        self._places.append(np.array(place))
        if not self.few:
            self.on_floor = self.slope().level

    def slope(self) -> Slope:
        """What the footholds tell of the slope under the next one."""
        if len(self._places) < 2:
            return Slope(np.zeros(2), TERRAIN.slope, level=True)
        places = np.array(self._places)
        away = places - places.mean(axis=0)
        square = away[:, :2].T @ away[:, :2]
        prior = np.eye(2) / TERRAIN.slope**2
        variance = least = TERRAIN.evenness**2 + self.sinking**2
        for _ in range(TERRAIN.passes):
            mean = np.linalg.solve(square / variance + prior, away[:, :2].T @ away[:, 2] / variance)
            rest = away[:, 2] - away[:, :2] @ mean
            variance = max(least, float(rest @ rest) / max(len(places) - 3, 1))
        covariance = np.linalg.inv(square / variance + prior)
        local = (variance - self.sinking**2) / TERRAIN.grain**2
        stddev = min(TERRAIN.slope, float(np.sqrt(0.5 * np.trace(covariance) + local)))
        # footholds on no plane are steps or bumps: what is between them says nothing of each
        mean = mean / (1.0 + local / TERRAIN.slope**2)
        level = stddev < TERRAIN.floor and np.linalg.norm(mean) < TERRAIN.floor
        return Slope(np.zeros(2) if level else mean, stddev, level)
