# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Joints, or all joints of one kind, whose readings have the opposite sign."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..legs import Legs
from ..signals import Signals
from .hypothesis import EVERY, MOTION, TORQUE, Hypothesis

_REMEDY = "change {} sign where the messages are made (joints.signs of a mapping)"


def hypotheses(legs: Legs, signals: Signals) -> Iterator[Hypothesis]:
    """Signs of one joint, of the joints in one place of every leg, and of all torques."""
    readings = [("motion", MOTION, "position and rate have")]
    if signals.torque is not None:
        readings = [
            ("joint", EVERY, "position, rate and torque have"),
            ("torque", TORQUE, "torque has"),
            *readings,
        ]
    names = legs.robot.joint_names
    for kind, fields, words in readings:
        for j in sorted({int(j) for f in range(len(legs.feet)) for j in legs.joints_of(f)}):
            yield Hypothesis(
                f"sign.{kind}",
                f"joint {names[j]}: {words} the opposite sign",
                {"joint": names[j]},
                lambda s, flip=_flip(legs, [j]), fields=fields: s.scaled(flip, fields),
                _REMEDY.format("its"),
            )
        for joints in legs.places:
            told = [names[j] for j in joints]
            yield Hypothesis(
                f"signs.{kind}",
                f"joints {', '.join(told)}: {words} the opposite sign in every leg",
                {"joints": told},
                lambda s, flip=_flip(legs, joints), fields=fields: s.scaled(flip, fields),
                _REMEDY.format("their"),
            )
        yield Hypothesis(
            "sign.torques" if fields is TORQUE else f"signs.{kind}",
            f"all joints: {words} the opposite sign",
            {"joints": names},
            lambda s, fields=fields: s.scaled(-np.ones(legs.robot.nj), fields),
            _REMEDY.format("their"),
        )


def _flip(legs: Legs, joints) -> np.ndarray:
    """(nj,) -1 for the given joints."""
    flipped = np.ones(legs.robot.nj)
    flipped[joints] = -1.0
    return flipped
