# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Held samples: old values with a new stamp, as sent by bridges that have no newer ones."""

from __future__ import annotations

import numpy as np

RATE = 0.2  # rad/s of a joint whose position cannot stay where it is
FELT = np.array([0.005] * 3 + [0.02] * 3)  # rad/s, m/s2: between samples of an IMU that moves
DEAD = 25  # samples that differ in what is felt, after which a gyro that says the same is dead,
AXIS_DEAD, NEVER_LIVED = 15, 500  # or one axis, or one that has not said anything else before
FROZEN = 50  # readings of a gyro that lives, in which an orientation that is none stays the same


class HeldOrientation:
    """Detects an IMU orientation that stays exactly the same while the gyro changes.

    Drivers without an orientation filter fill the field with the identity.
    """

    def __init__(self):
        self._last, self._rate, self._readings = b"", np.zeros(3), 0

    def holds(self, quat: np.ndarray, rate: np.ndarray) -> bool:
        """Whether a quaternion (4,) is none, beside an angular rate (3,) [rad/s]."""
        own = quat.tobytes()
        if own != self._last:
            self._readings = 0
        elif (np.abs(rate - self._rate) > FELT[:3]).any():
            self._readings += 1
        self._last, self._rate = own, rate.copy()
        return self._readings >= FROZEN


class HeldCheck:
    """Detects samples that exactly repeat the previous ones although the robot moves.

    At rest, repeated values are possible if the sensors have no noise.
    """

    def __init__(self):
        self.reset()

    def reset(self) -> None:
        """Forget all samples."""
        self._last: np.ndarray | None = None
        self._last_bytes = b""  # NaN is the same as NaN here
        self._changed: np.ndarray | None = None  # by how much the last one differed
        self._turned, self._dead = False, 0  # a gyro has lived; and samples in which it has not
        self._lived, self._alone = np.zeros(6, bool), np.zeros(6, int)  # the same by axis

    def joints(self, row: np.ndarray, nj: int) -> bool:
        """Whether joints are held: row (3 nj,) of positions, rates, torques, NaN where absent."""
        rates = np.abs(row[nj : 2 * nj])
        same = self._same(row)
        if np.isnan(rates).any():
            return False  # nothing tells that it ought to have moved
        return same and bool(rates.max() > RATE)

    def imu(self, row: np.ndarray) -> bool:
        """Whether an IMU is held: row (n,) of angular rate, specific force, and what follows.

        Or its gyro alone, which has told a motion before, while the accelerometer lives.
        """
        same = self._same(row)
        if self._changed is None:
            return False
        lives = self._changed[:6] > FELT
        if same:
            return bool(lives.any())
        self._judge_axes(lives)
        self._turned |= bool(lives[:3].any())
        self._dead = 0 if self._changed[:3].any() else self._dead + bool(lives[3:].any())
        return self._turned and self._dead > DEAD

    @property
    def dead(self) -> np.ndarray:
        """Axes (6,) of gyro and accelerometer that say the same while others of theirs live."""
        return self._alone > np.where(self._lived, AXIS_DEAD, NEVER_LIVED)

    def _judge_axes(self, lives: np.ndarray) -> None:
        """Count samples in which an axis says the same while another one of its sensor lives."""
        self._lived |= lives
        still = self._changed[:6] == 0.0
        self._alone[~still] = 0
        if still.any():
            self._alone += still & np.repeat([lives[:3].any(), lives[3:].any()], 3)

    def _same(self, row: np.ndarray) -> bool:
        """Whether a row is the one before it; remembers it where it is not."""
        if row.tobytes() == self._last_bytes:
            return True
        self._changed = None if self._last is None else np.abs(row - self._last)
        self._last, self._last_bytes = row.copy(), row.tobytes()
        return False
