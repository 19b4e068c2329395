# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Order and signs of the joints, axes of the IMU, unit of the torques: which mistake explains it.

Where none does, whether legs and IMU contradict each other, or the robot hangs or lies.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..case import Case, Verdict
from ..finding import FACT, FAULT, UNKNOWN, Finding
from ..hypotheses.torques import another_unit, carried
from ..misfit import Misfit, misfit
from ..search import Mistake, find_mistakes

_CARRIED = 0.5  # share of what the motion asks for that the feet give, below which others carry
# Shares of the weight, and of weight times leg length, by which feet, joints and IMU contradict
# each other. Who holds, lifts or lays down a robot takes weight off its feet, so forces miss as
# much at most; a fall and a lifted robot 0.44, real logs 0.15; moments 0.04 at most in all these.
_FORCE, _MOMENT = 1.0, 0.2
_BEYOND = 0.1  # share of the joint positions beyond the URDF's limits: more than one joint's


def examine(case: Case) -> Verdict:
    """Mistakes of order, sign, axes, and of the torques' unit."""
    if not case.legged:
        return case, []
    mistakes, signals = find_mistakes(case.legs, case.signals)
    # how late torques are, the delays' own check says exactly
    named = [m for m in _merged(case, mistakes) if m.hypothesis.kind != "delay.torque"]
    figures = misfit(case.legs, signals, case.rows)
    share = 1.0 if signals.torque is None else carried(replace(case, signals=signals).motion)
    if (figures.force > _FORCE and figures.moment > _MOMENT) or figures.beyond > _BEYOND:
        return case.uncarried().without("joint_states"), [_contradiction(figures, named)]
    if share < _CARRIED:
        # no mistake makes the feet carry it: something else does
        text = (
            f"the feet carry {100 * share:.0f} % of the weight: the robot hangs or lies, or the "
            "torques are far too small (in front of the gears?); order of the legs, signs and IMU "
            "axes cannot be told"
        )
        return case.uncarried(), [Finding("mechanics", UNKNOWN, text, {"carried": share})]
    found = [_finding(m) for m in named]
    for mistake in named:
        case = _corrected(case, mistake)
    if not found:
        found = [Finding("mechanics", FACT, _described(figures), figures.to_dict())]
    if case.signals.torque is None and case.signals.standing is None:
        text = (
            "without torque and contact flags, single signs and the order of legs that move alike "
            "cannot be told"
        )
        found.append(Finding("mechanics.rough", UNKNOWN, text))
    return case, found


def _merged(case: Case, mistakes: list[Mistake]) -> list[Mistake]:
    """With one unit of the torques, that was found before and after another mistake."""
    units = [m for m in mistakes if m.hypothesis.kind == "units.torque"]
    if len(units) < 2:
        return mistakes
    subjects = [m.hypothesis.subject for m in units]
    factor = float(np.prod([subject["factor"] for subject in subjects]))
    one = another_unit(case.legs, factor, subjects[0]["carried"])
    return [replace(units[0], hypothesis=one), *(m for m in mistakes if m not in units)]


def _corrected(case: Case, mistake: Mistake) -> Case:
    """The case without a mistake."""
    hypothesis, torques = mistake.hypothesis, case.recording.torque_stream
    case = case.with_signals(hypothesis.corrected(case.signals))
    if hypothesis.kind == "units.torque":
        # the factor makes the feet carry the robot: torques tell no weight any more
        case = case.with_units(torques, {"effort": hypothesis.subject["factor"]})
        case = case.without("effort")
    return case


def _contradiction(figures: Misfit, tried: list[Mistake]) -> Finding:
    """Of several mistakes none is named for sure: which ones were tried."""
    parts = []
    if np.isfinite(figures.force):
        parts.append(f"forces miss by {100 * figures.force:.0f} % of the weight")
        parts.append(f"moments by {100 * figures.moment:.0f} % of weight times leg length")
    if figures.beyond > _BEYOND:
        parts.append(f"{100 * figures.beyond:.0f} % of the joint positions are beyond their limits")
    text = (
        f"joints, torques and IMU contradict each other: {', '.join(parts)}, and no mistake that "
        "is known explains it"
    )
    remedy = (
        "look at order, signs and units of all joints and of the IMU's axes: several may be wrong; "
        "and whether it is this robot"
    )
    better = [m.hypothesis.text for m in tried if m.hypothesis.kind != "units.torque"]
    if better:
        remedy += f"; it fits better, not well, if {', and if '.join(better)}"
    return Finding("mechanics", FAULT, text, figures.to_dict(), remedy)


def _finding(mistake: Mistake) -> Finding:
    h = mistake.hypothesis
    evidence = {
        "gain": mistake.before.gain(mistake.after),
        "before": mistake.before.to_dict(),
        "after": mistake.after.to_dict(),
        **h.subject,
    }
    return Finding(h.kind, FAULT, h.text, evidence, h.proposal)


def _described(figures) -> str:
    parts = []
    if np.isfinite(figures.force):
        parts.append(f"forces fit to {100 * figures.force:.0f} % of the weight")
    if np.isfinite(figures.swing):
        parts.append(f"swinging feet carry {100 * figures.swing:.0f} % of a foot's share")
    if np.isfinite(figures.slip):
        parts.append(f"standing feet agree to {1e3 * figures.slip:.0f} mm/s")
    return "order of legs, signs and IMU axes fit: " + ", ".join(parts)
