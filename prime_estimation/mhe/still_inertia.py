# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Directions of the inertia that stay as they are while no motion tells them."""

from __future__ import annotations

import math

import numpy as np

from ..config.policies import EXCITATION
from .excitation import Excitation
from .knowledge import hold_directions, inflate
from .problem import Problem
from .window import Window

# share of their deviations that directions keep in the window: with less its cost is ill-conditioned
LEFT = 0.01


class StillInertia:
    """Holds the inertia along directions of which motion tells nothing, as a Schmidt filter does.

    Regressors that are noise tell what is not there, and least squares follow it: the centre of
    mass of a humanoid that stands sank by 10 mm/s, with a deviation that shrank. So what is known
    along them is taken out of the window, and kept beside it until there is motion:

        P = P_window + T U T^T,

    with orthonormal directions T in units of the prior's root.
    """

    def __init__(self, problem: Problem):
        self.problem = problem
        self._told = problem.floating and problem.has_imu and "theta" in problem.layout
        self._excitation = Excitation(problem) if self._told else None
        self._unit = problem.theta_prior_root
        self._per_unit = np.linalg.inv(self._unit)
        self.forget()

    def forget(self) -> None:
        """Keep nothing beside the window: it is lost, or its inertia held as a whole."""
        self._root, self._nodes = np.zeros(self._unit.shape), 0

    @property
    def covariance(self) -> np.ndarray:
        """(ntheta, ntheta) of what is kept."""
        return self._root @ self._root.T

    def begin(self, window: Window) -> None:
        """Keep what was known before a start batch of what its motion does not tell."""
        self.forget()
        if not self._told:
            return
        self._excitation.reset()
        for k in range(window.size):
            self._excitation.look(window, k)
        mean, self._root = self.problem.first.inertia
        self._hold(window, mean)

    def follow(self, window: Window) -> None:
        """Look at how the robot moves, and keep or give back what that tells."""
        self._nodes += 1
        if not self._told or self._nodes % EXCITATION.every:
            return
        self._excitation.look(window)
        if self._nodes % EXCITATION.decide == 0:
            self._hold(window, self.problem.parameter(window.xs[-1], "theta"))

    def _hold(self, window: Window, value: np.ndarray) -> None:
        """Take theta along directions that nothing tells for known, at a value (ntheta,)."""
        holds = self._root.any()
        least = EXCITATION.enough if holds else EXCITATION.least
        basis = self._excitation.missing(window.xs[-1], least)
        if not (holds or basis.size):
            return
        columns = self.problem.columns("theta")
        inflate(window, columns, self._root)
        across = self._unit @ (basis @ basis.T) @ self._per_unit
        kept = np.linalg.qr((across @ window.arrival.L[columns]).T, mode="r").T
        hold_directions(window, across, LEFT * kept, value)
        self._root = math.sqrt(1.0 - LEFT**2) * kept
