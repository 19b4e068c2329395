# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Directions of the inertia that are kept unchanged while no motion excites them."""

from __future__ import annotations

import numpy as np

from ..config.policies import EXCITATION, SMOOTHED
from .excitation import Excitation
from .kept import Kept
from .knowledge import hold_directions
from .problem import Problem
from .window import Window


class StillInertia:
    """Holds the inertia along unexcited directions, as a Schmidt-Kalman filter does.

    Along these directions the regressors are noise, which least squares takes for information: the
    centre of mass of a standing humanoid would sink by 10 mm/s, with a shrinking standard
    deviation. Therefore the knowledge along them is taken out of the window, and kept until there
    is motion.
    """

    def __init__(self, problem: Problem):
        self.problem = problem
        told = problem.floating and problem.has_imu and "theta" in problem.layout
        self.excitation = Excitation(problem) if told else None
        self._nodes = 0

    def begin(self, window: Window) -> None:
        """Keep what was known before a start batch of what its motion does not tell."""
        if self.excitation is None:
            return
        self._nodes = 0
        self.excitation.reset()
        for k in range(window.size):
            self.excitation.look(window, k)
        mean, root = self.problem.first.inertia
        across = self._untold(window)
        if across.any():
            hold_directions(window, across, mean)
            window.kept = Kept(across, across @ root)

    def follow(self, window: Window, held: bool) -> None:
        """Look at how the robot moves, and keep or give back what it tells unless all is held."""
        self._nodes += 1
        if self.excitation is None or self._nodes % EXCITATION.every:
            return
        # what moves is known to before it leaves the window, as knowledge of the rest
        self.excitation.look(window, max(-SMOOTHED.nodes, -window.size))
        if not held and self._nodes % EXCITATION.decide == 0:
            self.hold(window)

    def hold(self, window: Window) -> None:
        """Take theta for known along directions that motion does not tell, as it is."""
        if self.excitation is None:
            return
        across = self._untold(window)
        if window.kept is not None or across.any():
            hold_directions(window, across, self.problem.parameter(window.xs[-1], "theta"))

    def _untold(self, window: Window) -> np.ndarray:
        """Projector (ntheta, ntheta) on directions that motion does not tell."""
        least = EXCITATION.least if window.kept is None else EXCITATION.enough
        basis = self.excitation.missing(window.xs[-1], least)
        unit = self.problem.theta_prior_root
        if not basis.size:
            return np.zeros_like(unit)
        return np.linalg.solve(unit.T, basis @ basis.T @ unit.T).T
