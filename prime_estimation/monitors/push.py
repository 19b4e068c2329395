# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Push detector: finds lasting horizontal forces on the base that are neither ground nor load."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable

import numpy as np

from ..config.policies import PUSH, SMOOTHED
from ..mhe.external_wrench import median_row
from ..mhe.problem import Problem
from ..mhe.situation import Situation
from ..mhe.taking_back import TakingBack, forget_impulse
from ..mhe.window import Window
from ..robot import GRAVITY
from ..sensors.imu import world_axes
from ..types import Measurement, SensorHealth
from .monitor import Monitor


class PushDetector(Monitor):
    """Watches the horizontal part of the unexplained force on the base.

    A strong force is told by the norm of its median over the newest `PUSH.nodes` nodes. During a
    push the nodes expect such a force. Otherwise its estimate would be drawn towards zero, and the
    robust weights would treat the push as an outlier of the vertical force, too.

    A force F below the threshold of this statistic would tilt the estimate by F/(m g) within a
    second, because tilt and accelerometer bias explain it at a lower cost. It is told by its
    duration: the sum of n smoothed forces w with the standard deviation s each,

        |sum of w| / (s sqrt(n))

    How large it is tells another sum. A node that does not expect a force leaves most of it to the
    residual e of the accelerometer, the more the heavier a robot is (0.15 m/s2 are 5 N of a G1, s
    is 2 N). The whole force is

        f = w - m e

    The most likely begin of a push is where |sum of f|^2 / n, up to now, is largest (Willsky and
    Jones 1976). What tilt and accelerometer bias have been taught since then is taken back.

    Model errors of a real robot's legs appear as such a force on the base, too.

    Attributes:
        pushed: something pushes or pulls the base. leaning: the force is weak and lasting.
    """

    def __init__(self, problem: Problem):
        self.problem = problem
        self._mass = problem.robot.total_mass
        self._weight = GRAVITY * self._mass
        nodes = PUSH.began + PUSH.early + SMOOTHED.nodes
        self._before = TakingBack(problem, nodes)
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self.pushed = self.leaning = False
        self._force = self._lasting = 0.0  # of the newest nodes, and of all that count [N]
        self._forget()

    def _forget(self) -> None:
        """Of forces, and of what was known before them, nothing is known."""
        self._smoothed: deque[list[float]] = deque(maxlen=PUSH.lasting)  # w [N]
        self._whole: deque[list[float]] = deque(maxlen=PUSH.began)  # f [N]
        self._before.forget()

    def begin(self, window: Window, batch: list[Measurement], situation: Situation) -> None:
        """What was known before belongs to another window."""
        self._forget()

    def assess(self, m: Measurement, window: Window | None, situation: Situation) -> Situation:
        """The nodes of a push expect its force."""
        return situation.having(pushed=self.pushed, leaning=self.leaning)

    def judge(self, window: Window, situation: Situation) -> str:
        """Look at the newest nodes; those that come expect the push."""
        if not self.problem.floating:
            return ""
        if situation.suspended or situation.contradicted or not window.weighed():
            self.pushed = self.leaning = False  # what acts there is not known
            self._forget()
            return ""
        was = self.pushed or self.leaning
        across = world_axes(window.xs[-1][3:7])[:2]
        force = median_row(window.unexplained(slice(-PUSH.nodes, None))[:, :3])
        self._force = math.hypot(*(across @ force).tolist())
        bound = PUSH.gone if self.pushed else PUSH.found
        self.pushed = self._force > bound * self._weight
        if window.size >= SMOOTHED.nodes:
            smoothed, whole = self._forces(window, window.size - SMOOTHED.nodes, across)
            self._smoothed.append(smoothed)
            self._whole.append(whole)
            self._before.note(window)
            self.leaning = self._lasts()
            if not was and (self.pushed or self.leaning):
                self._begins(window, across)
        return ""

    def _forces(
        self, window: Window, k: int, across: np.ndarray
    ) -> tuple[list[float], list[float]]:
        """Forces w and f (2) on the base at node k, `across` (2, 3) of base axes [N]."""
        smoothed = force = window.unexplained(slice(k, None))[0, :3]
        error = window.reading(k, "accelerometer") if self.problem.has_imu else None
        if error is not None:
            weight = window.inputs[k].nominal("accelerometer", 0)
            error = np.divide(error, weight, out=np.zeros(3), where=weight > 0.0)
            turn = self.problem.imu_motion(window.xs[k])[0].rotation
            force = smoothed - self._mass * (turn @ error)
        return (across @ smoothed).tolist(), (across @ force).tolist()

    def _lasts(self) -> bool:
        """Whether a force has lasted for so long that even a weak one is told by it."""
        n = PUSH.lasting
        if len(self._smoothed) < n:
            return self.leaning
        self._lasting = _length(list(self._whole)[-n:]) / n
        if self._lasting <= PUSH.over * self._weight:
            return False
        sure = PUSH.certain * self.problem.config.noise.base_force * math.sqrt(n)
        return self.leaning or _length(self._smoothed) > sure

    def _begins(self, window: Window, across: np.ndarray) -> None:
        """Let the nodes since the begin of the push expect it, and take back what others taught."""
        newest = range(window.size - SMOOTHED.nodes + 1, window.size)
        forces = [*self._whole, *(self._forces(window, k, across)[1] for k in newest)]
        sums = np.cumsum(forces[::-1], axis=0)
        n = 1 + int(np.argmax((sums**2).sum(axis=1) / np.arange(1, len(sums) + 1)))
        first = window.size - n - PUSH.early
        for given in window.inputs[max(first, 0) : -1]:
            self.problem.process.expect_push(given, self.pushed)
        step = self.problem.dt
        if self._before.take_back(window, window.stamps[0] + round(1e9 * step * first)):
            forget_impulse(window, step / self._mass * sums[n - 1], step * n)

    def health(self, situation: Situation) -> tuple[SensorHealth, ...]:
        """Says that something pushes the robot."""
        if not (self.pushed or self.leaning):
            return ()
        weak = "pushed for a while", self._lasting
        pushed, force = ("pushed", self._force) if self.pushed else weak
        what = f"{pushed} by {force:.0f} N that are neither ground nor load"
        return (SensorHealth("base", not self.pushed, what),)


def _length(forces: Iterable[list[float]]) -> float:
    """Norm of the sum of forces (2,)."""
    return math.hypot(*map(sum, zip(*forces)))
