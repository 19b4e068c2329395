# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Joint holds: joint parameters stay at the values of the robot's YAML until data contradict.

Losses and offsets are held apart: a robot whose losses are wrong may well read its torques right.
"""

from __future__ import annotations

import numpy as np

from ..config.parameters import Config
from ..config.policies import JOINT_FIT
from ..contact.points import bearing_joints
from ..robot import Robot
from .hold import Hold
from .joint_parameters import OFFSETS, JointBlock

ADAPTED = "armature,damping,dry_friction,torque_offset"  # that are held while they fit


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


class JointHold(Hold):
    """Hold of estimated joint parameters.

    Attributes:
        blocks: of the parameters.

    Args:
        blocks: of the parameters.
        possible: hold them until something contradicts.
    """

    def __init__(self, blocks: list[JointBlock], possible: bool):
        self.blocks = tuple(blocks)
        nothing = [np.zeros(0)]
        mean = np.concatenate([b.mean for b in blocks] or nothing)
        stddev = np.concatenate([b.stddev for b in blocks] or nothing)
        super().__init__([b.name for b in blocks], mean, stddev, possible, JOINT_FIT.held)


def joint_holds(blocks: list[JointBlock], possible: bool) -> tuple[JointHold, JointHold]:
    """Those of all but the offsets of the torques, and of these."""
    offsets = [b for b in blocks if b.name == OFFSETS]
    others = [b for b in blocks if b.name != OFFSETS]
    return JointHold(others, possible), JointHold(offsets, possible)
