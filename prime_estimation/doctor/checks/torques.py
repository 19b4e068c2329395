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
_WORSE = 1.5  # residual as configured over that of the fit, from which the fit is proposed
_OTHER = 1.4  # factor between armatures that is worth a word
_MOVES = 20.0  # rad/s2 rms without which an armature cannot be told
_SPARSE = 0.008  # s between readings, beyond which torques of a swing are guessed between them


def examine(case: Case) -> Verdict:
    """Joint losses and armatures that suit the swinging legs."""
    if not case.legged or case.signals.torque is None:
        return case, []
    if not case.sound("effort", "imu", "joint_states"):
        return case, []
    terms = _terms(case)
    fits = {place: _fit(*parts) for place, parts in terms.items()}
    if not fits:
        return case, []
    left = [fit["residual"] for fit in fits.values()]
    text = (
        f"torques of swinging legs differ from inverse dynamics by {min(left):.2f} to "
        f"{max(left):.2f} Nm rms"
    )
    found = [Finding("torques", FACT, text, {str(place): fit for place, fit in fits.items()})]
    other = {place: fit for place, fit in fits.items() if _differs(fit)}
    stamps = case.recording.get("joint_states").stamps
    if other and np.median(np.diff(stamps)) <= _SPARSE:
        found.append(_proposal(case, other))
    return case, found


def _differs(fit: dict) -> bool:
    ratio = fit["armature"] / max(fit["armature_model"], 1e-6)
    if fit["armature"] <= 0.0 or fit["excited"] < _MOVES:
        return False
    return fit["residual"] > _WORSE * fit["fitted"] and not 1.0 / _OTHER < ratio < _OTHER


def _terms(case: Case) -> dict[int, tuple]:
    """By place in the leg, all legs together: what the model without motors lacks."""
    robot, legs, signals = case.robot, case.legs, case.signals
    rows = signals.sampled(_INSTANTS)
    motion = legs.at(signals, rows)
    velocity, acceleration = signals.velocity[rows], signals.acceleration[rows]
    sign = velocity / np.sqrt(velocity**2 + FRICTION_VELOCITY**2)
    lack = signals.torque[rows] - _without_motors(case, rows, motion)
    armature = legs.model.armature[-robot.nj :]
    configured = (
        armature * acceleration + robot.joint_damping * velocity + robot.joint_friction * sign
    )
    lifted = legs.lifted(motion, _LIFTED)
    parts: dict[int, list] = {}
    for f in range(len(legs.feet)):
        swinging = lifted[:, f] if case.carried else np.ones(len(rows), bool)
        for place, j in enumerate(legs.joints_of(f)):
            columns = np.stack([acceleration[:, j], velocity[:, j], sign[:, j]], axis=1)
            entry = (columns[swinging], lack[swinging, j], configured[swinging, j], armature[j])
            parts.setdefault(place, []).append(entry)
    joined = {}
    for place, entries in parts.items():
        terms, values, told, armatures = zip(*entries)
        if sum(map(len, values)) >= _FEWEST:
            joined[place] = (
                np.concatenate(terms),
                np.concatenate(values),
                np.concatenate(told),
                float(np.mean(armatures)),
            )
    return joined


def _fit(terms: np.ndarray, values: np.ndarray, configured: np.ndarray, armature: float) -> dict:
    """Fitted armature, damping and friction; residuals [Nm] as configured and fitted."""
    solution, left = _robust(terms, values)
    return {
        "armature": float(solution[0]),
        "armature_model": armature,
        "damping": float(solution[1]),
        "friction": float(solution[2]),
        "residual": _size(values - configured),
        "fitted": left,
        "excited": float(np.sqrt((terms[:, 0] ** 2).mean())),
    }


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


def _proposal(case: Case, other: dict[int, dict]) -> Finding:
    names, legs = case.robot.joint_names, case.legs
    values, told = {}, []
    for place, fit in other.items():
        joints = [names[legs.joints_of(f)[place]] for f in range(len(legs.feet))]
        values.update({name: float(f"{fit['armature']:.2g}") for name in joints})
        told.append(
            f"{joints[0]} and its likes {fit['armature']:.2g} (YAML {fit['armature_model']:.2g})"
        )
    text = f"armatures that suit the swinging legs better [kg m2]: {', '.join(told)}"
    facts = {str(place): fit for place, fit in other.items()}
    return Finding("torques.armature", HINT, text, facts, {"robot": {"armature": values}})
