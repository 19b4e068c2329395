# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Finds the single mistakes that explain a misfit, one after the other."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .hypotheses import Hypothesis, all_hypotheses
from .legs import Legs
from .misfit import Misfit, misfit
from .signals import Signals

_ROUGH, _FINE = 60, 300  # instants: all hypotheses are looked at roughly, the best ones again
_BEST = 6
_GAIN = math.log(
    3.0
)  # all figures together fit three times better: chance and noise do not do that
# where nothing but motion tells which feet stand
_BLIND_GAIN = math.log(8.0)
_OF_ITSELF = math.log(2.0)  # figures that tell a mistake by themselves, where there are such
_MOST = 3  # mistakes in one recording


@dataclass(frozen=True)
class Mistake:
    """A hypothesis that the recording speaks for: misfit as recorded and without the mistake."""

    hypothesis: Hypothesis
    before: Misfit
    after: Misfit


def find_mistakes(legs: Legs, signals: Signals) -> tuple[list[Mistake], Signals]:
    """Mistakes that explain the misfit, the most telling first, and the signals without them."""
    found: list[Mistake] = []
    while len(found) < _MOST:
        best = _best(legs, signals)
        if best is None:
            break
        found.append(best)
        signals = best.hypothesis.corrected(signals)
    return found, signals


def _best(legs: Legs, signals: Signals) -> Mistake | None:
    rows = signals.sampled(_ROUGH)
    rough = misfit(legs, signals, rows)
    ranked = sorted(
        all_hypotheses(legs, signals),
        key=lambda h: rough.gain(misfit(legs, h.corrected(signals), rows)),
        reverse=True,
    )
    rows = signals.sampled(_FINE)
    before = misfit(legs, signals, rows)

    def gain(hypothesis: Hypothesis) -> float:
        after = misfit(legs, hypothesis.corrected(signals), rows)
        if hypothesis.figures and before.gain(after, hypothesis.figures) < _OF_ITSELF:
            return 0.0
        return before.gain(after)

    best = max(ranked[:_BEST], key=gain)
    blind = signals.torque is None and signals.standing is None
    needed = _BLIND_GAIN if blind and best.kind != "imu_axes" else _GAIN
    told = best.refined(gain) if gain(best) > needed else None
    return told and Mistake(told, before, misfit(legs, told.corrected(signals), rows))
