# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Push detector: finds lasting horizontal forces on the base that are neither ground nor load."""

from __future__ import annotations

import math
from collections import deque

from ..config.policies import PUSH, SMOOTHED
from ..mhe.external_wrench import median_row
from ..mhe.problem import Problem
from ..mhe.situation import Situation
from ..mhe.window import Window
from ..robot import GRAVITY
from ..sensors.imu import world_axes
from ..types import Measurement, SensorHealth
from .monitor import Monitor


class PushDetector(Monitor):
    """Watches the horizontal part of the unexplained force on the base.

    The statistic is the norm of its median over the newest `PUSH.nodes` nodes. During a push the
    nodes expect such a force. Otherwise its estimate would be drawn towards zero, and the robust
    weights would treat the push as an outlier of the vertical force, too.

    A force F below the threshold of this statistic would tilt the estimate by F/(m g) within a
    second, because tilt and accelerometer bias explain it at a lower cost. It is detected by its
    duration: the sum of n smoothed forces f with the standard deviation s each,

        |sum of f| / (s sqrt(n))

    Model errors of a real robot's legs appear as such a force on the base, too.

    Attributes:
        pushed: something pushes or pulls the base. leaning: the force is weak and lasting.
    """

    def __init__(self, problem: Problem):
        self.problem = problem
        self._weight = GRAVITY * problem.robot.total_mass
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self.pushed = self.leaning = False
        self._force = self._lasting = 0.0  # of the newest nodes, and of all that count [N]
        self._newest: deque[list[float]] = deque(maxlen=PUSH.lasting)

    def assess(self, m: Measurement, window: Window | None, situation: Situation) -> Situation:
        """The nodes of a push expect its force."""
        return situation.having(pushed=self.pushed, leaning=self.leaning)

    def judge(self, window: Window, situation: Situation) -> str:
        """Look at the newest nodes; those that come expect the push."""
        if not self.problem.floating:
            return ""
        if situation.suspended or situation.contradicted or not window.weighed():
            self.pushed = self.leaning = False  # what acts there is not known
            self._newest.clear()
            return ""
        across = world_axes(window.xs[-1][3:7])[:2]
        force = median_row(window.unexplained(slice(-PUSH.nodes, None))[:, :3])
        self._force = math.hypot(*(across @ force).tolist())
        bound = PUSH.gone if self.pushed else PUSH.found
        self.pushed = self._force > bound * self._weight
        if window.size >= SMOOTHED.nodes:
            smoothed = window.unexplained(slice(-SMOOTHED.nodes, None))[0, :3]
            self._newest.append((across @ smoothed).tolist())
            self.leaning = self._lasts()
        return ""

    def _lasts(self) -> bool:
        """Whether a force has lasted for so long that even a weak one is told by it."""
        if len(self._newest) < PUSH.lasting:
            return self.leaning
        self._lasting = math.hypot(*map(sum, zip(*self._newest))) / PUSH.lasting
        least = PUSH.over * self._weight
        if not self.leaning:  # what is over already does not begin, node after node
            sure = PUSH.certain * self.problem.config.noise.base_force / math.sqrt(PUSH.lasting)
            least = max(least, sure)
        return self._lasting > least

    def health(self, situation: Situation) -> tuple[SensorHealth, ...]:
        """Says that something pushes the robot."""
        if not (self.pushed or self.leaning):
            return ()
        weak = "pushed for a while", self._lasting
        pushed, force = ("pushed", self._force) if self.pushed else weak
        what = f"{pushed} by {force:.0f} N that are neither ground nor load"
        return (SensorHealth("base", not self.pushed, what),)
