# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Weight that the legs' torques carry, against that of the model."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import uniform_filter1d

from ...robot import GRAVITY
from ..case import Case, Verdict
from ..finding import FACT, HINT, Finding
from ..signals import STEP

_OFF = 0.05  # share of the weight
_LIGHT = 0.8  # of the weight: less is no payload, and no scale that a tare finds
_CARRYING = (0.5, 2.0)  # shares of the weight between which the feet carry the robot
_INSTANTS = 2000  # many, so that they do not fall into step with the gait
_STEPS = 1.0  # s, over which these are taken


def examine(case: Case) -> Verdict:
    """Mean force of the feet along the specific force, as a mass."""
    if not case.legged or case.signals.torque is None or not case.carried:
        return case, []
    if not case.sound("effort", "imu", "joint_states"):
        return case, []
    rows = case.signals.sampled(_INSTANTS)
    motion = case.legs.at(case.signals, rows)
    asked = motion.needed[:, :3]
    given = asked - motion.residual[:, :3]
    told, felt = (given * asked).sum(axis=1), (asked**2).sum(axis=1)
    # over some steps: within one the feet give more and less than the model knows
    count = max(1, round(_STEPS / (STEP * float(np.median(np.diff(rows))))))
    share = uniform_filter1d(told, count) / uniform_filter1d(felt, count)
    carrying = (share > _CARRYING[0]) & (share < _CARRYING[1])
    if carrying.sum() < 30:
        return case, []
    # on the average, the feet give along the vertical what the IMU feels there
    up = motion.up
    ratio = float((given * up)[carrying].sum() / (asked * up)[carrying].sum())
    nominal = case.robot.total_mass
    load = np.einsum("nfk,nk->nf", motion.load, up)[carrying].mean(axis=0)
    facts = {
        "mass_kg": ratio * nominal,
        "mass_model_kg": nominal,
        "mean_load_n": dict(zip(case.robot.feet, load.tolist())),
    }
    text = (
        f"the legs' torques carry {ratio * nominal:.2f} kg, the model weighs {nominal:.2f} kg "
        f"({100 * (ratio - 1.0):+.1f} %)"
    )
    if abs(ratio - 1.0) < _OFF:
        return case, [Finding("weight", FACT, text, facts)]
    if ratio < _LIGHT:
        text = f"{text}, which no load explains"
        remedy = (
            "look at the unit of the torques, at the gears of all joints, and whether something "
            "else holds the robot"
        )
        return case, [Finding("weight", HINT, text, facts, remedy)]
    remedy = (
        f"if nothing is carried, robot.torque_scale: {ratio * case.robot.torque_scale.mean():.3f} "
        "(prime identify --tare tells it exactly); else the estimator finds the load of "
        f"{(ratio - 1.0) * nominal:.1f} kg ({(ratio - 1.0) * nominal * GRAVITY:.0f} N)"
    )
    return case, [Finding("weight", HINT, text, facts, remedy)]
