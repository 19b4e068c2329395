# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Footholds: the last places where feet stood, and the slope of the ground between them."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
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

    Ridge regression `z = c + s . (x, y)`: the prior of the slope s is level with the standard
    deviation TERRAIN.slope; the deviation of footholds from the plane is that of the residuals (at
    least TERRAIN.evenness). The residuals are attributed to local slopes of the ground over the
    length TERRAIN.grain. The steeper these are compared with TERRAIN.slope (stairs), the less the
    plane says about the ground under a foot, and the nearer to level is the result. Residuals due
    to feet that sink into soft ground (`sinking`) are no slopes.

    Attributes:
        on_floor: all footholds, at least one per foot, lie on one level plane.
        sinking: deviation from the plane because feet sink in by different depths [m].
    """

    def __init__(self, feet: int):
        self._feet = feet
        self._places: deque[np.ndarray] = deque(maxlen=TERRAIN.footholds * feet)
        self.on_floor, self.sinking = False, 0.0
        self._told: tuple[float, Slope] | None = None  # with which sinking, by these footholds

    def __len__(self) -> int:
        return len(self._places)

    @property
    def few(self) -> bool:
        """Whether there is not one for each foot."""
        return len(self) < self._feet

    @property
    def steep(self) -> bool:
        """Whether the plane slopes: the next foothold is elsewhere, and not as high as the last."""
        return not self.few and math.hypot(*self.slope().mean) > TERRAIN.floor

    def add(self, place: np.ndarray) -> None:
        """Remember a foothold (3,) [m], world axes."""
        self._places.append(np.array(place))
        self._told = None
        if not self.few:
            self.on_floor = self.slope().level

    def move(self, points: Callable[[np.ndarray], np.ndarray]) -> None:
        """Carry all footholds along, by where points (n, 3) [m] come to."""
        places = [points(place[None])[0] for place in self._places]
        self._places, self._told = deque(places, maxlen=self._places.maxlen), None

    def slope(self) -> Slope:
        """What the footholds tell of the slope under the next one."""
        if len(self._places) < 2:
            return Slope(np.zeros(2), TERRAIN.slope, level=True)
        if self._told is None or self._told[0] != self.sinking:
            self._told = self.sinking, self._regress()
        return self._told[1]

    def _regress(self) -> Slope:
        """Plain numbers: `(S + prior variance) s = sum z (x, y)`, S = sum (x, y)^T (x, y)."""
        places = np.array(self._places)
        away = places - places.sum(axis=0) / len(places)
        (xx, xy, xz), (_, yy, yz), (*_, zz) = (away.T @ away).tolist()
        prior = 1.0 / TERRAIN.slope**2
        variance = least = TERRAIN.evenness**2 + self.sinking**2
        for _ in range(TERRAIN.passes):
            first, second = xx + prior * variance, yy + prior * variance
            area = first * second - xy * xy
            x, y = (second * xz - xy * yz) / area, (first * yz - xy * xz) / area
            rest = zz - 2.0 * (x * xz + y * yz) + x * x * xx + 2.0 * x * y * xy + y * y * yy
            variance = max(least, rest / max(len(places) - 3, 1))
        first, second = xx + prior * variance, yy + prior * variance
        spread = variance * (first + second) / (first * second - xy * xy)  # trace of (.)^-1
        local = (variance - self.sinking**2) / TERRAIN.grain**2
        stddev = min(TERRAIN.slope, math.sqrt(0.5 * spread + local))
        # footholds on no plane are steps or bumps: what is between them says nothing of each
        x, y = (part / (1.0 + local * prior) for part in (x, y))
        level = stddev < TERRAIN.floor and math.hypot(x, y) < TERRAIN.floor
        return Slope(np.zeros(2) if level else np.array([x, y]), stddev, level)
