# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Axes of the tracked body and world of the motion capture: against IMU and legs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

from ...robot import axis_names
from ..case import Case, Verdict
from ..finding import FACT, FAULT, HINT, Finding
from ..mocap import MocapSignals, correlation, mocap_signals

_TURNED = np.radians(15.0)  # between tracked body and base: another frame, not its mounting
_OFF = np.radians(5.0)  # more than the estimator's prior of a constant offset takes
# correlation without which two that turn otherwise are no rotation apart: 0.56 for a gyro with two
# axes exchanged or one mirrored, 0.74 and more in recordings that are right
_ALIKE = 0.65
_TILTED = np.radians(20.0)  # of the world against the vertical
_TURNS = 0.1  # rad/s rms, of a robot whose turning tells its axes
# Standing feet whose velocities tell which of the two is turned; by how much less the squared
# differences are then: 0.1 where an IMU was turned by 10 degrees, 6 where the tracked body was
_FEWEST = 50
_OTHERWISE = 0.5


def examine(case: Case) -> Verdict:
    """Axes of the tracked body, vertical of the world."""
    if not case.legged or not case.mocap_known:
        return case, []
    mocap = mocap_signals(case.recording, case.signals.t, case.mocap_delay)
    rows = case.rows[mocap.known[case.rows]]
    if len(rows) < 50:
        return case, []
    found = []
    turn, finding = _axes(case, mocap, rows)
    if finding is not None and finding.name == "mocap.hand":
        return replace(case, mocap_delay=None).without("mocap/pose", "imu"), [finding]
    if turn.magnitude() > _OFF and _of_the_imu(case, mocap, turn):
        case, finding = _imu_turned(case, turn)
        turn = Rotation.identity()
    if finding is not None:
        found.append(finding)
    found += _vertical(case, mocap, rows, turn)
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
    facts["correlation"] = correlation(felt, turn.apply(turning))
    if angle > _TURNED and facts["correlation"] < _ALIKE:
        return turn, _hand(facts)
    if angle > _TURNED:
        remedy = f"turn the body in the motion capture system, by rpy {rpy} as the base sees it"
        return turn, Finding("mocap.axes", FAULT, text, facts, remedy)
    if angle > _OFF:
        proposal = {"noise": {"mocap_offset": round(1.5 * angle, 3)}}
        return turn, Finding("mocap.axes", HINT, text, facts, proposal)
    return turn, Finding("mocap.axes", FACT, text, facts)


def _of_the_imu(case: Case, mocap: MocapSignals, turn: Rotation) -> bool:
    """It is the IMU that is turned: standing feet move in the tracked body's axes as they are."""
    if not case.carried or case.robot.imu_joint != 1:
        return False
    stands = case.stands & mocap.known[case.rows][:, None]
    seen = stands.sum(axis=1) > 0
    if seen.sum() < _FEWEST:
        return False
    by_feet = -np.where(stands[:, :, None], case.motion.speed, 0.0).sum(axis=1)[seen]
    by_feet = by_feet / stands.sum(axis=1)[seen, None]
    rows = case.rows[seen]
    velocity = mocap.rotation[rows].inv().apply(mocap.velocity[rows])
    # in whatever unit
    velocity = velocity * np.sqrt((by_feet**2).sum() / max((velocity**2).sum(), 1e-12))
    as_it_is, turned = (
        float(np.median(((v - by_feet) ** 2).sum(axis=1))) for v in (velocity, turn.apply(velocity))
    )
    return as_it_is < _OTHERWISE * turned


def _imu_turned(case: Case, turn: Rotation) -> tuple[Case, Finding]:
    """An IMU that is turned against its frame by `turn`, as the base sees it."""
    mounted = Rotation.from_matrix(case.robot.imu_placement.rotation)
    back = mounted.inv() * turn.inv() * mounted
    rpy = [round(float(v), 4) for v in back.as_euler("xyz")]
    angle = float(turn.magnitude())
    text = (
        f"the IMU is turned by {np.degrees(angle):.1f} degrees against its frame in the model: it "
        "turns otherwise than the tracked body, which moves as the standing feet say"
    )
    remedy = (
        f"turn the IMU's readings by rpy {rpy} (imu.rotation of a mapping), or its frame in the "
        "URDF by the inverse"
    )
    severity = FAULT if angle > _TURNED else HINT
    facts = {"angle_rad": angle, "rpy": rpy}
    found = Finding("imu.turned", severity, text, facts, remedy)
    return case.with_signals(case.signals.turned(back.as_matrix())), found


def _hand(facts: dict) -> Finding:
    """No rotation makes the two turn alike."""
    text = (
        "tracked body and gyro turn alike about no axes (correlation "
        f"{facts['correlation']:.2f} at best): axes of one of them are exchanged or mirrored"
    )
    remedy = (
        "look at order and signs of the gyro's axes, and at the axes of the motion capture: x y z "
        "are right-handed"
    )
    return Finding("mocap.hand", FAULT, text, facts, remedy)


def _vertical(case: Case, mocap: MocapSignals, rows: np.ndarray, turn: Rotation) -> list[Finding]:
    """The world's z must point upwards, as the specific force does on the average."""
    motion = case.legs.at(case.signals, rows)
    up_world = mocap.rotation[rows].apply(turn.inv().apply(motion.up)).mean(axis=0)
    tilt = float(np.arccos(np.clip(up_world[2] / np.linalg.norm(up_world), -1.0, 1.0)))
    if tilt < _TILTED:
        return []
    (named,) = axis_names(up_world[None], "+")
    text = (
        f"the motion capture's world does not stand upright: {named} points upwards "
        f"({np.degrees(tilt):.0f} degrees from z)"
    )
    remedy = "stream with z up, or mocap.world_rotation of a mapping"
    return [Finding("mocap.vertical", FAULT, text, {"up_world": up_world.tolist()}, remedy)]
