# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Push detector: a lasting horizontal force on the base comes neither from ground nor load."""

from __future__ import annotations

import math
import operator

from ..config.policies import PUSH
from ..mhe.external_wrench import median_row
from ..mhe.problem import Problem
from ..mhe.situation import Situation
from ..mhe.window import Window
from ..robot import GRAVITY
from ..types import Measurement, SensorHealth
from .monitor import Monitor


class PushDetector(Monitor):
    """Watches the horizontal part of the force on the base that nothing measured explains.

    Statistic: norm of its median over the newest `PUSH.nodes` nodes. While something pushes, the
    nodes expect such a force, so that its estimate is not drawn towards zero, and the robust
    weights of the base do not take the push for an outlier that excuses the vertical force too.

    Attributes:
        pushed: something pushes or pulls the base.
    """

    def __init__(self, problem: Problem):
        self.problem = problem
        self._weight = GRAVITY * problem.robot.total_mass
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self.pushed = False
        self._force = 0.0  # N

    def assess(self, m: Measurement, window: Window | None, situation: Situation) -> Situation:
        """The nodes of a push expect its force."""
        return situation.having(pushed=self.pushed)

    def judge(self, window: Window, situation: Situation) -> str:
        """Look at the newest nodes; those that come expect the push."""
        if not self.problem.floating:
            return ""
        if situation.suspended or situation.contradicted or not window.weighed():
            self.pushed = False  # what acts there is not known
            return ""
        force = median_row(window.unexplained(slice(-PUSH.nodes, None))[:, :3])
        up = window.up().tolist()
        along = sum(map(operator.mul, up, force))
        sideways = math.hypot(*[part - axis * along for part, axis in zip(force, up)])
        bound = PUSH.gone if self.pushed else PUSH.found
        self.pushed, self._force = sideways > bound * self._weight, sideways
        return ""

    def health(self, situation: Situation) -> tuple[SensorHealth, ...]:
        """Says that something pushes the robot."""
        if not self.pushed:
            return ()
        what = f"pushed by {self._force:.0f} N that are neither ground nor load"
        return (SensorHealth("base", False, what),)
