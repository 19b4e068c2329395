# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Noise of readings that multiply the offsets: what it adds to the gradient, which is no evidence.

Joint rates are noise where the base hardly moves, and the derivative of a leg's residual by its
length is a rate: products of the noise with itself do not average out, and shrink what is
estimated (errors in variables; the corrected score of Nakamura 1990).
"""

from __future__ import annotations

import numpy as np

from .covariances import leg_gains
from .leg_factors import offset_columns
from .leg_kinematics import Leg
from .offsets import Offsets
from .recording import KinematicRecording

H = 1e-30  # of the complex step


def noise_gradient(
    leg: Leg,
    foot: int,
    recording: KinematicRecording,
    offsets: Offsets,
    up: np.ndarray,
    information: np.ndarray,
) -> np.ndarray:
    """Mean (size,) of a leg's gradient by the offsets at their true values.

    Residual and derivative are off by `G e` and `dG/dp e` of the same readings' noise e, so
    `E[(dr/dp)^T W r] = tr(W G S (dG/dp)^T)`, by a complex step.

    Args:
        leg: of the robot. foot: its index. offsets, up: of `leg_gains`.
        recording: its signals, with the noise S that their samples show: that of the configuration
            may be larger, and would be taken out where it is not.
        information: (n, rows, rows) of what is left of the leg's residual when the states fit it.
    """
    out = np.zeros(offsets.size)
    gains = leg_gains(leg, foot, recording, offsets, up)
    used = {"encoder": leg.joints, "rate": leg.joints, "gyro": [0, 1, 2]}
    weighted = {
        k: information @ G * np.square(recording.noise[k][used[k]]) for k, G in gains.items()
    }
    for column in offset_columns(leg, foot, offsets):
        step = np.zeros(offsets.size, complex)
        step[column] = 1j * H
        moved = leg_gains(leg, foot, recording, offsets.moved(step), up)
        out[column] = sum(np.sum(weighted[k] * moved[k].imag) for k in gains) / H
    return out
