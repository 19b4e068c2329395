# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Leg weight: load of the legs, by their torques, beyond the estimated weight."""

from __future__ import annotations

import math
from collections import deque

import numpy as np

from ..config.policies import LEG_WEIGHT, SMOOTHED
from ..mhe.problem import Problem
from ..mhe.window import Window
from ..robot import GRAVITY
from .sliding_median import SlidingMedian

NORMAL = 1.4826  # standard deviation of normal values by their median absolute deviation


class LegWeight:
    """Compares the vertical force of all legs, by their torques, with mass times specific force.

        s_k = (sum f_z,k - m (a_z,k + g)) / (m_0 g)

    The window of a heavy robot can explain a new load in other ways: with heavy tails, an error of
    5 Nm at one knee is more likely than an unknown force of 50 N on the base. The sum over the legs
    depends on neither contact law nor disturbances. A load is detected if s differs both from zero
    and from its previous mean: a constant error of the legs' model is not a load, and neither is a
    pull that has ended.

    How far the means of s over `LEG_WEIGHT.now` nodes scatter tells how well a mass is known that
    so short a time has taught, and which difference is none: torques that are wrong in proportion,
    by gears and gains, make another weight of each motion, and so do legs that are not the model's.

    Attributes:
        added: change of the mass that the legs carry [kg]; 0 if no load was put on or taken off.
        scatter: standard deviation of these means, by the weight: their median absolute deviation
            times `NORMAL`.
        usual: s differs from zero by less than `LEG_WEIGHT.certain` times that.
    """

    def __init__(self, problem: Problem):
        self.problem = problem
        self._known = problem.legs is not None
        self._newest: deque[float] = deque(maxlen=LEG_WEIGHT.now)
        self._before = SlidingMedian(LEG_WEIGHT.before)
        self.added = self.scatter = 0.0
        self.usual = False
        self._part: list[float] = []  # of the next mean
        self._means: deque[float] = deque(maxlen=LEG_WEIGHT.means)

    def reset(self) -> None:
        """Forget what was carried, but not how that scattered."""
        self._newest.clear()
        self._before.clear()
        self._part.clear()
        self.added, self.usual = 0.0, False

    def judge(self, window: Window) -> None:
        """Look at one more node, which the newest measurements have smoothed."""
        self.added, self.usual = 0.0, False
        if not self._known or not window.weighed(-SMOOTHED.nodes):
            return
        now, share = LEG_WEIGHT.now, self._share(window)
        if not math.isfinite(share):
            return
        if len(self._newest) == now:
            self._before.add(self._newest[0])
            self._scatter(self._newest[0])
        self._newest.append(share)
        if len(self._before) < LEG_WEIGHT.fewest:
            return
        newest, half = list(self._newest), now // 2
        halves = sum(newest[:-half]) / half, sum(newest[-half:]) / half
        chance = LEG_WEIGHT.certain * self.scatter
        self.usual = max(abs(h) for h in halves) < chance
        before = self._before.value
        mean = 0.5 * sum(halves) - before
        steady = abs(halves[1] - halves[0]) < max(LEG_WEIGHT.growth * abs(mean), LEG_WEIGHT.gait)
        # against the estimate, and against what was before
        told = [math.copysign(1.0, mean) * part for h in halves for part in (h, h - before)]
        if steady and min(told) > max(LEG_WEIGHT.share, chance):
            self.added = mean * self.problem.robot.total_mass

    def _scatter(self, share: float) -> None:
        """Take a node before which, and soon after which, no load was put on or taken off."""
        self._part.append(share)
        if len(self._part) < LEG_WEIGHT.now:
            return
        self._means.append(sum(self._part) / len(self._part))
        self._part.clear()
        if len(self._means) >= LEG_WEIGHT.least:  # a hand that lifts for a second does not count
            means = np.array(self._means)
            self.scatter = NORMAL * float(np.median(np.abs(means - np.median(means))))

    def _share(self, window: Window) -> float:
        _, _, normal, felt = window.legs(-SMOOTHED.nodes)
        own = GRAVITY * self.problem.robot.total_mass
        return (sum(normal.tolist()) - self.problem.total_mass(window.xs[-1]) * felt) / own
