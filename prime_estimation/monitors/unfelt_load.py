# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Unfelt load: a load of an estimated link that joints between base and link do not feel."""

from __future__ import annotations

import numpy as np

from .. import _core
from ..config.policies import LIMB_LOAD, LOAD_PLACE
from ..mhe.joint_parameters import OFFSETS, JointBlock
from ..mhe.problem import Problem


class UnfeltLoad:
    """Compares what a load takes at the joints that carry its link with what these lack.

    A load m at a place p of the link needs at these joints, at rest,

        tau = J^T Y (m, m p)

    with Y and J as in `LimbLoad`. A load that the base carries is felt by the feet and not by a
    waist: given to the torso it needs a torque there that nothing measures, and once offsets b of
    the torque readings are let go, they become what is missing, b = -tau. Its share is
    `-tau^T b / tau^T tau`.

    Attributes:
        needed: |tau| of the load last asked for [Nm].
        share: of it that is missing.

    Args:
        problem: model; parameters of the joints that are held.
        link: name of an estimated link.
    """

    def __init__(self, problem: Problem, link: str):
        self.problem, robot = problem, problem.robot
        joints = robot.joints_to(robot.link_joint(link)) if problem.floating else []
        self._regressors = _core.LimbRegressors(robot.model, [joints] if joints else [])
        self._joints = [robot.joint_ids.index(j) for j in joints]
        self._rest = np.zeros(robot.model.nv)
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self.needed = self.share = 0.0
        self._nodes = 0

    @property
    def told(self) -> bool:
        """Whether it has been missing for long enough."""
        return self._nodes >= LIMB_LOAD.nodes

    def judge(self, x: np.ndarray, mass: float, place: list[float]) -> None:
        """Look at one more node.

        Args:
            x: state (nx,).
            mass: of the load [kg].
            place: (3,) of the load in the link's axes [m].
        """
        offsets = self._offsets()
        if offsets is None or not self._joints:
            self._nodes = 0
            return
        missing = -offsets.per_joint(self.problem.parameter(x, OFFSETS))[self._joints]
        torque = self._torque(x, mass, place)
        square = float(torque @ torque)
        self.needed = square**0.5
        self.share = float(torque @ missing) / square if square > 0.0 else 0.0
        found = self.needed > LIMB_LOAD.torque and self.share > LOAD_PLACE.unfelt
        self._nodes = self._nodes + 1 if found else 0

    def _offsets(self) -> JointBlock | None:
        """Block of the torques' offsets; None while they are held."""
        blocks = self.problem.free_joints
        return next((block for block in blocks if block.name == OFFSETS), None)

    def _torque(self, x: np.ndarray, mass: float, place: list[float]) -> np.ndarray:
        """Torques of the joints that carry the link, for this load at rest [Nm]."""
        (Y,) = self._regressors.evaluate(self.problem.layout.q(x), self._rest, self._rest)
        return Y.reshape(-1, 4) @ (mass * np.array([1.0, *place]))
