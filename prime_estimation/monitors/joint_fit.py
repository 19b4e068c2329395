# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Joint fit: keeps joint parameters at their YAML values until torques or feet contradict these."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..config.policies import JOINT_FIT
from ..mhe.joint_hold import APART, JointHold
from ..mhe.joint_parameters import OFFSETS, ZEROS, JointBlock
from ..mhe.knowledge import release_inertia
from ..mhe.problem import Problem
from ..mhe.situation import Situation
from ..mhe.window import Window
from ..robot import GRAVITY
from ..types import Measurement, SensorHealth
from .held_fit import HeldFit, HeldFits


class Steps:
    """Detects that the robot takes steps: each foot has been in the air recently."""

    def __init__(self, problem: Problem):
        self._feet = len(problem.robot.feet)
        self._light = JOINT_FIT.swings * GRAVITY * problem.robot.total_mass
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self._since = [0] * self._feet  # nodes since each foot has carried nothing

    def follow(self, window: Window) -> None:
        """Look at the newest node of a solved window."""
        carried = zip(window.foot_forces().tolist(), self._since)
        self._since = [0 if force < self._light else nodes + 1 for force, nodes in carried]

    @property
    def taken(self) -> bool:
        """No foot has stood for long."""
        return max(self._since, default=0) <= JOINT_FIT.stands


class HeldJoints(HeldFit):
    """Judges joint parameters that are held together. Their release resets the inertia, too.

    A foot that hits an edge looks like wrong losses, but only once.

    Attributes:
        against: what contradicts the YAML, in words.

    Args:
        problem, hold: problem and hold of the parameters.
        steps: detects whether the robot takes steps.
    """

    hold: JointHold

    def __init__(self, problem: Problem, hold: JointHold, steps: Steps):
        super().__init__(problem, hold, JOINT_FIT)
        self._steps = steps if {OFFSETS, ZEROS} & {*hold.names} else None
        self._losses, self._seldom = not {*APART} & {*hold.names}, False
        self.against = "the torques"
        if ZEROS in hold.names:
            self.against, self._limit = "the feet that stand", JOINT_FIT.zeros

    def _tells(self, window: Window, situation: Situation) -> bool:
        """Nodes in which the feet carry the robot, and all torques are seen.

        Joints must be read often: what they do between samples that are far apart looks like
        rotors, or like other zeros. Offsets of legs that stand are forces at their feet, and zeros
        another posture: only a robot that takes steps tells them.
        """
        if self._seldom or (self._steps is not None and not self._steps.taken):
            return False
        return not situation.suspended and window.weighed()

    def heed(self, m: Measurement) -> None:
        """Take note of how often joints are read, and whether torques are those commanded."""
        self._seldom = m.joints_seldom
        if self._losses:
            self._limit = JOINT_FIT.commanded if m.torque_commanded else JOINT_FIT.fall

    def let_go(self, window: Window) -> str:
        """Estimate them from now on, beside an inertia that is learned anew."""
        self.problem.let_joints_go(self.hold)
        # a loss below none is as good as none
        least = [np.full(len(b.mean), 0.0 if b.positive else -np.inf) for b in self.hold.blocks]
        self._renew(window, np.maximum(self.estimate, np.concatenate(least)))
        release_inertia(window, self.problem.theta_prior_root)
        return ""

    def farthest(self) -> tuple[str, float]:
        """The parameter that is farthest from the YAML, in words, and how far."""
        said = (_farthest(b, estimate) for b, estimate in self._by_block())
        return max(said, key=lambda words: words[1])

    def _by_block(self) -> Iterator[tuple[JointBlock, np.ndarray]]:
        """Blocks with their parts of the estimate."""
        ends = np.cumsum([len(b.mean) for b in self.hold.blocks])
        return zip(self.hold.blocks, np.split(self.estimate, ends[:-1]))


class JointFit(HeldFits):
    """Releases joint losses, offsets or delay of torques, or zeros of encoders."""

    def __init__(self, problem: Problem):
        self.problem, self._steps = problem, Steps(problem)
        super().__init__([HeldJoints(problem, hold, self._steps) for hold in problem.joint_holds])

    def reset(self) -> None:
        """Forget everything."""
        super().reset()
        self._steps.reset()

    def judge(self, window: Window, situation: Situation) -> str:
        """Look at a solved window, every few nodes; let go of what is wrong."""
        if any(part.hold.held for part in self._parts):
            self._steps.follow(window)
        return super().judge(window, situation)

    def health(self, situation: Situation) -> tuple[SensorHealth, ...]:
        """Says what the YAML says of the joints that is not so."""
        gone = [part for part in self._parts if part.hold.let_go]
        if not gone:
            return ()
        found = [(*part.farthest(), part.against) for part in gone]
        worst, _, against = max(found, key=lambda words: words[1])
        what = f"the joints of the YAML do not fit {against} ({worst}): they are estimated"
        fall = sum(part.fall for part in gone)
        square = 1.0 + 2.0 * fall / self.problem.nj  # of the joints' rows, with the YAML
        return (SensorHealth("joints", True, what, square),)


def _farthest(block: JointBlock, estimate: np.ndarray) -> tuple[str, float]:
    """The parameter of a block that is farthest from the YAML, in words, and how far."""
    (was, _), (now, _) = block.values(block.mean), block.values(estimate)
    far = np.abs(now - was) / block.stddev
    i = int(np.argmax(far))
    unit, name = block.declaration.unit, f"{block.declaration.label} of {block.labels[i]}"
    return f"{name} {now[i]:.2g} {unit}, not {was[i]:.2g}", float(far[i])
