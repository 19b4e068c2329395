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
from .rotations import transpose

H = 1e-30  # of the complex step


class ReadingNoise:
    """Mean gradient of a leg by the offsets at their true values, of its readings' noise alone.

    Residual and derivative are off by `G e` and `dG/dp e` of the same readings' noise e, so
    `E[(dr/dp)^T V r] = tr(V G S (dG/dp)^T)`, by a complex step; what V multiplies is constant.

    Args:
        leg: of the robot. foot: its index. offsets, up: of `leg_gains`.
        recording: its signals, with the noise S that their samples show: that of the configuration
            may be larger, and would be taken out where it is not.
    """

    def __init__(
        self, leg: Leg, foot: int, recording: KinematicRecording, offsets: Offsets, up: np.ndarray
    ):
        gains = leg_gains(leg, foot, recording, offsets, up)
        used = {"encoder": leg.joints, "rate": leg.joints, "gyro": [0, 1, 2]}
        spread = {k: G * np.square(recording.noise[k][used[k]]) for k, G in gains.items()}
        self._size, self._columns = offsets.size, offset_columns(leg, foot, offsets)
        self._products = []  # (n, rows, rows) `G S (dG/dp)^T` by column
        for column in self._columns:
            step = np.zeros(offsets.size, complex)
            step[column] = 1j * H
            moved = leg_gains(leg, foot, recording, offsets.moved(step), up)
            self._products.append(sum(spread[k] @ transpose(moved[k].imag) / H for k in gains))

    def gradient(self, information: np.ndarray) -> np.ndarray:
        """(size,) with the information V (n, rows, rows) left of a residual that states fit."""
        out = np.zeros(self._size)
        out[self._columns] = [np.sum(information * transpose(p)) for p in self._products]
        return out
