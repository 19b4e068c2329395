# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Support: what the IMU feels must be carried by the contact forces, or be said."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from ..config.policies import SUPPORT
from ..contact.leg_forces import FREE_FALL
from ..mhe.problem import Problem
from ..mhe.process_model import Situation
from ..mhe.window import Window
from ..robot import GRAVITY
from ..types import Measurement, SensorHealth
from .monitor import Monitor
from .stance_motion import MOTION


class Support(Monitor):
    """Compares contact forces with the weight that the robot on its feet feels.

    Over some seconds nothing else carries it, whatever load it has: `mean(sum f_z) = mean(m (a_z +
    g))`. What the vertical force that nothing explains takes away from that, the mass lacks or has
    too much. Where contacts carry next to nothing for as long as no jump lasts, the estimate flies,
    and is given up.

    Attributes:
        unexplained: smoothed vertical force of the base that nothing explains, share of the weight.
    """

    def __init__(self, problem: Problem):
        self.problem = problem
        self._known = problem.floating and problem.dynamics.nc > 0 and problem.has_imu
        self._weight = GRAVITY * problem.robot.total_mass
        self._felt = 0.0  # m/s^2
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self.unexplained, self._nodes, self._flying = 0.0, 0, 0

    def assess(self, m: Measurement, window: Window | None, situation: Situation) -> Situation:
        """Note what the IMU feels; misfit of the forces makes the inertia doubtful."""
        felt = m.accelerometer
        self._felt = 0.0 if felt is None else float(np.linalg.norm(felt))
        return situation

    def judge(self, window: Window, situation: Situation) -> str:
        """Look at the newest complete node."""
        given = window.inputs[-2]
        if not self._known or situation.suspended or given.ground_depth > 0.0:
            self._flying = 0
            return ""
        carried = float(window.foot_forces().sum())
        weighs = self._felt > FREE_FALL * GRAVITY
        flies = weighs and carried < SUPPORT.carried * self._weight
        self._flying = self._flying + 1 if flies else 0
        if given.weighed:
            self._smooth(window)
        if self._flying < SUPPORT.flying_nodes:
            return ""
        self.reset()
        return "no contact carries the robot, which feels its weight"

    def _smooth(self, window: Window) -> None:
        up = pin.Quaternion(window.xs[-2][3:7]).toRotationMatrix()[2]
        lacks = float(up @ window.unexplained(slice(-2, -1))[0, :3]) / self._weight
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
        what = f"contact forces and mass differ by {share}; the inertia is not to be believed"
        return (SensorHealth("weight", False, what),)
