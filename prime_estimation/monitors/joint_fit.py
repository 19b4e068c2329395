# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Joint fit: what the YAML says of the joints is held until torques or feet contradict it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..config.policies import JOINT_FIT
from ..mhe.joint_hold import JointHold
from ..mhe.joint_parameters import OFFSETS, ZEROS, JointBlock
from ..mhe.knowledge import release_inertia
from ..mhe.problem import Problem
from ..mhe.situation import Situation
from ..mhe.window import Window
from ..robot import GRAVITY
from ..types import SensorHealth
from .held_fit import HeldFit, HeldFits


class HeldJoints(HeldFit):
    """Asks of what is held together, and lets it go with the inertia that was learned beside.

    A foot that hits an edge looks like wrong losses, but only once.
    """

    hold: JointHold

    def __init__(self, problem: Problem, hold: JointHold):
        super().__init__(problem, hold, JOINT_FIT)
        self._of_steps = bool({OFFSETS, ZEROS} & {*hold.names})
        self._light = JOINT_FIT.swings * GRAVITY * problem.robot.total_mass

    def reset(self) -> None:
        """Forget everything."""
        super().reset()
        # nodes since each foot has carried nothing
        self._since = [0] * len(self.problem.robot.feet)

    def _tells(self, window: Window, situation: Situation) -> bool:
        """Nodes in which the feet carry the robot, and all torques are seen.

        Offsets of legs that stand are forces at their feet, and zeros another posture: only a robot
        that takes steps tells them.
        """
        if self._of_steps:
            forces = window.foot_forces().tolist()
            self._since = [
                0 if force < self._light else nodes + 1 for force, nodes in zip(forces, self._since)
            ]
            if max(self._since, default=0) > JOINT_FIT.stands:
                return False
        return not situation.suspended and window.weighed()

    def _contradicts(self) -> bool:
        """Whether what was seen since the last look speaks against the YAML."""
        return self.fall > (JOINT_FIT.zeros if ZEROS in self.hold.names else JOINT_FIT.fall)

    def let_go(self, window: Window) -> str:
        """Estimate them from now on, beside an inertia that is learned anew."""
        self.problem.let_joints_go(self.hold)
        # a loss below none is as good as none
        least = [np.full(len(b.mean), 0.0 if b.positive else -np.inf) for b in self.hold.blocks]
        self._renew(window, np.maximum(self.estimate, np.concatenate(least)))
        release_inertia(window, self.problem.theta_prior_root)

    def farthest(self) -> tuple[str, float]:
        """The parameter that is farthest from the YAML, in words, and how far."""
        said = (_farthest(b, estimate) for b, estimate in self._by_block())
        return max(said, key=lambda words: words[1])

    def _by_block(self) -> Iterator[tuple[JointBlock, np.ndarray]]:
        """Blocks with their parts of the estimate."""
        ends = np.cumsum([len(b.mean) for b in self.hold.blocks])
        return zip(self.hold.blocks, np.split(self.estimate, ends[:-1]))


class JointFit(HeldFits):
    """Lets go of losses of the joints, of offsets or delay of their torques, or of their zeros."""

    def __init__(self, problem: Problem):
        super().__init__([HeldJoints(problem, hold) for hold in problem.joint_holds])
        self.problem = problem

    def health(self, situation: Situation) -> tuple[SensorHealth, ...]:
        """Says what the YAML says of the joints that is not so."""
        gone = [part for part in self._parts if part.hold.let_go]
        if not gone:
            return ()
        found = [(*part.farthest(), ZEROS in part.hold.names) for part in gone]
        worst, _, zero = max(found, key=lambda words: words[1])
        seen = "the feet that stand" if zero else "the torques"
        what = f"the joints of the YAML do not fit {seen} ({worst}): they are estimated"
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
