# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Slope of the ground under each foot: laid with a foothold, then learned a little."""

from __future__ import annotations

import math

import numpy as np

from ..config.policies import TERRAIN
from ..contact.footholds import Slope
from ..sensors.frames import WorldMotion
from .knowledge import renew
from .problem import Problem
from .window import Window
from .world_motion import moved_slope

# slope of a level floor where the cost-to-come holds the place: exact, for slopes that have been
# corrected since would tell it, and the heading
EXACT_SLOPE = 1e-6


class Slopes:
    """Planes of the ground under the feet, and what they were thought to be before the data.

    Ground under a foot at (x, y) has the height `h + s . ((x, y) - a)`: h and the slope s are
    parameters of the window, the anchor a is where the foot has come down.

    Attributes:
        known: the problem has slopes; of ground that has none all are zero.
        rolling: some foot is a single sphere, which rolls on its ground.

    Args:
        problem: model and parameters.
    """

    def __init__(self, problem: Problem):
        self.problem = problem
        feet = problem.dynamics.nfeet
        self.known = "slope" in problem.layout
        if self.known:
            problem.dynamics.anchor = np.zeros((feet, 2))
        self._laid = [Slope(np.zeros(2), 0.0, level=True)] * feet
        self._means = np.zeros((feet, 2))  # of those
        spheres = [
            [c.radius for c in problem.robot.contacts if c.foot == f] for f in problem.robot.feet
        ]
        # a single sphere touches the ground elsewhere when the ground's normal turns
        self._radius = [r[0] if len(r) == 1 else 0.0 for r in spheres]
        self.rolling = any(self._radius)

    def at(self, x: np.ndarray) -> np.ndarray:
        """(nf, 2) slopes of a state."""
        slope = self.problem.parameter(x, "slope")
        return slope.reshape(-1, 2) if slope.size else np.zeros_like(self._means)

    def touching(self, soles: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Points (nf, 3) [m] of the feet that touch the sloping ground, from their lowest ones."""
        away = []  # from the lowest point: r (up - normal)
        for (x_slope, y_slope), radius in zip(self.at(x).tolist(), self._radius):
            length = math.sqrt(x_slope * x_slope + y_slope * y_slope + 1.0)
            dx, dy, dz = x_slope / length, y_slope / length, 1.0 - 1.0 / length
            away.append((radius * dx, radius * dy, radius * dz))
        return soles + away

    def steep(self, x: np.ndarray) -> np.ndarray | bool:
        """(nf,) feet whose ground has been turned further than that of any ground.

        From what it was laid as, by the state x.
        """
        if not self.known:
            return False
        away = self.at(x) - self._means
        return np.array([dx * dx + dy * dy > TERRAIN.steepest**2 for dx, dy in away.tolist()])

    def keep(self, x: np.ndarray) -> None:
        """Take the slopes that a state has for those that were laid."""
        for foot, mean in enumerate(self.at(x)):
            if mean.any():
                self.lay(foot, Slope(mean.copy(), TERRAIN.slope))

    def lay(self, foot: int, slope: Slope) -> None:
        """Remember what the ground under a foot is thought to slope like."""
        self._laid[foot], self._means[foot] = slope, slope.mean

    def incline(self, window: Window, feet: np.ndarray, slope: Slope) -> None:
        """Let the ground under these feet (nf,) slope so from now on."""
        for foot in np.flatnonzero(feet):
            self.lay(foot, slope)
            self._reset(window, foot)

    def reset(self, window: Window, feet: np.ndarray) -> None:
        """Let the ground under these feet, by index, slope as it was laid."""
        if self.known:
            for foot in feet:
                self._reset(window, foot)

    def move(self, motion: WorldMotion) -> None:
        """Carry along with the world what was laid."""
        for foot, slope in enumerate(self._laid):
            self.lay(foot, moved_slope(slope, motion))

    def _reset(self, window: Window, foot: int) -> None:
        """With the little that a window learns."""
        slope = self._laid[foot]
        stddev = TERRAIN.learned * slope.stddev
        if slope.level:
            stddev = EXACT_SLOPE if window.place.measured else TERRAIN.level
        renew(window, "slope", [2 * foot, 2 * foot + 1], slope.mean, stddev)
