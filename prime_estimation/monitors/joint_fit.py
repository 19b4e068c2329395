# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Joint fit: losses of the YAML are held until the torques contradict them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..config.policies import JOINT_FIT
from ..mhe.joint_parameters import JointBlock
from ..mhe.knowledge import release_inertia
from ..mhe.problem import Problem
from ..mhe.situation import Situation
from ..mhe.window import Window
from ..types import SensorHealth
from .held_fit import HeldFit


class JointFit(HeldFit):
    """Lets losses of the joints go where they are wrong, with the inertia that was learned beside.

    A foot that hits an edge looks like wrong losses, but only once.
    """

    def __init__(self, problem: Problem):
        super().__init__(problem, problem.joint_hold, JOINT_FIT)

    def _tells(self, window: Window, situation: Situation) -> bool:
        """Nodes in which the feet carry the robot, and all torques are seen."""
        return not situation.suspended and window.weighed()

    def let_go(self, window: Window) -> None:
        self.problem.hold_joints(False)
        # a loss below none is as good as none
        self._renew(window, np.maximum(self.estimate, 0.0))
        release_inertia(window, self.problem.theta_prior_root)

    def health(self, situation: Situation) -> tuple[SensorHealth, ...]:
        """Says which losses of the YAML are not those of the robot."""
        if not self.hold.let_go:
            return ()
        said = (self._farthest(b, estimate) for b, estimate in self._by_block())
        worst, _ = max(said, key=lambda words: words[1])
        what = f"losses of the YAML do not fit the torques ({worst}): they are estimated"
        square = 1.0 + 2.0 * self.fall / self.problem.nj  # of the joints' rows, with the YAML
        return (SensorHealth("joints", True, what, square),)

    def _by_block(self) -> Iterator[tuple[JointBlock, np.ndarray]]:
        """Blocks with their parts of the estimate."""
        ends = np.cumsum([len(b.mean) for b in self.problem.joints])
        return zip(self.problem.joints, np.split(self.estimate, ends[:-1]))

    @staticmethod
    def _farthest(block: JointBlock, estimate: np.ndarray) -> tuple[str, float]:
        """The parameter of a block that is farthest from the YAML, in words, and how far."""
        (was, _), (now, _) = block.values(block.mean), block.values(estimate)
        far = np.abs(now - was) / block.stddev
        i = int(np.argmax(far))
        unit, name = block.declaration.unit, f"{block.declaration.label} of {block.labels[i]}"
        return f"{name} {now[i]:.2g} {unit}, not {was[i]:.2g}", float(far[i])
