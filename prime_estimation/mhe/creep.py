# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Creeping feet, on an edge, along a wall, or on yielding ground, which no plane holds."""

from __future__ import annotations

import numpy as np

from ..config.policies import TERRAIN
from .problem import Problem
from .window import Window


class Creep:
    """Tracks creeping feet, from their detection until they land again.

    The contact disturbance is white noise with heavy tails, which allows a foot to slip for a node.
    A foot that slides through a whole window is not noise: it would rotate its ground plane until
    the plane contains the path, and the contact force with it; or it would move the base.

    Attributes:
        velocity: (nf,) unexplained velocity of each foot [m/s]; 0 for feet that stand. any: some
            foot creeps.
        superseded: all standing feet move and are expected to, so that no foot is an exception.
    """

    def __init__(self, problem: Problem):
        self.problem = problem
        self.velocity, self.any = np.zeros(problem.dynamics.nfeet), False
        self.superseded = False

    def land(self, feet: np.ndarray) -> None:
        """Put these feet (nf,) down: they stand."""
        if self.any:
            self.velocity[feet] = 0.0
            self.any = bool(self.velocity.any())

    def sliding(self, window: Window) -> np.ndarray:
        """(nf,) feet that slide through much of a solved window."""
        slides = window.slack(window.us) > TERRAIN.slack
        if np.count_nonzero(slides) < TERRAIN.sliding:
            return np.zeros(slides.shape[1], bool)
        return slides.sum(axis=0) >= TERRAIN.sliding

    def straining(self, window: Window, before: list[np.ndarray]) -> np.ndarray:
        """(nf,) feet that slid somewhere in a window before it was solved, or that do now."""
        slack = np.maximum(window.slack(before), window.slack(window.us))
        return slack.max(axis=0) > TERRAIN.slack

    def begin(self, window: Window, which: np.ndarray) -> np.ndarray:
        """Let these feet (nf,) creep at all nodes of a window; returns indices of those new."""
        may = self.problem.contacts.lets_creep and not self.superseded
        if not (may and np.count_nonzero(which)):
            return np.zeros(0, int)
        new = which & (self.velocity == 0.0)
        if new.any():
            self.velocity[new], self.any = TERRAIN.creep, True
            for given in window.inputs[:-1]:
                self.problem.process.expect_creep(given, np.where(new, self.velocity, 0.0))
        return np.flatnonzero(new)
