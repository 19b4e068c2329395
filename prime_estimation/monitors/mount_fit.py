# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Mount fit: keeps sensor mounts at their YAML values until other sensors contradict these."""

from __future__ import annotations

import numpy as np

from ..config.policies import MOUNT_FIT
from ..mhe.hold import Hold
from ..mhe.knowledge import relax
from ..mhe.mount_hold import (
    IMU_POSITION,
    IMU_ROTATION,
    MOCAP_DELAY,
    MOCAP_POSITION,
    MOCAP_WORLD,
)
from ..mhe.problem import Problem
from ..mhe.situation import Situation
from ..mhe.window import Window
from ..types import Measurement, SensorHealth
from .held_fit import HeldFit, HeldFits
from .stance_motion import StanceMotion

# by block: its name in the status, by how many milliunits it is wrong, and what to do
BETTER = "`prime calibrate` finds it better"
SAID = {
    IMU_ROTATION: ("imu_mount", "the IMU is turned by {:.0f} mrad in its mount", BETTER),
    IMU_POSITION: ("imu_lever", "the IMU is {:.0f} mm from its place", BETTER),
    MOCAP_POSITION: ("mocap_mount", "the tracked body is {:.0f} mm from its place", BETTER),
    MOCAP_DELAY: ("mocap_clock", "stamps are off by {:.0f} ms", "see `prime doctor --bag`"),
    MOCAP_WORLD: ("mocap_world", "it is tilted by {:.0f} mrad", "level its ground plane"),
}


class OneMount(HeldFit):
    """Judges the mount of one sensor.

    Args:
        problem: problem that has the mount as a parameter.
        hold: hold of this parameter.
        stance: tells whether standing feet stand still; otherwise legs contradict any mount.
    """

    def __init__(self, problem: Problem, hold: Hold, stance: StanceMotion):
        super().__init__(problem, hold, MOUNT_FIT)
        self._stance = stance
        self._least = MOUNT_FIT.lever if hold.names[0] == IMU_POSITION else 0.0
        self._of_imu, self._seldom = hold.names[0] in (IMU_ROTATION, IMU_POSITION), False

    def reset(self) -> None:
        """Forget everything."""
        super().reset()
        self._settled, self._incredible = False, 0  # the latter: looks in a row
        self._soft = False

    def _tells(self, window: Window, situation: Situation) -> bool:
        """Nodes in which the feet carry the robot, and stand, on ground that does not give way.

        A tracked body that is elsewhere looks like both: a base that is taken to be where it is not
        pushes feet along the ground, and into it. What falls between samples that are far apart
        looks like a turned IMU.
        """
        if self._of_imu and self._seldom:
            return False
        feet_tell = self._drags_base or not (self._stance.unrest or self._is_soft(window))
        return feet_tell and not situation.suspended

    def heed(self, m: Measurement) -> None:
        """Take note of how often joints and IMU are read."""
        self._seldom = m.joints_seldom or m.imu_seldom

    def _is_soft(self, window: Window) -> bool:
        return self.problem.softness(window.xs[-1]) > MOUNT_FIT.soft

    @property
    def _drags_base(self) -> bool:
        """Where it is wrong the base is thought elsewhere, with all that is learned beside it."""
        return self.hold.names[0] == MOCAP_POSITION

    def _ask(self, window: Window) -> None:
        before, self._soft = self.estimate, self._is_soft(window)
        super()._ask(window)
        moved = float(np.linalg.norm(self.estimate - before))
        self._settled = moved < MOUNT_FIT.moved * float(np.linalg.norm(self.estimate))

    def _contradicts(self) -> bool:
        """What comes to be wrong, or by more than anybody mounts it, is not the mount."""
        told = super()._contradicts() and self.explains > MOUNT_FIT.fall
        told = told and self._far > self._least
        # feet that sink look like a body some centimetres from its place, and not like more
        told = told and (not self._soft or self._far >= MOUNT_FIT.far)
        if not (told and self._settled and self._stance.known):
            self._incredible = 0
            return False
        self._incredible = 0 if self.credible else self._incredible + 1
        return self.credible

    def _is_plain(self) -> bool:
        told = self.explains > MOUNT_FIT.plain and self._far > self._least
        stand = self._drags_base or self._stance.known
        return told and stand and self._settled and self.credible

    @property
    def _far(self) -> float:
        return float(np.linalg.norm(self.estimate))

    @property
    def credible(self) -> bool:
        """It may be mounted as the data would rather have it."""
        return bool((np.abs(self.estimate) < MOUNT_FIT.credible * self.hold.stddev).all())

    def let_go(self, window: Window) -> str:
        """What is far from its place has bent all that was learned beside it: that starts anew."""
        if not self._drags_base or not (self._is_plain() or self._far >= MOUNT_FIT.far):
            relax(window, self.hold)
            return ""
        self.hold.held = False
        self._renew(window, self.estimate)
        return f"the tracked body is {1e3 * self._far:.0f} mm from its place"

    def again(self) -> None:
        """Others have been let go: what could not be may have been those, too."""
        super().again()
        self._incredible = 0

    @property
    def incredible(self) -> bool:
        """It would have to be wrong by more than can be."""
        return self.hold.held and self._incredible >= MOUNT_FIT.looks

    def said(self) -> SensorHealth:
        """By how much it is wrong."""
        name, what, better = SAID[self.hold.names[0]]
        far = what.format(1e3 * self._far)
        square = 1.0 + 2.0 * self.explains / len(self.estimate)  # with the YAML's mount
        if self.incredible:
            wrong = f"{far}, as it seems, more than is credible: not estimated; {better}"
            return SensorHealth(name, False, wrong, square)
        return SensorHealth(name, True, f"{far}: it is estimated; {better}", square)


class MountFit(HeldFits):
    """Releases mounts, one at a time.

    A displaced tracked body, a late clock and a tilted world look alike at first.
    """

    def __init__(self, problem: Problem, stance: StanceMotion):
        super().__init__([OneMount(problem, hold, stance) for hold in problem.mount_holds])

    def _choose(self, wrong: list[HeldFit]) -> HeldFit | None:
        """None while another explains far more of what was seen: they only look like it.

        None too while another explains as much, unless enough looks have agreed.
        """
        held = [mount for mount in self._parts if mount.hold.held and mount.credible]
        chosen = max(wrong, key=lambda mount: mount.explains)
        most = max((mount.explains for mount in held if mount is not chosen), default=0.0)
        alike = MOUNT_FIT.alike if chosen.agreed else 1.0 / MOUNT_FIT.alike
        return chosen if chosen.explains > alike * most else None

    def health(self, situation: Situation) -> tuple[SensorHealth, ...]:
        """Says which sensors are not mounted as the YAML says."""
        return tuple(m.said() for m in self._parts if m.hold.let_go or m.incredible)
