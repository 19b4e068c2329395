# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Contact agreement: compares forces from leg torques with the contact forces of the window."""

from __future__ import annotations

import math
from collections import deque

from ..config.policies import AGREEMENT, PAYLOAD
from ..mhe.problem import Problem
from ..mhe.situation import Situation
from ..mhe.window import Window
from ..robot import GRAVITY
from ..types import Measurement, SensorHealth
from .leg_weight import LegWeight
from .monitor import Monitor


class ContactAgreement(Monitor):
    """Compares the two normal forces of every foot at the newest complete node.

    The torques of a leg determine the load of its foot, independently of the trunk's weight and of
    the ground height. The contact force of the window depends on both. If they differ in many
    nodes, the contacts are wrong, and errors of a foot's load would be explained by the mass of
    the trunk: the inertia is not learned from such nodes. The exception is a lasting change of the
    load of all legs together, which is a payload, whatever the ground.

    Args:
        problem: model, legs.
        weight: load of the legs beyond the estimated weight; the payload detector updates it at
            each node.

    Attributes:
        contradicted: the contacts are wrong at present.
        carried: sum of the normal forces from leg torques [N]; NaN while there are none.
        worst: index of the foot with the largest recent difference. told, estimated: its normal
            force from leg torques, and that of the window [N].
    """

    def __init__(self, problem: Problem, weight: LegWeight):
        self.problem = problem
        self._legs, self._weight = problem.legs, weight
        self._least = AGREEMENT.share * GRAVITY * problem.robot.total_mass
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self.contradicted, self.carried = False, math.nan
        self.worst, self.told, self.estimated = 0, 0.0, 0.0
        self._differed: deque[bool] = deque(maxlen=AGREEMENT.nodes)
        self._loaded = 0  # nodes in a row in which the legs carried another weight than before
        self._excused = 0  # nodes for which feet may differ, while that is learned

    def begin(self, window: Window, batch: list[Measurement], situation: Situation) -> None:
        """Contacts of the window before are of the past."""
        self.reset()

    def assess(self, m: Measurement, window: Window | None, situation: Situation) -> Situation:
        """Whether the contacts of the nodes that were solved last are right."""
        if self._legs is None or window is None or situation.restart:
            return situation
        given = window.inputs[-2]
        if not given.weighed or given.ground_depth > 0.0 or situation.suspended:
            self.reset()
            return situation
        self._compare(window)
        self._excuse_load()
        doubted = sum(self._differed) > AGREEMENT.fewest
        self.contradicted = sum(self._differed) > AGREEMENT.most or (self.contradicted and doubted)
        loaded = self._excused > 0
        return situation.having(contradicted=self.contradicted, doubted=doubted, loaded=loaded)

    def _compare(self, window: Window) -> None:
        k = window.told
        told, estimated = window.legs(k)[2].tolist(), window.foot_forces(k).tolist()
        self.carried = sum(told)
        allowed = [
            max(self._least, AGREEMENT.relative * max(pair)) for pair in zip(told, estimated)
        ]
        ratios = [abs(a - b) / most for a, b, most in zip(told, estimated, allowed)]
        differs = [(ratio, foot) for foot, ratio in enumerate(ratios) if ratio > 1.0]
        self._differed.append(bool(differs))
        if differs:
            self.worst = max(differs)[1]
            self.told, self.estimated = told[self.worst], estimated[self.worst]

    def _excuse_load(self) -> None:
        """Feet that differ for a load do so until it is learned."""
        self._loaded = self._loaded + 1 if self._weight.added else 0
        if self._loaded >= PAYLOAD.agreeing:
            self._excused = AGREEMENT.learned
        if self._excused > 0:
            self._excused -= 1
            self._differed.clear()

    def health(self, situation: Situation) -> tuple[SensorHealth, ...]:
        """Says which foot's force contradicts its torques."""
        if not self.contradicted:
            return ()
        foot = self.problem.robot.feet[self.worst]
        forces = f"torques say {self.told:.0f} N, the estimate {self.estimated:.0f} N"
        what = f"{foot}: {forces}; the ground is not where it is thought, inertia is not estimated"
        return (SensorHealth("contacts", False, what),)
