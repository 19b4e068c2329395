# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Sensors that tell the same all the time, to the last digit, on a robot that moves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ..case import Case, Verdict
from ..finding import FAULT, UNKNOWN, Finding

_MOVES = 0.1  # rad, over the recording, of joints that move
_TURNS = 1.0  # rad/s, over the recording, of their rates: noise makes less
_IMU = {"angular_velocity": "gyro", "linear_acceleration": "accelerometer"}


def examine(case: Case) -> Verdict:
    """Encoders, torques, axes of the IMU and poses whose readings never change."""
    if case.signals is None or not case.robot.config.floating_base:
        return case, []
    found: list[Finding] = []
    for check in (_encoders, _torques, _imu, _mocap):
        case, more = check(case)
        found += more
    return case, found


def _encoders(case: Case) -> Verdict:
    """Joints that stay where they are although they have rates, or their legs move.

    A joint of a leg that walks is bent by its loads even where its motor holds it.
    """
    moved = _spread(case, "joint_states", "position")
    stuck = []
    if "velocity" in case.recording.streams["joint_states"].values:
        turned = _spread(case, "joint_states", "velocity") > _TURNS
        stuck = np.flatnonzero((moved == 0.0) & turned).tolist()
    for foot in range(len(case.legs.feet)):
        own = case.legs.joints_of(foot)
        still = moved[own] == 0.0
        if still.any() and not still.all() and moved[own][~still].min() > _MOVES:
            stuck += [j for j in own[still].tolist() if j not in stuck]
    if not stuck:
        return case, []
    text = f"{_named(case, stuck)}: the position never changes, while rates or the leg's others do"
    remedy = "look at the encoder and its cable, and whether the driver fills in a constant"
    evidence = {"joints": [case.robot.joint_names[j] for j in stuck]}
    finding = Finding("joints.stuck", FAULT, text, evidence, remedy)
    return case.without("joint_states"), [finding]


def _torques(case: Case) -> Verdict:
    """Torques of joints that move; where all are, `presence` says that none is measured."""
    stream = case.recording.torque_stream
    if stream is None:
        return case, []
    still = _spread(case, stream, "effort") == 0.0
    stuck = np.flatnonzero(still & (_spread(case, "joint_states", "position") > _MOVES)).tolist()
    if not stuck or still.all():
        return case, []
    text = f"{_named(case, stuck)}: the torque never changes, while the joint moves"
    remedy = "look at the motor's driver; without it forces and inertia are wrong"
    evidence = {"joints": [case.robot.joint_names[j] for j in stuck]}
    finding = Finding("joints.torque_stuck", FAULT, text, evidence, remedy)
    lost = "without the torques of all legs weight, forces and their delay cannot be told"
    case = case.with_signals(replace(case.signals, torque=None)).without("effort")
    return case, [finding, Finding("mechanics", UNKNOWN, lost)]


def _imu(case: Case) -> Verdict:
    """Axes of the IMU of a robot whose joints move."""
    moves = _spread(case, "joint_states", "position").max() > _MOVES
    if case.signals.gyro is None or not moves:
        return case, []
    dead = dict(_dead_axes(case))
    if not dead:
        return case, []
    told = " and ".join(f"{_IMU[name]} {', '.join(axes)}" for name, axes in dead.items())
    text = f"imu: {told} never changes, while the robot moves"
    remedy = "look at the sensor, and whether the driver fills in a constant"
    finding = Finding("imu.stuck", FAULT, text, {"axes": dead}, remedy)
    lost = "without all axes of the IMU nothing of the legs can be compared with it"
    nothing = replace(case.signals, gyro=None, force=None, up=None)
    case = case.with_signals(nothing).without("imu")
    return case, [finding, Finding("mechanics", UNKNOWN, lost)]


def _mocap(case: Case) -> Verdict:
    """Poses of motion capture that go on when the body is lost."""
    stream = case.recording.get("mocap/pose")
    moves = _spread(case, "joint_states", "position").max() > _MOVES
    if stream is None or len(stream) < 2 or not moves:
        return case, []
    if any(_spread(case, "mocap/pose", name).any() for name in stream.values):
        return case, []
    text = "mocap/pose: the pose never changes, while the robot moves: the body is not tracked"
    remedy = "look at the motion capture system, which repeats a pose; or leave it out: --no-mocap"
    others = {n: s for n, s in case.recording.streams.items() if n != "mocap/pose"}
    case = replace(case, recording=replace(case.recording, streams=others))
    return case, [Finding("mocap.stuck", FAULT, text, {}, remedy)]


def _dead_axes(case: Case) -> Iterator[tuple[str, list[str]]]:
    for name in _IMU:
        still = _spread(case, "imu", name) == 0.0
        if still.any():
            yield name, [axis for axis, dead in zip("xyz", still) if dead]


def _spread(case: Case, stream: str, field: str) -> np.ndarray:
    """Largest less smallest reading of each column of a field."""
    values = case.recording.streams[stream].values[field]
    return np.ptp(values[np.isfinite(values).all(axis=1)], axis=0)


def _named(case: Case, joints: list[int]) -> str:
    names = [case.robot.joint_names[j] for j in joints]
    return f"joint {names[0]}" if len(names) == 1 else f"joints {', '.join(names)}"
