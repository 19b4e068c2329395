# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Payload of a simulated robot: mass that its model does not know, welded on or sliding."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pinocchio as pin

from ..config.values import are_numbers, is_number
from ..errors import ConfigError


@dataclass(frozen=True)
class Payload:
    """Extra mass that the robot's model does not know: a homogeneous box on a link.

    Attributes:
        mass: kg.
        position: centre of the box in the frame of `link` [m].
        link: any link of the URDF; None: the base.
        size: edges of the box [m]; they give its rotational inertia.
        t_on, t_off: s from the start of the recording at which it is put on and taken off; with
            both, in this order or in the other one. Default: there from the beginning.
        stiffness, damping: of the springs along x and y of the link, on which it slides [N/m and
            N s/m]; stiffness 0: it is welded on.
    """

    mass: float
    position: tuple[float, float, float] = (0.0, 0.0, 0.1)
    link: str | None = None
    size: tuple[float, float, float] = (0.2, 0.16, 0.06)
    t_on: float | None = None
    t_off: float | None = None
    stiffness: float = 0.0
    damping: float = 5.0

    def __post_init__(self):
        single = self.mass, self.stiffness, self.damping
        known = are_numbers(single, 3) and are_numbers(self.position, 3)
        if not (known and are_numbers(self.size, 3) and self.mass > 0 and min(self.size) > 0):
            raise ConfigError(
                "a payload needs a positive mass and size and finite numbers, three of position "
                f"and size, got {self}",
                self,
            )
        if not all(t is None or is_number(t) for t in (self.t_on, self.t_off)):
            raise ConfigError(f"times of a payload are finite, got {self}", self)
        if min(self.stiffness, self.damping) < 0:
            raise ConfigError(f"springs of a payload are not negative, got {self}", self)
        if self.t_on is not None and self.t_on == self.t_off:
            raise ConfigError(
                f"a payload cannot be put on and taken off at the same time, {self.t_on} s", self
            )
        if self.slides and self.switches:
            raise ConfigError("a sliding payload is there all the time: no t_on, no t_off", self)

    @property
    def slides(self) -> bool:
        """It stands on springs."""
        return self.stiffness > 0.0

    @property
    def switches(self) -> list[float]:
        """When it is put on or taken off [s], in order."""
        return sorted(t for t in (self.t_on, self.t_off) if t is not None)

    def at(self, time: float) -> bool:
        """Whether it is on the robot at `time` s."""
        on, off = self.t_on, self.t_off
        if on is not None and off is not None:
            return on <= time < off if on < off else time < off or time >= on
        return not (on is not None and time < on or off is not None and time >= off)

    def moved(self, shift: np.ndarray) -> Payload:
        """The same at another place: moved by (2,) along x and y of its link [m]."""
        x, y, z = self.position
        return replace(self, position=(x + float(shift[0]), y + float(shift[1]), z))

    def inertia(self) -> pin.Inertia:
        """Spatial inertia in the frame of `link`."""
        x, y, z = self.size
        box = self.mass / 12 * np.diag([y * y + z * z, x * x + z * z, x * x + y * y])
        return pin.Inertia(self.mass, np.array(self.position, float), box)
