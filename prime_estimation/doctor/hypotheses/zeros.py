# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""An encoder whose zero is off, in one leg: the other legs fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ..delays import best_shift
from ..legs import Legs
from ..signals import Signals
from .hypothesis import Gain, Hypothesis

_TRIED = (-0.4, -0.2, 0.2, 0.4)  # rad
# rad: the zeros of encoders in service are good to 0.03, and prime calibrate finds those
_LEAST = 0.1
# Ground that slopes or steps lifts and lowers feet as another zero does, but leaves these alone: on
# real logs in a forest, where levels and swinging feet fit three times better with a knee 0.27 rad
# off, these fit 1.4 times better at most; with a zero that is off by 0.2 rad, 2.4 times and more.
_FIGURES = ("force", "moment", "slip")
_WITHIN, _STEP = 0.12, 0.02  # rad about a value that is tried, and steps of the search there


def hypotheses(legs: Legs, signals: Signals) -> Iterator[Hypothesis]:
    """Zeros of single joints, where something but their motion tells which feet stand."""
    if signals.torque is None and signals.standing is None:
        return
    for foot in range(len(legs.feet)):
        for joint in legs.joints_of(foot):
            for off in _TRIED:
                yield _zero(legs, foot, int(joint), off)


def _zero(legs: Legs, foot: int, joint: int, off: float) -> Hypothesis:
    robot, moved = legs.robot, np.zeros(legs.robot.nj)
    moved[joint] = off
    name, zero = robot.joint_names[joint], robot.joint_zeros[joint] + off
    return Hypothesis(
        "zero",
        f"joint {name}: the zero of its encoder is off by about {off:+.2f} rad: the leg of "
        f"{robot.feet[foot]} does not fit the others and the forces, and without that it does",
        {"joint": name, "offset": off},
        lambda s: replace(s, position=s.position - moved),
        f"robot.joint_zeros: {{{name}: {zero:.3f}}} or so; prime calibrate tells it exactly",
        _FIGURES,
        lambda gain: _refined(legs, foot, joint, off, gain),
    )


def _refined(legs: Legs, foot: int, joint: int, off: float, gain: Gain) -> Hypothesis | None:
    more = best_shift(lambda d: gain(_zero(legs, foot, joint, off + d)), _WITHIN, _STEP).seconds
    return _zero(legs, foot, joint, off + more) if abs(off + more) >= _LEAST else None
