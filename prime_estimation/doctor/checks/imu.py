# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Biases and small misalignment of the IMU."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.ndimage import uniform_filter1d
from scipy.spatial.transform import Rotation

from ...robot import GRAVITY
from ..case import Case, Verdict
from ..finding import FACT, HINT, Finding
from ..signals import STEP

_REST = 0.5  # s of calm in which a robot is at rest
_STILL = 0.05  # rad/s rms of the gyro, then
_CALM = 0.3  # m/s2 rms of the specific force, then
_BIAS = 0.3  # m/s2 by which gravity may be missed
_OFF = np.radians(4.0)  # of the IMU's axes against the forces of the feet


def examine(case: Case) -> Verdict:
    """Gravity, gyro at rest, and its axes against the forces of the feet."""
    signals = case.signals
    if signals is None or signals.gyro is None:
        return case, []
    return case, [*_gravity(case), *_rest(case), *_axes(case)]


def _gravity(case: Case) -> Iterator[Finding]:
    """Over some steps a walking robot feels gravity on the average."""
    signals = case.signals
    felt = (signals.force * signals.up)[signals.usable].sum(axis=1).mean()
    off = float(felt - GRAVITY)
    facts = {"mean": float(felt)}
    text = f"the accelerometer feels {felt:.2f} m/s2 upwards on the average"
    yield Finding("imu.gravity", FACT, text, facts)
    if abs(off) > _BIAS:
        text = f"the accelerometer misses gravity by {off:+.2f} m/s2: a bias, or its scale"
        proposal = {"noise": {"accelerometer_bias": round(abs(off), 2)}}
        yield Finding("imu.bias", HINT, text, facts, proposal)


def _rest(case: Case) -> Iterator[Finding]:
    """Mean of the gyro where it rests."""
    signals, size = case.signals, round(_REST / STEP)

    def spread(values: np.ndarray) -> np.ndarray:
        mean = uniform_filter1d(values, size, axis=0)
        return np.sqrt(np.maximum(uniform_filter1d(values**2, size, axis=0) - mean**2, 0.0))

    calm = (spread(signals.gyro).max(axis=1) < _STILL) & (spread(signals.force).max(axis=1) < _CALM)
    calm &= np.abs(uniform_filter1d(signals.gyro, size, axis=0)).max(axis=1) < _STILL
    calm &= signals.usable
    if calm.sum() < size:
        return
    bias = signals.gyro[calm].mean(axis=0)
    seconds = calm.sum() * STEP
    told = ", ".join(f"{b:+.4f}" for b in bias)
    facts = {"bias": bias.tolist(), "seconds": seconds}
    yield Finding("imu.rest", FACT, f"gyro at rest ({seconds:.1f} s): {told} rad/s", facts)
    configured = case.config.noise.gyro_bias
    if np.abs(bias).max() > 4.0 * configured:
        proposal = {"noise": {"gyro_bias": round(float(np.abs(bias).max()), 4)}}
        text = f"gyro bias of {np.abs(bias).max():.4f} rad/s, settings expect {configured:g}"
        yield Finding("imu.gyro_bias", HINT, text, facts, proposal)


def _axes(case: Case) -> Iterator[Finding]:
    """Rotation that lays the specific force along the forces of the feet."""
    if not case.legged or case.signals.torque is None or not case.carried:
        return
    asked = case.motion.needed[:, :3]
    given = asked - case.motion.residual[:, :3]
    share = (given * asked).sum(axis=1) / (asked**2).sum(axis=1)
    good = (share > 0.7) & (share < 1.5)
    if good.sum() < 100:
        return
    turn, _ = Rotation.align_vectors(given[good], asked[good])
    # about the vertical forces tell little: roll and pitch
    tilt = turn.as_rotvec()[:2]
    angle = float(np.linalg.norm(tilt))
    facts = {"roll_pitch_rad": tilt.tolist()}
    text = f"forces of the feet and specific force differ by {np.degrees(angle):.1f} degrees"
    if angle > _OFF:
        yield Finding(
            "imu.tilt",
            HINT,
            f"{text}: the IMU is mounted off its frame, or torques and zeros are",
            facts,
        )
    else:
        yield Finding("imu.tilt", FACT, text, facts)
