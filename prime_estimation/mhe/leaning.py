# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""How far the base leans because feet sink alike at each touch-down."""

from __future__ import annotations

import math
from collections import deque

import numpy as np

from ..config.policies import INTERVAL
from .problem import Problem
from .window import Window


class Leaning:
    """Follows what touch-downs do to the tilt that point feet tell.

    A foot that comes down with some speed is deeper in the ground at the end of its node than the
    contact law has it for its load, and that in each step. The disturbance xi of the landing step
    is taken for noise without a mean, so that each step pulls at the tilt in the same direction.
    Its pull on a robust estimate is its influence `psi = w^2 xi_z dt` [m], with the weight w of its
    Student-t: 0 in the mean for such noise. A tilt d moves a foot by `d s` against its ground while
    the base goes on by its way s, so that

        d = share E[psi] s / (s^2 + s_0^2),

    where s_0 is a way on which something else than the feet tells the tilt. That is stated as an
    uncertainty, and not corrected: with its mean taken out of xi, most of the tilt's error is left.

    Args:
        problem: sizes and step.
    """

    def __init__(self, problem: Problem):
        self.problem = problem
        parts = problem.process.foot_parts
        # flat feet tell the tilt by their soles
        self._points = np.array([part.stop - part.start == 3 for part in parts], bool)
        self._normal = [part.start + 2 for part in parts]  # row of xi
        self._nodes: deque[tuple[int, np.ndarray]] = deque()  # stamps [ns], feet that carry there
        self._stood: np.ndarray | None = None  # the same of the oldest node
        self._pull, self._way, self._steps = 0.0, 0.0, 0
        self.move()

    @property
    def tilt(self) -> float:
        """Deviation of roll and pitch [rad]."""
        way, least = self._way, INTERVAL.landing_way
        return INTERVAL.landing_share * abs(self._pull) * way / (way * way + least * least)

    def move(self) -> None:
        """The world has moved: the ways of stances that have begun are not known."""
        self._came = np.full((len(self._normal), 2), math.nan)

    def look(self, window: Window, loaded: np.ndarray) -> None:
        """Look at the oldest node, of which all is known by now.

        Args:
            window: solved.
            loaded: (nf,) feet that carry at the newest complete node.
        """
        self._nodes.append((window.stamps[-2], loaded & self._points))
        while self._nodes[0][0] < window.stamps[0]:
            self._nodes.popleft()
        stamp, stands = self._nodes[0]
        if stamp != window.stamps[0]:
            return
        before, self._stood = self._stood, stands
        if before is None or not np.count_nonzero(before != stands):
            return
        place = window.xs[0][:2]
        for foot in np.flatnonzero(before != stands).tolist():
            if stands[foot]:
                self._land(window, foot)
                self._came[foot] = place
            elif math.isfinite(way := math.hypot(*(place - self._came[foot]).tolist())):
                self._way += self._share() * (way - self._way)

    def _land(self, window: Window, foot: int) -> None:
        row, given = self._normal[foot], window.inputs[0]
        weight = given.weight_xi[row] / given.nominal_xi[row]
        sinks = self.problem.dt * float(window.us[0][self.problem.nv + row])
        self._steps += 1
        self._pull += self._share() * (weight * weight * sinks - self._pull)

    def _share(self) -> float:
        return 1.0 / min(self._steps + INTERVAL.landing_few, INTERVAL.landing_steps)
