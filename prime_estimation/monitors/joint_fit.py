# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Joint fit: losses of the YAML are held until the torques contradict them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..config.policies import JOINT_FIT
from ..mhe.joint_parameters import JointBlock
from ..mhe.knowledge import release_inertia, renew
from ..mhe.problem import Problem
from ..mhe.situation import Situation
from ..mhe.window import Window
from ..types import Measurement, SensorHealth
from .monitor import Monitor


class JointFit(Monitor):
    """Asks of joint parameters that are held by how much the cost would fall without the hold.

    All nodes that have left the window since the hold began are in the arrival cost
    (`JointHold.estimate`). Where the YAML is right, what falls is what the model leaves out; where
    it is wrong by its own size, ten times as much, look after look: a foot that hits an edge does
    it once. Then the parameters are let go, and the inertia, which was learned with wrong losses,
    is learned anew.

    Attributes:
        fall: of the cost by each node between the last two looks.
        estimate: (n,) parameters that the data would rather have.
    """

    def __init__(self, problem: Problem):
        self.problem = problem
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self.fall, self.estimate = 0.0, self.problem.joint_hold.mean
        self._nodes = self._agreed = 0
        self._before = 0.0  # fall at the last look
        self._spoilt = False  # by nodes in which the feet do not carry the robot, or unseen torques

    def begin(self, window: Window, batch: list[Measurement], situation: Situation) -> None:
        """A new window has the prior again."""
        self._nodes, self._agreed, self._before = 0, 0, 0.0

    def judge(self, window: Window, situation: Situation) -> str:
        """Look at a solved window, every few nodes; let go of what is wrong."""
        if not self.problem.joint_hold.held:
            return ""
        if situation.suspended or not window.weighed():
            self._spoilt = True
            return ""
        if self._spoilt:
            self._renew(window, held=True)
        self._nodes += 1
        if self._nodes % JOINT_FIT.every:
            return ""
        self._look(window)
        self._agreed = self._agreed + 1 if self.fall > JOINT_FIT.fall else 0
        if self._agreed >= JOINT_FIT.looks:
            self._renew(window, held=False)
            release_inertia(window, self.problem.theta_prior_root)
        elif self._nodes >= JOINT_FIT.most:
            self._renew(window, held=True)
        return ""

    def _look(self, window: Window) -> None:
        columns = np.r_[tuple(self.problem.columns(b.name) for b in self.problem.joints)]
        mean, covariance = window.arrival.estimate(), window.arrival.covariance
        told = self.problem.layout.p(mean)[columns - 2 * self.problem.nv]
        self.estimate, fall = self.problem.joint_hold.estimate(
            told, covariance[np.ix_(columns, columns)]
        )
        self.fall, self._before = (fall - self._before) / JOINT_FIT.every, fall

    def _renew(self, window: Window, held: bool) -> None:
        """Begin anew: held at the YAML, or from the estimate with the own width of the prior."""
        self.problem.hold_joints(held)
        share = self.problem.joint_hold.share
        for b, estimate in self._by_block():
            # a loss below none is as good as none
            mean = b.mean if held else np.maximum(estimate, 0.0)
            renew(window, b.name, list(range(len(mean))), mean, share * b.stddev)
        self._nodes, self._agreed, self._before = 0, 0, 0.0
        self._spoilt = False

    def health(self, situation: Situation) -> tuple[SensorHealth, ...]:
        """Says which losses of the YAML are not those of the robot."""
        if self.problem.joint_hold.held or not self.problem.joint_hold.possible:
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
