# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Velocity by motion capture against that of the standing feet: axes, unit, the body's place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pinocchio as pin
from scipy.spatial.transform import Rotation

from ...robot import axis_names, signed_axes
from ..case import Case, Verdict
from ..finding import FACT, FAULT, HINT, Finding
from ..mocap import mocap_signals

_FEWEST = 50  # instants at which a foot stands
_MOVES = 0.05  # m/s rms, without which nothing is compared
_SEEN = 0.5  # correlation without which nothing is compared
_UNIT = 3.0  # factor that a velocity may be off and still be in metres
_UNITS = {2: ("cm", 0.01), 3: ("mm", 0.001)}  # by their decimal power
# Share of the squared differences, and of the squared velocity, that is left with other axes: of
# the differences 0.02 where axes were exchanged or mirrored, 1.3 and more in recordings that are
# right; of the velocity more on a treadmill, say, where motion capture goes with the feet in none.
_OTHER_AXES = 0.25
_TRIMMED = 0.8  # share of the differences that counts
_ELSEWHERE = 0.05  # m from its place in the model, from which the tracked body is elsewhere
_SURE = 5.0  # and how many standard deviations
_PLACED = 0.02  # m, standard deviation beyond which its place is not told: the robot hardly turns
_LOSS = 2.0  # scales from which a residual counts less


def examine(case: Case) -> Verdict:
    """Axes and unit of the positions, place of the tracked body."""
    if not case.legged or not case.mocap_known or not case.carried:
        return case, []
    mocap = mocap_signals(case.recording, case.signals.t, case.mocap_delay)
    stands = case.stands & mocap.known[case.rows][:, None]
    count = stands.sum(axis=1)
    seen = count > 0
    by_feet = -np.where(stands[:, :, None], case.motion.speed, 0.0).sum(axis=1)[seen]
    by_feet = by_feet / count[seen][:, None]
    if len(by_feet) < _FEWEST or np.sqrt((by_feet**2).mean()) < _MOVES:
        return case, []
    rows = case.rows[seen]
    world = mocap.rotation[rows] * Rotation.from_matrix(case.base_of_mocap).inv()
    finding = _exchanged(mocap.velocity[rows], world.apply(by_feet))
    if finding is not None:
        return replace(case, mocap_delay=None).without("mocap/pose"), [finding]
    return _compared(case, case.motion.rate[seen], by_feet, world.inv().apply(mocap.velocity[rows]))


def _exchanged(velocity: np.ndarray, by_feet: np.ndarray) -> Finding | None:
    """Positions in other axes than those of their orientation, both (n, 3) in the world."""
    velocity = velocity * np.sqrt((by_feet**2).sum() / max((velocity**2).sum(), 1e-9))
    left, every = [], signed_axes()
    for axes in every:
        apart = ((velocity @ axes.T - by_feet) ** 2).sum(axis=1)
        left.append(float(np.sort(apart)[: int(_TRIMMED * len(apart))].sum()))
    best = int(np.argmin(left))
    share = left[best] / max(left[0], 1e-12)
    if max(share, left[best] / (by_feet**2).sum()) > _OTHER_AXES:
        return None
    named = " ".join(axis_names(every[best], "+"))
    text = (
        f"positions of the motion capture are in other axes than its orientations: by the standing "
        f"feet x, y, z are {named} of what it reports"
    )
    remedy = "turn positions and orientations alike, with right-handed axes and z up"
    return Finding("mocap.positions", FAULT, text, {"left": share}, remedy)


def _compared(case: Case, rate: np.ndarray, by_feet: np.ndarray, velocity: np.ndarray) -> Verdict:
    """Unit and place by velocities (n, 3) in the base, which turns at `rate`."""
    power = (by_feet**2).sum()
    # both have noise: the ratio of their sizes, not the slope of one over the other
    slope = float(np.sqrt((velocity**2).sum() / power))
    agreement = float((by_feet * velocity).sum() / max(np.sqrt(power * (velocity**2).sum()), 1e-9))
    facts = {"slope": slope, "correlation": agreement}
    if agreement < _SEEN:
        text = (
            f"velocities by motion capture and by the standing feet do not agree (correlation "
            f"{agreement:.2f})"
        )
        return case, [Finding("mocap.velocity", HINT, text, facts)]
    if not 1.0 / _UNIT < slope < _UNIT:
        unit, factor = _UNITS.get(round(np.log10(slope)), ("another unit than metres", 1.0 / slope))
        text = f"motion capture positions are in {unit}: {slope:.3g} times what the feet say"
        found = Finding("mocap.unit", FAULT, text, facts, "give the unit in the mapping")
        return case.with_units("mocap/pose", {"position_world": factor}), [found]
    found: list[Finding] = []
    # what the tracked body moves as the base turns is none of the base's velocity
    place, stddev = _place(rate, velocity - by_feet)
    if stddev.max() < _PLACED:
        found += _elsewhere(case, place, stddev)
        slope = float(np.sqrt(((velocity - np.cross(rate, place)) ** 2).sum() / power))
    facts["slope_of_base"] = slope
    text = f"velocity by motion capture is {slope:.3f} times that by the standing feet"
    return case, [*found, Finding("mocap.velocity", FACT, text, facts)]


def _place(rate: np.ndarray, apart: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Place (3,) [m] of a body that moves (n, 3) `apart` [m/s] from the base as it turns; sigma."""
    rows = np.array([pin.skew(w) for w in rate])
    weights = np.ones(len(rate))
    for _ in range(15):
        normal = np.einsum("n,nij,nik->jk", weights, rows, rows) + 1e-9 * np.eye(3)
        place = np.linalg.solve(normal, np.einsum("n,nij,ni->j", weights, rows, apart))
        away = np.linalg.norm(apart - rows @ place, axis=1)
        scale = float(np.median(away)) + 1e-9
        weights = 1.0 / (1.0 + (away / (_LOSS * scale)) ** 2)
    return place, np.sqrt(np.diag(np.linalg.inv(normal))) * scale


def _elsewhere(case: Case, place: np.ndarray, stddev: np.ndarray) -> Iterator[Finding]:
    """The estimator would take the tracked body for a base that is where the model has it."""
    away = place - case.robot.mocap_placement.translation
    if np.linalg.norm(away) < max(_ELSEWHERE, _SURE * float(np.linalg.norm(stddev))):
        return
    where = [round(float(v), 3) for v in place]
    facts = {"place_m": place.tolist(), "stddev_m": stddev.tolist()}
    text = (
        f"the tracked body is {1e3 * np.linalg.norm(away):.0f} mm from its place in the model, "
        f"at {where} m in the base"
    )
    yield Finding("mocap.place", HINT, text, facts, {"robot": {"mocap_position": where}})
