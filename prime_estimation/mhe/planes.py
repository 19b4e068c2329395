# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The ground under each foot, and that of the node which leaves the window next."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .problem import Problem
from .window import Window


@dataclass(frozen=True)
class Planes:
    """Height (nf,) [m] and slope (2 nf,) of the ground under each foot, at its anchor (2 nf,) [m].

    Zeros, where the ground has no slope.
    """

    height: np.ndarray
    slope: np.ndarray
    anchor: np.ndarray

    @staticmethod
    def of(problem: Problem, window: Window) -> Planes:
        """Those of a window, which all its nodes share."""
        x = window.xs[-1]
        height, slope = problem.parameter(x, "height").copy(), problem.parameter(x, "slope").copy()
        if not slope.size:
            return Planes(height, *np.zeros((2, 2 * len(height))))
        return Planes(height, slope, problem.dynamics.anchor.ravel())

    def as_bytes(self) -> tuple[bytes, ...]:
        """All numbers, to be compared."""
        return self.height.tobytes(), self.slope.tobytes(), self.anchor.tobytes()

    def stay_under_the_oldest(self, window: Window, now: Planes) -> None:
        """Let the node that leaves the window next stand on these planes, whatever they are now.

        Ground is moved after the window has been solved. In the nodes that stay, the next solution
        makes up for it. The one that leaves before would be linearized where feet are in the ground
        or out of it: at a gap of its dynamics that no step has closed. What cost-to-come then
        learns is wrong, of mass and tilt too.
        """
        if self.as_bytes() == now.as_bytes():
            return
        given = window.inputs[0]
        given.height_offset = given.height_offset + self.height - now.height
        given.slope_offset = given.slope_offset + self.slope - now.slope
        given.anchor_offset = given.anchor_offset + self.anchor - now.anchor
