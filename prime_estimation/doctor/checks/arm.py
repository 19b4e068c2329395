# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Torques of a robot on a fixed base against inverse dynamics: signs, delay, what is left."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from ...joint_friction import joint_losses
from ..case import Case, Verdict
from ..delays import lag
from ..finding import FACT, FAULT, UNKNOWN, Finding
from ..signals import STEP

_AGREES = 0.6  # correlation of torque and inverse dynamics that tells a sign
_FITS = 0.95  # and a delay
_WORKS = 0.05  # share of the largest torque below which a joint does nothing
_LONGEST, _BAD = 0.1, 0.01  # s


def examine(case: Case) -> Verdict:
    """Torques of a fixed base."""
    signals, robot = case.signals, case.robot
    if robot.config.floating_base or signals is None or signals.torque is None:
        return case, []
    needed = _inverse_dynamics(case)
    rows = signals.usable
    told, wanted = signals.torque[rows], needed[rows]
    size = told.std(axis=0)
    works = size > _WORKS * size.max()
    both = (told - told.mean(axis=0)) * (wanted - wanted.mean(axis=0))
    agreement = both.mean(axis=0) / np.maximum(size * wanted.std(axis=0), 1e-9)
    names = np.array(robot.joint_names)
    found = [
        Finding(
            "sign.torque",
            FAULT,
            f"joint {names[j]}: torque has the opposite sign (correlation {agreement[j]:.2f})",
            {"joint": str(names[j])},
            "change the sign of its effort where the messages are made",
        )
        for j in np.flatnonzero(works & (agreement < -_AGREES))
    ]
    good = works & (agreement > _FITS)
    if not good.any():
        text = "inverse dynamics fit too badly to tell delays: look at inertias, armature, friction"
        found.append(Finding("torques", UNKNOWN, text, {"correlation": agreement.tolist()}))
    else:
        delay = lag(signals.torque[:, good], needed[:, good], _LONGEST, STEP)
        left = (told - wanted)[:, good].std(axis=0)
        facts = {"delay_s": delay.seconds, "residual": dict(zip(names[good], left.tolist()))}
        late = "late" if delay.seconds > 0.0 else "early"
        text = f"torques are {1e3 * abs(delay.seconds):.0f} ms {late} against inverse dynamics"
        severity = FAULT if abs(delay.seconds) > _BAD else FACT
        found.append(Finding("delay.torque", severity, text, facts))
        text = f"torques differ from inverse dynamics by {left.min():.2f} to {left.max():.2f} Nm"
        found.append(Finding("torques", FACT, text, facts))
    return case, found


def _inverse_dynamics(case: Case) -> np.ndarray:
    """(n, nj) torques of the motors that the motion asks for [Nm]."""
    robot, signals = case.robot, case.signals
    data, out = robot.model.createData(), np.zeros_like(signals.position)
    for k in range(len(signals.t)):
        q = robot.coordinates(signals.position[k])
        out[k] = pin.rnea(robot.model, data, q, signals.velocity[k], signals.acceleration[k])
    return out + joint_losses(robot, signals.velocity)
