# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Ground of the simulated world: friction, softness, bumps, patches, stairs, slopes."""

from __future__ import annotations

from dataclasses import Field, dataclass, fields
from numbers import Integral

import numpy as np

from ..config.values import is_number
from ..declaration import param
from ..errors import ConfigError

RIGID = 0.005  # s, time constant of rigid contacts
CLEAR = 0.55  # m around the start without bumps
MOST_BUMPS = 20_000  # whose model is made in some seconds: time grows with their square
DEEP = 0.5  # m, thickness of ramps, which end below the floor
SOFT_IMPEDANCE = [0.96, 0.96, 0.001, 0.5, 2]  # of ground that gives: the same at any depth
RIGID_IMPEDANCE = [0.95, 0.99, 0.001, 0.5, 2]


@dataclass(frozen=True)
class Ground:
    """A floor at z = 0 and what is on it; every field is an option of `prime simulate`.

    Bumps are caps of buried spheres at seeded places, none near the start. Patches are squares with
    friction of their own, seeded too. A course leads along x, over the whole width: up from `begin`
    by stairs or by a slope, over a platform, and down again.
    """

    friction: float = param(0.8, "friction coefficient of the floor", "", 0.01, 5.0)
    bump_height: float = param(0.0, "height of bumps", "m", 0.0, 0.1)
    bump_radius: float = param(0.2, "radius of their caps at floor level", "m", 0.01, 1.0)
    spacing: float = param(0.45, "between neighbouring bumps", "m", 0.02, 5.0)
    extent: float = param(
        8.0, "half side of the square with bumps, half width of a course", "m", 1.0
    )
    stair_height: float = param(0.0, "riser of stairs", "m", 0.0, 0.2)
    stair_depth: float = param(0.33, "tread of stairs", "m", 0.05, 2.0)
    stair_count: int = param(5, "number of stairs, up and down", "", 1, 50)
    slope: float = param(0.0, "inclination of a slope", "rad", 0.0, 0.5)
    slope_length: float = param(2.0, "horizontal length of a slope, up and down", "m", 0.1, 50.0)
    platform: float = param(1.0, "length of level ground on top", "m", 0.0, 50.0)
    begin: float = param(0.8, "x at which stairs or slope begin", "m", 0.3)
    softness: float = param(
        RIGID, "time constant of the contacts: 0.03 gives 5 mm", "s", 0.002, 0.1
    )
    patch_friction: float = param(0.0, "friction coefficient of patches; 0: none", "", 0.0, 5.0)
    patch_size: float = param(0.5, "side of a patch", "m", 0.02, 10.0)
    patch_share: float = param(0.35, "share of the floor that is patched", "", 0.0, 1.0)

    def __post_init__(self):
        for field in fields(self):
            self._check_range(field)
        if not self.bump_height < self.bump_radius < self.spacing:
            raise ConfigError(
                f"ground out of range: bump_height < bump_radius < spacing is needed, got {self}",
                self,
            )
        if self.bump_height and (bumps := (2.0 * self.extent / self.spacing) ** 2) > MOST_BUMPS:
            raise ConfigError(
                f"ground out of range: {bumps:.2g} bumps within extent = {self.extent:g} m, but "
                f"MuJoCo takes minutes for more than {MOST_BUMPS}: give a smaller extent, or a "
                "larger spacing",
                self,
            )
        if self.stair_height and self.slope:
            raise ConfigError(
                "a course has stairs or a slope, not both: set one of them to 0", self
            )

    def _check_range(self, field: Field) -> None:
        value, low, high = getattr(self, field.name), *map(field.metadata.get, ("low", "high"))
        whole = isinstance(value, Integral) or not isinstance(field.default, int)
        if is_number(value) and whole and low <= value <= (np.inf if high is None else high):
            return
        unit = f" {field.metadata['unit']}" if field.metadata["unit"] else ""
        span = f"{low:g}{unit} or more" if high is None else f"{low:g}..{high:g}{unit}"
        kind = "" if whole else "a whole number, "
        raise ConfigError(
            f"ground out of range: {field.name} must be {kind}{span}, got {value!r}", self
        )

    @property
    def has_course(self) -> bool:
        """There are stairs or slopes."""
        return bool(self.stair_height or self.slope)

    @property
    def _climb(self) -> tuple[float, float]:
        """(length, height) of the way up [m]."""
        if self.stair_height:
            return (self.stair_count - 1) * self.stair_depth, self.stair_count * self.stair_height
        return self.slope_length, self.slope_length * np.tan(self.slope)

    def height(self, x: float) -> float:
        """Height of the course at x [m]; bumps are not in it."""
        if not self.has_course:
            return 0.0
        length, top = self._climb
        inwards = min(x - self.begin, self.begin + 2 * length + self.platform - x)
        if inwards < 0.0:
            return 0.0
        if self.stair_height:
            steps = min(int(inwards / self.stair_depth) + 1, self.stair_count)
            return steps * self.stair_height
        return top * min(inwards / length, 1.0) if length else top

    def boxes(self) -> list[tuple[np.ndarray, np.ndarray, float]]:
        """(centre, half sides, pitch [rad]) of the boxes that make the course."""
        if not self.has_course:
            return []
        length, top = self._climb
        middle = self.begin + length + 0.5 * self.platform
        if self.stair_height:
            half = 0.5 * self.stair_height
            return [
                (
                    np.array([middle, 0.0, (2 * i + 1) * half]),
                    np.array(
                        [length - i * self.stair_depth + 0.5 * self.platform, self.extent, half]
                    ),
                    0.0,
                )
                for i in range(self.stair_count)
            ]
        ramps = [self._ramp(middle, side) for side in (-1.0, 1.0)]
        if not self.platform:
            return ramps
        sides = np.array([0.5 * self.platform, self.extent, 0.5 * top])
        return [*ramps, (np.array([middle, 0.0, 0.5 * top]), sides, 0.0)]

    def _ramp(self, middle: float, side: float) -> tuple[np.ndarray, np.ndarray, float]:
        """A tilted box whose upper face is the slope on one side of the middle."""
        length, top = self._climb
        half = 0.5 * np.hypot(length, top)
        pitch = side * self.slope
        face = np.array([middle + side * 0.5 * (self.platform + length), 0.0, 0.5 * top])
        normal = np.array([np.sin(pitch), 0.0, np.cos(pitch)])
        return face - 0.5 * DEEP * normal, np.array([half, self.extent, 0.5 * DEEP]), pitch

    def spheres(self, seed: int) -> list[tuple[np.ndarray, float]]:
        """(centre, radius) of each bump."""
        if self.bump_height == 0.0:
            return []
        rng = np.random.default_rng([seed, 77])
        grid = np.arange(-self.extent, self.extent + 1e-9, self.spacing)
        xy = (
            np.array([(x, y) for x in grid for y in grid])
            + rng.uniform(-0.3, 0.3, (len(grid) ** 2, 2)) * self.spacing
        )
        xy = xy[np.linalg.norm(xy, axis=1) > CLEAR]
        height = self.bump_height * rng.uniform(0.4, 1.0, len(xy))
        radius = (self.bump_radius**2 + height**2) / (2 * height)
        return [(np.array([*p, h - r]), float(r)) for p, h, r in zip(xy, height, radius)]

    def friction_at(self, xy: np.ndarray, seed: int) -> float:
        """Friction coefficient at a place (2,) [m]."""
        if not self.patch_friction:
            return self.friction
        # cells are drawn one by one, so that the floor has no end; a seed is not negative
        cell = np.floor(xy / self.patch_size).astype(int) + 2**16
        patched = np.random.default_rng([seed, 78, *cell]).uniform() < self.patch_share
        return self.patch_friction if patched else self.friction

    def surface(self) -> tuple[list[float], list[float]]:
        """(solref, solimp) of MuJoCo's contacts."""
        soft = self.softness > RIGID
        return [self.softness, 1.0], SOFT_IMPEDANCE if soft else RIGID_IMPEDANCE
