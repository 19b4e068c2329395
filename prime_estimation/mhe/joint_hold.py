# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Joint holds: joint parameters stay at the values of the robot's YAML until data contradict.

Losses, offsets and delay of the torques, and zeros of the encoders are held apart: a robot whose
losses are wrong may well read its joints right.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..config.parameters import Config
from ..config.policies import JOINT_FIT
from ..contact.points import bearing_joints, flat_feet
from ..robot import Robot
from .hold import Hold
from .joint_parameters import DELAY, OFFSETS, ZEROS, JointBlock, joint_blocks

# that are held while they fit; zeros only where feet are points: soles lie flat in any case, and
# tell none
ADAPTED = "armature,damping,dry_friction,torque_offset,torque_delay"
OF_POINT_FEET = f"{ADAPTED},encoder_zero"
APART = (OFFSETS, DELAY, ZEROS)  # that are held apart from the losses, and from one another


def with_held_joints(config: Config, robot: Robot) -> Config:
    """The configuration with the joint parameters that are held; itself where there are none."""
    options = config.estimator
    if not options.adapt_joints or options.joint_parameters or not robot.contacts:
        return config
    adapted = ADAPTED if any(flat_feet(robot)) else OF_POINT_FEET
    return config.updated({"estimator": {"joint_parameters": adapted}})


def carriers(robot: Robot) -> list[str]:
    """Names of the joints between the feet and the links whose inertia is estimated.

    What the others lose hardly changes what the robot weighs.
    """
    bearing = bearing_joints(robot)
    return [n for n, j in zip(robot.joint_names, robot.joint_ids) if j in bearing]


def held_blocks(robot: Robot, choice: str) -> list[JointBlock]:
    """Blocks of the joint parameters that are held, `choice` as in `estimator.joint_parameters`.

    An encoder that contradicts the YAML has slipped, or was set when its joint was elsewhere: it is
    off by more than one that is only known as well as joints are set by hand.
    """
    blocks = joint_blocks(robot, choice, carriers(robot))
    slipped = JOINT_FIT.slipped
    return [replace(b, stddev=b.stddev.clip(slipped)) if b.name == ZEROS else b for b in blocks]


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


def joint_holds(blocks: list[JointBlock], possible: bool) -> tuple[JointHold, ...]:
    """Those of the losses, of the torques' offsets, of their delay, and of the encoders' zeros."""
    parts = [[b for b in blocks if b.name not in APART]]
    parts += [[b for b in blocks if b.name == name] for name in APART]
    return tuple(JointHold(part, possible) for part in parts)
