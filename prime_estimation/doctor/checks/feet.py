# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Radius of the feet and length of the legs, from how feet roll while they stand.

The material under a standing sphere does not move: `v + w x c + V(r, l) = 0`, `v` the tracked
body's velocity, `c` its place, `V` linear in radius and length.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from scipy.spatial.transform import Rotation

from ..case import Case, Verdict
from ..finding import FACT, FAULT, UNKNOWN, Finding
from ..misfit import standing
from ..mocap import MocapSignals, mocap_signals

_RADIUS, _LENGTH = 0.008, 0.01  # m, from which a difference counts: soft ground gives as much
_SURE_RADIUS, _SURE_LENGTH = 5.0, 8.0  # and how many standard deviations; slip looks like length
_LARGEST = 0.2  # m, radius of a foot
_TELLS = 0.003  # m, standard deviation beyond which nothing is told
_INSTANTS = 1000
_SETTLED = 0.06  # s: a foot that has just landed has not come to rest
_FEWEST = 100  # foot samples in stance
_LOSS = 2.0  # standard deviations from which a residual counts less
_SHARED = 0.3  # share of what one foot is off by that the others are off by, where all are
_ALIKE = 5.0  # samples of one stance that tell as much as one


def examine(case: Case) -> Verdict:
    """Foot radius and leg length."""
    if not case.legged or not case.carried or any(foot.flat for foot in case.legs.feet):
        return case, []
    if not case.mocap_known:
        return case, []
    mocap = mocap_signals(case.recording, case.signals.t, case.mocap_delay)
    rows, right, of = _equations(case, mocap)
    if len(right) < 3 * _FEWEST:
        text = "too few feet stand under the motion capture to tell radius and leg length"
        return case, [Finding("feet", UNKNOWN, text)]
    finding = _finding(case, rows, right)
    if finding.severity == FAULT:
        finding = _of_some(case, rows, right, of) or finding
    return case, [finding]


def _equations(case: Case, mocap: MocapSignals) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows over (radius, length, place of the tracked body (3)), right sides [m/s], their feet."""
    legs, signals = case.legs, case.signals
    instants = signals.sampled(_INSTANTS)
    motion = legs.at(signals, instants)
    stands = standing(legs, signals, motion, instants, _SETTLED)
    turn = Rotation.from_matrix(case.base_of_mocap)
    data = legs.model.createData()
    left, right, of = [], [], []
    for k, row in enumerate(instants):
        if not mocap.known[row] or not stands[k].any():
            continue
        velocity = turn.apply(mocap.rotation[row].inv().apply(mocap.velocity[row]))
        q = np.concatenate([np.zeros(6), [1.0], case.robot.coordinates(signals.position[row])])
        v = np.concatenate([np.zeros(3), motion.rate[k], signals.velocity[row]])
        pin.forwardKinematics(legs.model, data, q, v)
        for f in np.flatnonzero(stands[k]):
            foot = legs.feet[f]
            placement = data.oMi[foot.joint]
            spin = placement.rotation @ data.v[foot.joint].angular
            along = placement.rotation @ foot.centre / np.linalg.norm(foot.centre)
            block = np.zeros((3, 5))
            block[:, 0] = np.cross(spin, -motion.up[k])
            block[:, 1] = np.cross(spin, along)
            # the tracked body moves as the base's origin and its place turn
            block[:, 2:] = -pin.skew(motion.rate[k])
            left.append(block)
            right.append(-velocity - motion.speed[k, f])
            of += 3 * [f]
    if not left:
        return np.zeros((0, 5)), np.zeros(0), np.zeros(0, int)
    return np.concatenate(left), np.concatenate(right), np.array(of)


def _solve(rows: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Robust least squares: solution, and its standard deviations."""
    weights = np.ones(len(right))
    for _ in range(15):
        weighted = rows * weights[:, None]
        normal = weighted.T @ weighted + 1e-9 * np.eye(rows.shape[1])
        solution = np.linalg.solve(normal, weighted.T @ (right * weights))
        residual = right - rows @ solution
        scale = 1.4826 * float(np.median(np.abs(residual))) + 1e-9
        weights = 1.0 / np.sqrt(1.0 + (residual / (_LOSS * scale)) ** 2)
    covariance = np.linalg.inv(normal) * scale**2 * _ALIKE
    return solution, np.sqrt(np.diag(covariance))


