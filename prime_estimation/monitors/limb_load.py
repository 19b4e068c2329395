# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Limb load: estimates what arms hold from the torques of their own joints."""

from __future__ import annotations

import math

import numpy as np

from .. import _core
from ..config.policies import LIMB_LOAD, SMOOTHED
from ..contact.points import bearing_joints
from ..mhe.problem import Problem
from ..mhe.window import Window


class LimbLoad:
    """Regression of a mass at the end of a limb on the torques that its joints leave unexplained.

    A limb is a chain of joints that leads to no foot and to no estimated link. With Y the regressor
    of its last link's body (columns of m and m c), J the Jacobian of that link, and w what dynamics
    of the nominal limb need beside the measured torques:

        -w = J^T Y (dm, d(m c)) + noise,   exponentially forgotten least squares

    What the trunk carries is in none of these rows.

    Attributes:
        link: name of the last link.
        holders: indices of the estimated links between the base and the limb, which are given what
            it holds.
        mass: dm at present [kg], relative to the model.
        told: number of consecutive nodes in which dm was significant.

    Args:
        problem: model.
        joints: ids of the chain's joints, the last one carries the last link.
    """

    def __init__(self, problem: Problem, joints: list[int]):
        self.problem, model = problem, problem.robot.model
        self._rows = [model.joints[j].idx_v for j in joints]
        self.link = problem.robot.links[joints[-1]]
        own = sum(model.inertias[j].mass for j in joints)
        self._least = LIMB_LOAD.share * own
        path = set(model.supports[joints[-1]])
        links = enumerate(problem.robot.estimated_links)
        self.holders = [i for i, link in links if problem.robot.link_joint(link) in path]
        reach = np.array([own, *[LIMB_LOAD.reach * own] * 3])
        self._prior = np.diag((LIMB_LOAD.torque / reach) ** 2)
        self._keep = math.exp(-problem.dt / LIMB_LOAD.memory)
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self.mass, self.told = 0.0, 0
        self._normal, self._side, self._square = np.zeros((4, 4)), np.zeros(4), 0.0

    def judge(self, window: Window, Y: np.ndarray) -> None:
        """Take one more node; Y: J^T Y (n, 4) of the nominal model at that node."""
        node = slice(-SMOOTHED.nodes, 1 - SMOOTHED.nodes)
        w = -window.unexplained(node)[0, self._rows]
        self._normal = self._keep * self._normal + Y.T @ Y
        self._side = self._keep * self._side + Y.T @ w
        self._square = self._keep * self._square + float(w @ w)
        load = np.linalg.solve(self._normal + self._prior, self._side)
        explained = float(self._side @ load)
        self.mass = float(load[0])
        found = abs(self.mass) > self._least and explained > LIMB_LOAD.explained * self._square
        self.told = self.told + 1 if found else 0


class LimbLoads:
    """All limbs of a robot; none of a robot that has legs only."""

    def __init__(self, problem: Problem):
        self.problem = problem
        chains = limbs(problem) if problem.floating and "theta" in problem.layout else []
        self.limbs = [LimbLoad(problem, chain) for chain in chains]
        self._regressors = _core.LimbRegressors(problem.robot.model, chains)

    def reset(self) -> None:
        """Forget everything."""
        for limb in self.limbs:
            limb.reset()

    def judge(self, window: Window) -> None:
        """Look at a node that the newest measurements have smoothed."""
        if not self.limbs or not window.weighed(-SMOOTHED.nodes):
            return
        regressors = self._regressors.evaluate(*window.motion(-SMOOTHED.nodes))
        for limb, Y in zip(self.limbs, regressors):
            limb.judge(window, Y.reshape(-1, 4))  # eigenpy makes a vector of a single joint's

    @property
    def told(self) -> list[LimbLoad]:
        """Limbs that hold what the model does not know of."""
        return [limb for limb in self.limbs if limb.told >= LIMB_LOAD.nodes]


def limbs(problem: Problem) -> list[list[int]]:
    """Ids of the joints of chains that lead to no foot and to no estimated link, root first.

    A chain ends where no joint follows; those that branch, a hand with fingers, end before.
    """
    robot, model = problem.robot, problem.robot.model
    kept, chains = bearing_joints(robot), []
    for root in range(1, model.njoints):
        if root in kept or model.parents[root] not in kept:
            continue
        chain = [root]
        while len(children := [int(c) for c in model.children[chain[-1]]]) == 1:
            chain.append(children[0])
        chains.append(chain)
    return [chain for chain in chains if any(j in robot.joint_ids for j in chain)]
