# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Degrees in place of radians, and g in place of m/s2."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...robot import GRAVITY
from ..case import Case, Verdict
from ..finding import FAULT, UNKNOWN, Finding
from ..signals import STEP, Signals, upwards

_DEGREE = np.pi / 180.0
_NEAR = 1.6  # factor that a scale may be off and still be meant
_MOVES = 0.05  # rad/s rms of a joint that tells something
_WHOLE_TURN = 10.0  # rad: no joint of a leg goes so far
_SPIN = 5.0  # rad/s, median of a gyro: no robot turns so fast all the time


def examine(case: Case) -> Verdict:
    """Units of joint positions and rates, gyro and accelerometer."""
    if case.signals is None:
        return case, []
    found: list[Finding] = []
    for check in (_positions, _rates, _gyro, _accelerometer):
        case, findings = check(case)
        found += findings
    return case, found


def rate_scale(signals: Signals) -> np.ndarray:
    """(nj,) slope of the rates over the derivatives of the positions; NaN where a joint rests."""
    change = np.gradient(signals.position, STEP, axis=0)[signals.usable]
    velocity = signals.velocity[signals.usable]
    power = (change**2).mean(axis=0)
    slope = (change * velocity).mean(axis=0) / np.maximum(power, 1e-12)
    return np.where(np.sqrt(power) > _MOVES, slope, np.nan)


def _positions(case: Case) -> Verdict:
    signals = case.signals
    turning = np.isin(np.arange(case.robot.nj), case.robot.turning)
    largest = np.abs(np.where(turning, 0.0, np.percentile(signals.position, 95, axis=0)))
    if largest.max() < _WHOLE_TURN:
        return case, []
    both = {"position": signals.position * _DEGREE}
    text = "joint positions are in degrees"
    slope = np.nanmedian(rate_scale(signals))
    if 1.0 / _NEAR < slope < _NEAR:
        both["velocity"] = signals.velocity * _DEGREE
        both["acceleration"] = signals.acceleration * _DEGREE
        text = "joint positions and rates are in degrees"
    finding = Finding(
        "units.position",
        FAULT,
        f"{text}: they reach {largest.max():.0f}, where radians are expected",
        {"largest": float(largest.max())},
        "unit: deg in the mapping, or radians in the messages",
    )
    case = case.with_units("joint_states", dict.fromkeys(both.keys() - {"acceleration"}, _DEGREE))
    return case.with_signals(replace(signals, **both)), [finding]


def _rates(case: Case) -> Verdict:
    signals = case.signals
    if "velocity" not in case.recording.streams["joint_states"].values:
        return case, []
    slopes = rate_scale(signals)
    if not np.isfinite(slopes).any():
        return case, []
    slope = float(np.nanmedian(np.abs(slopes)))
    for factor, text in (
        (_DEGREE, "joint rates are in degrees per second"),
        (1.0 / _DEGREE, "joint positions are in degrees, or the rates far too small"),
        (2.0 * np.pi, "joint rates are in turns per second"),
        (2.0 * np.pi / 60.0, "joint rates are in revolutions per minute"),
    ):
        if 1.0 / _NEAR < slope * factor < _NEAR:
            fixed = replace(
                signals,
                velocity=signals.velocity * factor,
                acceleration=signals.acceleration * factor,
            )
            told = f"{text}: they are {slope:.3g} times the derivatives of the positions"
            finding = Finding(
                "units.velocity",
                FAULT,
                told,
                {"slope": slope},
                "give the unit in the mapping, or rad/s in the messages",
            )
            case = case.with_units("joint_states", {"velocity": factor})
            return case.with_signals(fixed), [finding]
    return case, []


def _gyro(case: Case) -> Verdict:
    signals = case.signals
    if signals.gyro is None:
        return case, []
    rate = float(np.median(np.linalg.norm(signals.gyro[signals.usable], axis=1)))
    if rate < _SPIN:
        return case, []
    gyro = signals.gyro * _DEGREE
    fixed = replace(signals, gyro=gyro, up=upwards(gyro, signals.force))
    finding = Finding(
        "units.gyro",
        FAULT,
        f"the gyro is in degrees per second: its median is {rate:.1f}, which no robot turns at in "
        "rad/s",
        {"median": rate},
        "unit: deg/s in the mapping, or rad/s in the messages",
    )
    case = case.with_units("imu", {"angular_velocity": _DEGREE})
    return case.with_signals(fixed), [finding]


def _accelerometer(case: Case) -> Verdict:
    signals = case.signals
    if signals.force is None:
        return case, []
    felt = float(np.median(np.linalg.norm(signals.force[signals.usable], axis=1)))
    for factor, unit in ((GRAVITY, "g"), (1e-3 * GRAVITY, "mg")):
        if 0.7 * GRAVITY < felt * factor < 1.4 * GRAVITY:
            force = signals.force * factor
            fixed = replace(signals, force=force, up=upwards(signals.gyro, force))
            finding = Finding(
                "units.accelerometer",
                FAULT,
                f"the accelerometer is in {unit}: it feels {felt:.3g} where 9.81 m/s2 are expected",
                {"median": felt},
                f"unit: {unit} in the mapping, or m/s2 in the messages",
            )
            case = case.with_units("imu", {"linear_acceleration": factor})
            return case.with_signals(fixed), [finding]
    if felt < 0.2 * GRAVITY:
        finding = Finding(
            "units.accelerometer",
            FAULT,
            f"the accelerometer feels {felt:.2f} m/s2: gravity has been taken out of it",
            {"median": felt},
            "give the specific force: what the sensor reads, +9.81 upwards at rest",
        )
        text = "without a specific force nothing of the legs can be compared with the IMU"
        nothing = replace(signals, gyro=None, force=None, up=None)
        case = case.with_signals(nothing).without("imu")
        return case, [finding, Finding("mechanics", UNKNOWN, text)]
    return case, []
