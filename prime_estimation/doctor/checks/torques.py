# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Torques of swinging legs against inverse dynamics: armature, friction, and what is left.

A leg in the air carries nothing, so `tau - tau_rnea = a ddq + d dq + f sign(dq)`: what the model
without motors lacks is fitted by joint, and compared with the robot's YAML.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from ...joint_friction import FRICTION_VELOCITY
from ..case import Case, Verdict
from ..finding import FACT, HINT, Finding

_INSTANTS = 1500
_LIFTED = 0.03  # m: the foot is in the air
_FEWEST = 80  # instants in the air
_WORSE = 1.3  # residual as configured over that of the fit, from which the fit is proposed
_OTHER = 1.5  # factor between armatures that is worth a word
_MOVES = 20.0  # rad/s2 rms without which an armature cannot be told


def examine(case: Case) -> Verdict:
    """Joint losses and armatures that suit the swinging legs."""
    if not case.legged or case.signals.torque is None:
        return case, []
    fits = _fits(case)
    if not fits:
        return case, []
    left = {name: fit["residual"] for name, fit in fits.items()}
    text = (
        f"torques of swinging legs differ from inverse dynamics by {min(left.values()):.2f} to "
        f"{max(left.values()):.2f} Nm rms"
    )
    found = [Finding("torques", FACT, text, fits)]
    other = {
        name: fit
        for name, fit in fits.items()
        if fit["residual"] > _WORSE * fit["fitted"] and _differs(fit) and fit["excited"] > _MOVES
    }
    if other:
        found.append(_proposal(other))
    return case, found


def _differs(fit: dict) -> bool:
    ratio = max(fit["armature"], 1e-6) / max(fit["armature_model"], 1e-6)
    return not 1.0 / _OTHER < ratio < _OTHER


def _fits(case: Case) -> dict[str, dict]:
    """By joint: fitted armature, damping and friction, residuals [Nm] as configured and fitted."""
    robot, legs, signals = case.robot, case.legs, case.signals
    rows = signals.sampled(_INSTANTS)
    motion = legs.at(signals, rows)
    needed = _without_motors(case, rows, motion)
    velocity, acceleration = signals.velocity[rows], signals.acceleration[rows]
    sign = velocity / np.sqrt(velocity**2 + FRICTION_VELOCITY**2)
    lack = signals.torque[rows] - needed
    armature = legs.model.armature[-robot.nj :]
    configured = (
        armature * acceleration + robot.joint_damping * velocity + robot.joint_friction * sign
    )
    found = {}
    for f in range(len(legs.feet)):
        swinging = motion.height[:, f] > _LIFTED if case.carried else np.ones(len(rows), bool)
        if swinging.sum() < _FEWEST:
            continue
        for j in legs.joints_of(f):
            terms = np.stack([acceleration[:, j], velocity[:, j], sign[:, j]], axis=1)[swinging]
            values = lack[swinging, j]
            solution, left = _robust(terms, values)
            found[robot.joint_names[j]] = {
                "armature": float(solution[0]),
                "armature_model": float(armature[j]),
                "damping": float(solution[1]),
                "friction": float(solution[2]),
                "residual": _size(values - configured[swinging, j]),
                "fitted": left,
                "excited": float(np.sqrt((terms[:, 0] ** 2).mean())),
            }
    return found


def _without_motors(case: Case, rows: np.ndarray, motion) -> np.ndarray:
    """(n, nj) joint torques of links alone, in the air [Nm]."""
    model = case.legs.model.copy()
    model.armature[:] = 0.0
    data, out = model.createData(), np.zeros((len(rows), case.robot.nj))
    for k, row in enumerate(rows):
        signals = case.signals
        q = np.concatenate([np.zeros(6), [1.0], case.robot.coordinates(signals.position[row])])
        v = np.concatenate([np.zeros(3), motion.rate[k], signals.velocity[row]])
        a = np.concatenate([motion.force[k], motion.turn[k], signals.acceleration[row]])
        out[k] = pin.rnea(model, data, q, v, a)[-case.robot.nj :]
    return out


def _robust(terms: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, float]:
    weights = np.ones(len(values))
    for _ in range(10):
        weighted = terms * weights[:, None]
        solution = np.linalg.lstsq(weighted, values * weights, rcond=None)[0]
        left = values - terms @ solution
        scale = 1.4826 * float(np.median(np.abs(left))) + 1e-9
        weights = 1.0 / np.sqrt(1.0 + (left / (2.0 * scale)) ** 2)
    return solution, _size(left)


def _size(values: np.ndarray) -> float:
    """Robust standard deviation about zero."""
    return 1.4826 * float(np.median(np.abs(values)))


def _proposal(other: dict[str, dict]) -> Finding:
    told = ", ".join(
        f"{name} {fit['armature']:.4f} (YAML {fit['armature_model']:.4f})"
        for name, fit in other.items()
    )
    text = f"armatures that suit the swinging legs better [kg m2]: {told}"
    proposal = {"robot": {"armature": {n: round(f["armature"], 4) for n, f in other.items()}}}
    return Finding("torques.armature", HINT, text, other, proposal)
