# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Notices about joint parameters that a recording tells badly, or not at all."""

from __future__ import annotations

import math

import numpy as np

from ..mhe.joint_parameters import BY_NAME, GAINS
from ..mhe.window import Window
from .joints import UNKNOWN_GAIN, JointPosterior

STILL = 0.01  # rad, range of a joint that does not move: within backlash and creep of a stance
NOTABLE = 2e-3  # s, lead of dry friction
# logarithm of a gain: three deviations of what is assumed of motors, their mean and each of them
PLAUSIBLE = 3.0 * math.hypot(UNKNOWN_GAIN, BY_NAME[GAINS].stddev)
HEAVY = 0.005  # deviation of the mean of all gains: below, it does not matter to the mass


def still_joints(window: Window) -> tuple[str, ...]:
    """Names of the joints that do not move."""
    problem = window.problem
    positions = np.array([problem.robot.positions(x[: problem.nq]) for x in window.xs])
    moved = np.ptp(np.unwrap(positions, axis=0), axis=0)
    return tuple(n for n, m in zip(problem.robot.joint_names, moved) if m < STILL)


def joint_notices(joints: JointPosterior) -> list[str]:
    """Lines on joints that do not move, what was not told or cannot be, gains, and friction."""
    about_gains = [*_implausible(joints), *_without_tare(joints)]
    return [*_still(joints), *_untold(joints), *about_gains, *_lead(joints)]


def _still(joints: JointPosterior) -> list[str]:
    if not joints.still or all(b.declaration.choice == "zeros" for b in joints.blocks):
        return []
    verb = "does" if len(joints.still) == 1 else "do"
    return [f"{', '.join(joints.still)} {verb} not move: of losses and gains nothing is told there"]


def _untold(joints: JointPosterior) -> list[str]:
    """One line for each kind that the motion told nothing of, or not of all joints."""
    out = []
    for block in joints.blocks:
        found = joints.of_block(block)
        silent = [q.label for q in found if not q.observable]
        if silent:
            which = "" if len(silent) == len(found) else " of " + ", ".join(silent)
            what = f"{block.declaration.label}{which}"
            out.append(f"the motion tells no more of the {what} than was known: it is kept")
    return out


def _implausible(joints: JointPosterior) -> list[str]:
    """Gains that no motors have; they are kept, for what the torques lack has to be somewhere."""
    found = [q for b in joints.blocks if b.name == GAINS for q in joints.of_block(b)]
    wrong = [q for q in found if q.observable and abs(q.value) > PLAUSIBLE]
    if not wrong:
        return []
    told = ", ".join(f"{q.label} ({100.0 * math.expm1(q.value):+.0f} %)" for q in wrong)
    low, high = (100.0 * math.expm1(sign * PLAUSIBLE) for sign in (-1.0, 1.0))
    what = f"torque gain of {told} is beyond what motors differ by ({low:.0f} to {high:+.0f} %)"
    return [f"{what}: are the known mass, the torques and the robot right?"]


def _without_tare(joints: JointPosterior) -> list[str]:
    """Gains and mass are both free, and the mean of all gains is no better known than the mass."""
    free = any(b.name == GAINS for b in joints.blocks)
    if not free or joints.gain_stddev < HEAVY:  # after a tare none of it is left
        return []
    wide = f"{joints.gain_stddev * joints.mass:.2f} kg of the total mass"
    return [f"no motion tells a common torque gain from mass ({wide}): --tare with a known mass"]


def _lead(joints: JointPosterior) -> list[str]:
    """Friction that is not Coulomb's."""
    if joints.lead < NOTABLE:
        return []
    what = f"dry friction turns {1e3 * joints.lead:.0f} ms before the joints, as in simulators"
    return [f"{what}: robot.friction_lead"]
