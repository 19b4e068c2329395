# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Torques that are late, or in another unit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ..legs import Legs, Motion
from ..signals import Signals
from .hypothesis import TORQUE, Hypothesis

# times a torque that is true: no load, and no gear, makes it so large or small
_OTHER = 3.0
_INSTANTS = 60


def hypotheses(legs: Legs, signals: Signals) -> Iterator[Hypothesis]:
    """Torques that are late or early, and of another size."""
    if signals.torque is None:
        return
    # `delays` finds by how much exactly
    for delay in (-0.05, -0.03, -0.02, -0.01, 0.01, 0.02, 0.03, 0.05):
        yield Hypothesis(
            "delay.torque", "", {"seconds": delay}, lambda s, d=delay: s.later("torque", d)
        )
    yield from _scale(legs, signals)


def _scale(legs: Legs, signals: Signals) -> Iterator[Hypothesis]:
    """The factor with which the feet give what the motion asks for.

    A robot that hangs has no such factor: what its torques leave at the feet, made as large as the
    weight, pushes where it does not ask for it, and in the air (force and moment fit six and ten
    times worse on a Mini Cheetah that trots in the air; on a walk with a tenth of the torques ten
    and two times better).
    """
    rows = signals.sampled(_INSTANTS)
    still = legs.at(replace(signals, torque=np.zeros_like(signals.torque)), rows)
    motion = legs.at(signals, rows)
    asked = motion.needed[:, :3]
    by_torque = _given(motion) - _given(still)
    factor = (by_torque * (asked - _given(still))).sum() / max((by_torque**2).sum(), 1e-9)
    if factor > 0.0 and not 1.0 / _OTHER < factor < _OTHER:
        yield another_unit(legs, float(factor), carried(motion))


def another_unit(legs: Legs, factor: float, share: float) -> Hypothesis:
    """Torques to be multiplied by a factor, with which the legs carry a share of the weight."""
    told, size = f"{100 * share:.0f} % of the weight", f"{factor:.3g} times larger"
    if factor < 1.0:
        told, size = f"{share:.3g} times the weight", f"{1.0 / factor:.3g} times smaller"
    return Hypothesis(
        "units.torque",
        f"the torques of the legs carry {told}, though the robot stands and steps on them: "
        f"{size} they fit; are they in Nm?",
        {"factor": factor, "carried": share},
        lambda s: s.scaled(np.full(legs.robot.nj, factor), TORQUE),
        f"multiply the torques by about {factor:.2g}: `scale` or `unit` of a mapping",
    )


def carried(motion: Motion) -> float:
    """Share of the force that the motion asks for which the feet give."""
    asked = motion.needed[:, :3]
    return float((_given(motion) * asked).sum() / (asked**2).sum())


def _given(motion: Motion) -> np.ndarray:
    """(n, 3) force on the base by the feet [N]."""
    return motion.needed[:, :3] - motion.residual[:, :3]
