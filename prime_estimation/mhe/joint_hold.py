# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Joint hold: joint parameters stay at the values of the robot's YAML until data contradict."""

from __future__ import annotations

import numpy as np

from ..config.parameters import Config
from ..config.policies import JOINT_FIT
from ..contact.points import bearing_joints
from ..robot import Robot
from .joint_parameters import JointBlock

ADAPTED = "armature,damping,dry_friction"  # joint parameters that are held while they fit


def with_held_joints(config: Config, robot: Robot) -> Config:
    """The configuration with the joint parameters that are held; itself where there are none."""
    options = config.estimator
    if not options.adapt_joints or options.joint_parameters or not robot.contacts:
        return config
    return config.updated({"estimator": {"joint_parameters": ADAPTED}})


def carriers(robot: Robot) -> list[str]:
    """Names of the joints between the feet and the links whose inertia is estimated.

    What the others lose hardly changes what the robot weighs.
    """
    bearing = bearing_joints(robot)
    return [n for n, j in zip(robot.joint_names, robot.joint_ids) if j in bearing]


class JointHold:
    """Whether joint parameters are held, and the priors of both.

    Held, their prior is narrower by `JOINT_FIT.held` and they do not walk: the window takes them as
    known, and yet what leaves it tells the arrival cost what the data say of them.

    Attributes:
        possible: they are held at first. held: at present.
        mean: (n,) of the prior of all blocks. stddev: (n,) where they are not held.

    Args:
        blocks: of the estimated joint parameters.
        possible: hold them until something contradicts.
    """

    def __init__(self, blocks: list[JointBlock], possible: bool):
        self.possible = self.held = possible and bool(blocks)
        nothing = [np.zeros(0)]
        self.mean = np.concatenate([b.mean for b in blocks] or nothing)
        self.stddev = np.concatenate([b.stddev for b in blocks] or nothing)

    @property
    def share(self) -> float:
        """Width of the prior at present, of its own."""
        return JOINT_FIT.held if self.held else 1.0

    def estimate(self, mean: np.ndarray, covariance: np.ndarray) -> tuple[np.ndarray, float]:
        """What the data would rather have, and by how much the cost would fall.

        With the prior N(m_0, S_h) while held and the posterior N(m, P), the data alone have the
        information `J = P^-1 - S_h^-1` and the gradient `g = P^-1 (m - m_0)`; with the own prior S,

            d = (J + S^-1)^-1 g,   fall = g^T d / 2

        Args:
            mean: m (n,), while held.
            covariance: P (n, n).

        Returns:
            m_0 + d (n,), and the fall.
        """
        information = np.linalg.inv(covariance)
        own, held = self.stddev**-2.0, (JOINT_FIT.held * self.stddev) ** -2.0
        gradient = information @ (mean - self.mean)
        change = np.linalg.solve(information + np.diag(own - held), gradient)
        return self.mean + change, float(0.5 * gradient @ change)