def _of_some(case: Case, rows: np.ndarray, right: np.ndarray, of: np.ndarray) -> Finding | None:
    """Feet that alone roll otherwise than the model says, where others do as it says."""
    count = len(case.legs.feet)
    own = np.zeros((len(rows), count))
    own[np.arange(len(rows)), of] = rows[:, 0]
    radii = _solve(np.hstack([own, rows[:, 2:]]), right)[0][:count]
    told = np.bincount(of, minlength=count) >= 3 * _FEWEST // count
    largest = radii[np.argmax(np.where(told, np.abs(radii), 0.0))]
    others = told & (radii / largest < _SHARED)
    if abs(largest) < _RADIUS or not others.any():
        return None
    names = [foot for foot, off in zip(case.robot.feet, told & ~others) if off]
    plural = len(names) > 1
    text = (
        f"{', '.join(names)} {'do' if plural else 'does'} not roll as the model says, and the "
        f"other feet do: by the motion capture {1e3 * abs(largest):.0f} mm off in radius"
    )
    remedy = (
        f"look at the encoders of {'these legs' if plural else 'this leg'} (zeros, signs), which "
        "prime calibrate finds, and whether the foot slips"
    )
    return Finding("feet.leg", FAULT, text, {"off_m": dict(zip(case.robot.feet, radii))}, remedy)


def _finding(case: Case, rows: np.ndarray, right: np.ndarray) -> Finding:
    """Radius and length look much alike: what both together speak for is then fitted alone."""
    both, _ = _solve(rows, right)
    alone = [_solve(np.delete(rows, 1 - which, axis=1), right) for which in (0, 1)]
    radius, length = (float(solution[0]) for solution, _ in alone)
    sure = [float(stddev[0]) for _, stddev in alone]
    now = float(np.mean([foot.radius for foot in case.legs.feet]))
    facts = {
        "radius_m": now + radius,
        "radius_model_m": now,
        "leg_longer_m": length,
        "stddev_m": sure,
        "together_m": both[:2].tolist(),
    }
    if max(sure) > _TELLS:
        text = "radius of the feet and length of the legs cannot be told: feet hardly roll"
        return Finding("feet", UNKNOWN, text, facts)
    by_radius = abs(both[0]) >= abs(both[1])
    if by_radius and abs(radius) > max(_RADIUS, _SURE_RADIUS * sure[0]):
        text = (
            f"feet roll as if their radius were {1e3 * (now + radius):.0f} mm, not "
            f"{1e3 * now:.0f} mm"
        )
        proposal = f"radius: {now + radius:.3f} in each of robot.contacts"
        if not 0.0 < now + radius < _LARGEST:
            text = f"{text}, as no foot does"
            proposal = "look at zeros and signs of the joints, and the axes of motion capture"
        return Finding("feet.radius", FAULT, text, facts, proposal)
    longer = f"{1e3 * abs(length):.0f} mm {'longer' if length > 0.0 else 'shorter'}"
    if not by_radius and abs(length) > max(_LENGTH, _SURE_LENGTH * sure[1]):
        text = f"lower legs seem to be {longer} than the model's"
        return Finding("feet.length", FAULT, text, facts, "look at the foot frames of the URDF")
    text = (
        f"feet roll as spheres of {1e3 * (now + radius):.0f} mm (model {1e3 * now:.0f} mm), or "
        f"lower legs are {longer} than the model's"
    )
    return Finding("feet", FACT, text, facts)
