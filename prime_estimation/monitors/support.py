# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Support: checks that the contact forces carry the weight that the IMU measures."""

from __future__ import annotations

import math

from ..config.policies import SUPPORT
from ..contact.leg_forces import FREE_FALL
from ..mhe.problem import Problem
from ..mhe.situation import Situation
from ..mhe.window import Window
from ..robot import GRAVITY
from ..types import Measurement, SensorHealth
from .contact_agreement import ContactAgreement
from .monitor import Monitor
from .stance_motion import MOTION


class Support(Monitor):
    """Compares the load of the legs, by their torques, with the estimated weight.

    While a robot stands on its feet, `mean(sum f_z) = m g` over some seconds, whatever disturbances
    of base or joints the window contains. If the contacts carry almost nothing for longer than a
    jump lasts, the estimate flies, and is given up.

    Attributes:
        unexplained: smoothed share of the weight that the legs do not carry.

    Args:
        problem: problem of the estimator.
        agreement: source of the load of the legs.
    """

    def __init__(self, problem: Problem, agreement: ContactAgreement):
        self.problem, self._agreement = problem, agreement
        self._known = problem.legs is not None and problem.has_imu
        self._weight = GRAVITY * problem.robot.total_mass
        self._felt = 0.0  # m/s^2
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self.unexplained, self._nodes, self._flying = 0.0, 0, 0

    def assess(self, m: Measurement, window: Window | None, situation: Situation) -> Situation:
        """Note what the IMU feels."""
        felt = m.accelerometer
        self._felt = 0.0 if felt is None else math.hypot(*felt.tolist())
        return situation

    def judge(self, window: Window, situation: Situation) -> str:
        """Look at the newest complete node."""
        given = window.inputs[-2]
        if not self._known or situation.suspended or given.ground_depth > 0.0:
            self._flying = 0
            return ""
        carried = sum(window.foot_forces().tolist())
        weighs = self._felt > FREE_FALL * GRAVITY
        flies = weighs and carried < SUPPORT.carried * self._weight
        self._flying = self._flying + 1 if flies else 0
        self._smooth(window)
        if self._flying < SUPPORT.flying_nodes:
            return ""
        self.reset()
        return "no contact carries the robot, which feels its weight"

    def _smooth(self, window: Window) -> None:
        if math.isnan(self._agreement.carried):
            return
        weight = GRAVITY * self.problem.total_mass(window.xs[-1])
        lacks = 1.0 - self._agreement.carried / weight
        lacks = min(max(lacks, -SUPPORT.most), SUPPORT.most)
        self._nodes = min(self._nodes + 1, SUPPORT.nodes)
        self.unexplained += (lacks - self.unexplained) / self._nodes

    @property
    def doubted(self) -> bool:
        """The contact forces do not carry what the robot is said to weigh."""
        return self._nodes == SUPPORT.nodes and abs(self.unexplained) > SUPPORT.doubted

    def health(self, situation: Situation) -> tuple[SensorHealth, ...]:
        """Says what is not carried."""
        if self._flying >= SUPPORT.said_nodes:
            what = "no contact carries the robot, which feels its weight"
            return (SensorHealth(MOTION, False, what),)
        if situation.suspended or not self.doubted:
            return ()
        share = f"{100.0 * abs(self.unexplained):.0f} % of the weight"
        what = f"torques of the legs and mass differ by {share}; the inertia is not to be believed"
        return (SensorHealth("weight", False, what),)
