# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Ground that gives way under the feet."""

from __future__ import annotations

import math

import numpy as np

from ..config.policies import GROUND, TERRAIN
from ..robot import GRAVITY
from .knowledge import keep_within
from .problem import Problem
from .situation import Situation
from .window import Window

SINKS = 0.5  # logarithm of the compliance of ground in which feet go down as they stand


class Softness:
    """How much deeper feet stand than on hard ground.

    A foot that carries f stands `f / k(softness)` deep, with the stiffness k of the contact law.
    Hard ground has the softness 0, as all ground of a problem without this parameter.

    Args:
        problem: model and parameters.
    """

    def __init__(self, problem: Problem):
        self.problem = problem
        self._known = "softness" in problem.layout
        # by which feet go down on hard ground [m/N]
        self._compliance = 1.0 / problem.dynamics.stiffness(0.0) if self._known else 0.0
        # load of a foot of a robot that stands [N]
        self._standing = GRAVITY * problem.robot.total_mass / max(problem.dynamics.nfeet, 1)
        self._stood, self._was = GROUND.stood, GROUND.softest  # nodes; compliance before them

    def sinks(self, x: np.ndarray) -> bool:
        """Whether feet go down as they stand, by a state."""
        return self.problem.softness(x) > SINKS

    def depth(self, x: np.ndarray, normal: np.ndarray) -> np.ndarray:
        """(nf,) how far feet with these normal forces (nf,) [N] may be below the ground [m]."""
        return GROUND.sink * self._deeper(x, np.maximum(normal, 0.0))

    def spread(self, x: np.ndarray) -> float:
        """Deviation of footholds from their plane because feet sink in by different depths [m]."""
        return TERRAIN.sinking * self._deeper(x, self._standing)

    def bound(self, window: Window, situation: Situation) -> None:
        """Bound the ground's compliance: a robot that comes down seems to do so on soft ground.

        Until it has stood for a while, the ground is no softer than it was before.
        """
        if not self._known:
            return
        softest = self._was
        self._stood = 0 if situation.suspended else self._stood + 1
        if self._stood >= GROUND.stood:
            softness = float(self.problem.parameter(window.xs[-1], "softness")[0])
            self._was = max(math.exp(softness), 2.0 * GROUND.hardest)
            softest = GROUND.softest
        keep_within(window, "softness", GROUND.hardest, softest)

    def _deeper(self, x: np.ndarray, normal: np.ndarray | float) -> np.ndarray | float:
        softness = self.problem.softness(x)
        if softness == 0.0:
            return 0.0 * normal
        return normal * (1.0 / self.problem.dynamics.stiffness(softness) - self._compliance)
