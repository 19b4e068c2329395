# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Frames and units of the motion capture: against IMU and legs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
from scipy.spatial.transform import Rotation

from ..case import Case, Verdict
from ..finding import FACT, FAULT, HINT, Finding
from ..mocap import MocapSignals, mocap_signals

_TURNED = np.radians(15.0)  # between tracked body and base: another frame, not its mounting
_OFF = np.radians(5.0)  # more than the estimator's prior of a constant offset takes
_TILTED = np.radians(20.0)  # of the world against the vertical
_TURNS = 0.1  # rad/s rms, of a robot whose turning tells its axes
_SEEN = 0.5  # correlation without which nothing is compared
_UNIT = 3.0  # factor that a velocity may be off and still be in metres
_ELSEWHERE = 0.05  # m from its place in the model, from which the tracked body is elsewhere
_SURE = 5.0  # and how many standard deviations
_PLACED = 0.02  # m, standard deviation beyond which its place is not told: the robot hardly turns
_LOSS = 2.0  # scales from which a residual counts less


def examine(case: Case) -> Verdict:
    """Axes and place of the tracked body, vertical of the world, unit of the positions."""
    if not case.legged or not case.mocap_known:
        return case, []
    mocap = mocap_signals(case.recording, case.signals.t, case.mocap_delay)
    rows = case.rows[mocap.known[case.rows]]
    if len(rows) < 50:
        return case, []
    found = []
    turn, finding = _axes(case, mocap, rows)
    if finding is not None:
        found.append(finding)
    found += _vertical(case, mocap, rows, turn)
    found += _unit(case, mocap, turn)
    return replace(case, base_of_mocap=turn.as_matrix()), found


def _axes(case: Case, mocap: MocapSignals, rows: np.ndarray) -> tuple[Rotation, Finding | None]:
    """Rotation base from tracked body: the one that makes the two turn alike."""
    felt = case.legs.at(case.signals, rows).rate
    turning = mocap.rate[rows]
    felt, turning = felt - felt.mean(axis=0), turning - turning.mean(axis=0)
    if np.sqrt((felt**2).mean()) < _TURNS:
        return Rotation.identity(), None
    turn, _ = Rotation.align_vectors(felt, turning)
    # robust: what disagrees most counts no more
    error = np.linalg.norm(felt - turn.apply(turning), axis=1)
    good = error < 2.0 * np.median(error)
    turn, _ = Rotation.align_vectors(felt[good], turning[good])
    angle = float(turn.magnitude())
    rpy = [round(float(v), 4) for v in turn.as_euler("xyz")]
    facts = {"angle_rad": angle, "rpy_base_body": rpy}
    text = f"the tracked body is turned by {np.degrees(angle):.1f} degrees against the base"
    if angle > _TURNED:
        remedy = f"turn the body in the motion capture system, by rpy {rpy} as the base sees it"
        return turn, Finding("mocap.axes", FAULT, text, facts, remedy)
    if angle > _OFF:
        proposal = {"noise": {"mocap_offset": round(1.5 * angle, 3)}}
        return turn, Finding("mocap.axes", HINT, text, facts, proposal)
    return turn, Finding("mocap.axes", FACT, text, facts)


def _vertical(case: Case, mocap: MocapSignals, rows: np.ndarray, turn: Rotation) -> list[Finding]:
    """The world's z must point upwards, as the specific force does on the average."""
    motion = case.legs.at(case.signals, rows)
    up_world = mocap.rotation[rows].apply(turn.inv().apply(motion.up)).mean(axis=0)
    tilt = float(np.arccos(np.clip(up_world[2] / np.linalg.norm(up_world), -1.0, 1.0)))
    if tilt < _TILTED:
        return []
    axis = np.argmax(np.abs(up_world))
    named = f"{'-' if up_world[axis] < 0 else '+'}{'xyz'[axis]}"
    text = (
        f"the motion capture's world does not stand upright: {named} points upwards "
        f"({np.degrees(tilt):.0f} degrees from z)"
    )
    remedy = "stream with z up, or mocap.world_rotation of a mapping"
    return [Finding("mocap.vertical", FAULT, text, {"up_world": up_world.tolist()}, remedy)]


def _unit(case: Case, mocap: MocapSignals, turn: Rotation) -> list[Finding]:
    """Velocity by motion capture against that of the standing feet."""
    rows, stands = case.rows, case.stands & mocap.known[case.rows][:, None]
    count = stands.sum(axis=1)
    seen = count > 0
    by_feet = -np.where(stands[:, :, None], case.motion.speed, 0.0).sum(axis=1)[seen]
    by_feet = by_feet / count[seen][:, None]
    rows = rows[seen]
    velocity = turn.apply(mocap.rotation[rows].inv().apply(mocap.velocity[rows]))
    power = (by_feet**2).sum()
    if len(rows) < 50 or np.sqrt((by_feet**2).mean()) < 0.05:
        return []
    # both have noise: the ratio of their sizes, not the slope of one over the other
    slope = float(np.sqrt((velocity**2).sum() / power))
    agreement = float((by_feet * velocity).sum() / max(np.sqrt(power * (velocity**2).sum()), 1e-9))
    facts = {"slope": slope, "correlation": agreement}
    if agreement < _SEEN:
        text = (
            f"velocities by motion capture and by the standing feet do not agree (correlation "
            f"{agreement:.2f})"
        )
        return [Finding("mocap.velocity", HINT, text, facts)]
    if not 1.0 / _UNIT < slope < _UNIT:
        unit = {2: "cm", 3: "mm"}.get(round(np.log10(slope)), "another unit than metres")
        text = f"motion capture positions are in {unit}: {slope:.3g} times what the feet say"
        return [Finding("mocap.unit", FAULT, text, facts, "give the unit in the mapping")]
    found = []
    # what the tracked body moves as the base turns is none of the base's velocity
    rate = case.motion.rate[seen]
    place, stddev = _place(rate, velocity - by_feet)
    if stddev.max() < _PLACED:
        found += _elsewhere(case, place, stddev)
        slope = float(np.sqrt(((velocity - np.cross(rate, place)) ** 2).sum() / power))
    facts["slope_of_base"] = slope
    text = f"velocity by motion capture is {slope:.3f} times that by the standing feet"
    return [*found, Finding("mocap.velocity", FACT, text, facts)]


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


def _elsewhere(case: Case, place: np.ndarray, stddev: np.ndarray) -> list[Finding]:
    """The estimator would take the tracked body for a base that is where the model has it."""
    away = place - case.robot.mocap_placement.translation
    if np.linalg.norm(away) < max(_ELSEWHERE, _SURE * float(np.linalg.norm(stddev))):
        return []
    where = [round(float(v), 3) for v in place]
    facts = {"place_m": place.tolist(), "stddev_m": stddev.tolist()}
    text = (
        f"the tracked body is {1e3 * np.linalg.norm(away):.0f} mm from its place in the model, "
        f"at {where} m in the base"
    )
    return [Finding("mocap.place", HINT, text, facts, {"robot": {"mocap_position": where}})]
