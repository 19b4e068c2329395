# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Order of the legs, signs of the joints, axes of the IMU: which mistake explains a misfit.

Torques that carry many times the weight are in another unit.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..case import Case, Verdict
from ..finding import FACT, FAULT, UNKNOWN, Finding
from ..misfit import misfit
from ..search import Mistake, find_mistakes

_CARRIED = 0.5  # share of what the motion asks for that the feet give, below which others carry
_TOO_MUCH = 3.0  # times that, from which it is not a load but another unit


def examine(case: Case) -> Verdict:
    """Mistakes of order, sign and axes."""
    if not case.legged:
        return case, []
    mistakes, signals = find_mistakes(case.legs, case.signals)
    share = _carried(replace(case, signals=signals))
    if share > _TOO_MUCH:
        case = case.with_signals(replace(signals, torque=None))
        text = f"the torques of the legs carry {share:.3g} times the weight: are they in Nm?"
        proposal = f"divide the torques by about {share:.2g}: `scale` or `unit` of a mapping"
        return case, [Finding("units.torque", FAULT, text, {"carried": share}, proposal)]
    if share < _CARRIED:
        # no mistake makes the feet carry it: something else does
        case = replace(case, carried=False)
        text = (
            f"the feet carry {100 * share:.0f} % of the weight: the robot hangs or lies, order of "
            "the legs, signs and IMU axes cannot be told"
        )
        return case, [Finding("mechanics", UNKNOWN, text, {"carried": share})]
    # how late torques are, the delays' own check says exactly
    named = [m for m in mistakes if m.hypothesis.kind != "delay.torque"]
    found = [_finding(m) for m in named]
    for mistake in named:
        case = case.with_signals(mistake.hypothesis.corrected(case.signals))
    if not found:
        figures = misfit(case.legs, signals, case.rows)
        found = [Finding("mechanics", FACT, _described(figures), figures.to_dict())]
    if case.signals.torque is None and case.signals.standing is None:
        text = (
            "without torque and contact flags, single signs and the order of legs that move alike "
            "cannot be told"
        )
        found.append(Finding("mechanics.rough", UNKNOWN, text))
    return case, found


def _carried(case: Case) -> float:
    """Share of the force that the motion asks for which the feet give; 1 without torque."""
    if case.signals.torque is None:
        return 1.0
    asked = case.motion.needed[:, :3]
    given = asked - case.motion.residual[:, :3]
    return float((given * asked).sum() / (asked**2).sum())


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
