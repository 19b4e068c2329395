# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Encoders of a leg that tell the same angle all the time."""

from __future__ import annotations

import numpy as np

from ..case import Case, Verdict
from ..finding import FAULT, Finding

_MOVES = 0.1  # rad, over the recording, of the other joints of its leg


def examine(case: Case) -> Verdict:
    """Joints that stay where they are, to the last digit, in legs that move.

    A joint of a leg that walks is bent by its loads even where its motor holds it.
    """
    if case.signals is None or not case.robot.config.floating_base:
        return case, []
    position = case.recording.streams["joint_states"].values["position"]
    moved = np.ptp(position[np.isfinite(position).all(axis=1)], axis=0)
    stuck = []
    for foot in range(len(case.legs.feet)):
        own = case.legs.joints_of(foot)
        still = moved[own] == 0.0
        if still.any() and not still.all() and moved[own][~still].min() > _MOVES:
            stuck += own[still].tolist()
    if not stuck:
        return case, []
    names = [case.robot.joint_names[j] for j in stuck]
    told = f"joint {names[0]}" if len(names) == 1 else f"joints {', '.join(names)}"
    text = f"{told}: the position never changes, while the other joints of the leg move"
    remedy = "look at the encoder and its cable, and whether the driver fills in a constant"
    finding = Finding("joints.stuck", FAULT, text, {"joints": names}, remedy)
    return case.without("joint_states"), [finding]
