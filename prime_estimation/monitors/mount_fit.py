# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Mount fit: a sensor is mounted as the YAML says until the other sensors contradict it."""

from __future__ import annotations

import numpy as np

from ..config.policies import MOUNT_FIT
from ..mhe.hold import Hold
from ..mhe.knowledge import relax
from ..mhe.mount_hold import IMU_ROTATION
from ..mhe.problem import Problem
from ..mhe.situation import Situation
from ..mhe.window import Window
from ..types import SensorHealth
from .held_fit import HeldFit
from .stance_motion import StanceMotion


class MountFit(HeldFit):
    """Lets the mount of one sensor go where it is wrong.

    Args:
        problem: whose parameter it is.
        hold: of it.
        stance: knows whether feet stand where they should; else legs contradict any mount.
    """

    def __init__(self, problem: Problem, hold: Hold, stance: StanceMotion):
        super().__init__(problem, hold, MOUNT_FIT)
        self._stance = stance

    def _tells(self, window: Window, situation: Situation) -> bool:
        """Nodes in which the feet carry the robot, and stand."""
        return not (situation.suspended or self._stance.unrest)

    def _contradicts(self) -> bool:
        """A mount that is wrong by more than anybody mounts it is not what is wrong."""
        credible = np.abs(self.estimate) < MOUNT_FIT.credible * self.hold.stddev
        return super()._contradicts() and self._stance.known and bool(credible.all())

    def _let_go(self, window: Window) -> None:
        relax(window, self.hold)

    def health(self, situation: Situation) -> tuple[SensorHealth, ...]:
        """Says which sensor is not mounted as the YAML says."""
        if not self.hold.let_go:
            return ()
        far = float(np.linalg.norm(self.estimate))
        if self.hold.names[0] == IMU_ROTATION:
            what = f"imu: turned by {1e3 * far:.0f} mrad against the model's"
        else:
            what = f"mocap: tracked body {1e3 * far:.0f} mm from where the model has it"
        said = f"{what}; it is estimated, and `prime calibrate` finds it with the legs"
        return (SensorHealth("mount", True, said),)
