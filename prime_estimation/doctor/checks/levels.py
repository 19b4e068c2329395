# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Noise of the sensors, from what in their readings no motion explains."""

from __future__ import annotations

from math import comb

import numpy as np

from ..case import Case, Verdict
from ..finding import FACT, HINT, Finding
from ..recording import Stream

_ORDER = 3  # of the differences: motion that is quadratic over four samples is taken out
_BLOCK = 0.12  # s, over which a level is taken; the calm blocks count
_CALM = 10.0  # percentile
_OTHER = 4.0  # factor from the configured level that is worth a word
_SENSORS = (
    ("joint_states", "position", "encoder", "rad"),
    ("joint_states", "velocity", "joint_velocity", "rad/s"),
    ("joint_states", "effort", "joint_torque", "Nm"),
    ("imu", "angular_velocity", "gyro", "rad/s"),
    ("imu", "linear_acceleration", "accelerometer", "m/s2"),
    ("mocap/pose", "position_world", "mocap_position", "m"),
)


def examine(case: Case) -> Verdict:
    """White noise of every sensor, against the robot's settings."""
    found, proposal, told = [], {}, []
    for stream, field, key, unit in _SENSORS:
        readings = case.recording.get(stream)
        if readings is None or field not in readings.values:
            continue
        level = noise_level(readings, field)
        if not np.isfinite(level):
            continue
        configured = getattr(case.config.noise, key)
        found.append(
            Finding(
                f"level.{key}",
                FACT,
                f"{stream} {field}: white noise of {level:.2g} {unit} (settings {configured:g})",
                {"level": level, "configured": configured},
            )
        )
        if level > _OTHER * configured and case.sound(stream):
            proposal[key] = float(f"{level:.2g}")
            told.append(f"{key} {level:.2g} {unit} (settings {configured:g})")
    if proposal:
        text = f"sensors are noisier than the settings say: {', '.join(told)}"
        found.append(Finding("level", HINT, text, proposal, {"noise": proposal}))
    return case, found


def noise_level(stream: Stream, field: str) -> float:
    """Standard deviation of white noise in a field, its noisiest column; NaN when too short.

    Third differences of white noise have 20 times its variance, and of slow motion nearly none. In
    the calm blocks of the recording motion adds least; held readings are left out.
    """
    values = stream.values[field]
    known = np.isfinite(values).all(axis=1)
    values, stamps = values[known], stream.stamps[known]
    fresh = np.concatenate([[True], (np.diff(values, axis=0) != 0.0).any(axis=1)])
    values, stamps = values[fresh], stamps[fresh]
    if len(values) < 4 * (_ORDER + 1):
        return float("nan")
    usual = float(np.median(np.diff(stamps)))
    size = max(2 * (_ORDER + 1), round(_BLOCK / max(usual, 1e-6)))
    gain = sum(comb(_ORDER, i) ** 2 for i in range(_ORDER + 1))
    blocks = []
    for begin in range(0, len(values) - size + 1, size):
        part = slice(begin, begin + size)
        if np.diff(stamps[part]).max() > 3.0 * usual:
            continue
        differences = np.diff(values[part], n=_ORDER, axis=0)
        blocks.append(np.sqrt((differences**2).mean(axis=0) / gain))
    if not blocks:
        return float("nan")
    return float(np.percentile(np.array(blocks), _CALM, axis=0).max())
