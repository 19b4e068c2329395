# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Gyro at rest: a robot that does not move does not turn, so its gyro reads its bias."""

from __future__ import annotations

import numpy as np

from ..config.policies import GYRO_REST
from ..mhe.knowledge import renew, variance
from ..mhe.problem import Problem
from ..mhe.situation import Situation
from ..mhe.window import Window
from ..types import Measurement
from .monitor import Monitor


class GyroRest(Monitor):
    """Uses the gyro's mean at rest as its bias, if it is more accurate than the estimate.

    Gravity determines the bias about horizontal axes; about the vertical, only standing feet or
    poses do, and feet that slide while a robot gets up give a wrong bias. The robot is at rest if
    all joints keep their positions and the gyro is quiet, with the same mean in both halves of the
    time. This mean is the bias with the standard deviation `hypot(sigma / sqrt(n), floor)`, which
    then grows as a random walk. A gyro that repeats one value is dead, not at rest, and so is one
    with a dead axis, in whose place the estimate itself stands; a suspended robot is excluded,
    because it may turn on its rope.

    Attributes:
        bias: (3,) of the last rest, IMU axes [rad/s]; None before.
    """

    def __init__(self, problem: Problem):
        self.problem = problem
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        n = GYRO_REST.nodes
        self.bias: np.ndarray | None = None
        self._variance, self._age = np.zeros(3), 0
        self._gyro = np.zeros((n, 3))
        self._joints = np.zeros((n, self.problem.nj))
        self._nodes = 0  # in a row that have both readings

    def assess(self, m: Measurement, window: Window | None, situation: Situation) -> Situation:
        """Remember the readings of the next node."""
        self._age += 1
        hangs = situation.suspended and not situation.resting
        unread = not self.problem.has_imu or m.gyro is None or m.position is None
        if hangs or unread or _is_dead(m):
            self._nodes = 0
            return situation
        at = self._nodes % GYRO_REST.nodes
        self._gyro[at], self._joints[at] = m.gyro, m.position
        self._nodes += 1
        if self._nodes >= GYRO_REST.nodes and self._nodes % GYRO_REST.every == 0:
            self._look()
        return situation

    def _look(self) -> None:
        if np.ptp(self._joints, axis=0).max() > GYRO_REST.joints:
            return
        first = self._nodes % GYRO_REST.nodes
        gyro = np.roll(self._gyro, -first, axis=0)
        mean, deviation, half = gyro.mean(axis=0), gyro.std(axis=0), len(gyro) // 2
        drift = gyro[half:].mean(axis=0) - gyro[:half].mean(axis=0)
        alive = np.ptp(gyro, axis=0).min() > 0.0
        quiet = deviation.max() < GYRO_REST.deviation and np.abs(drift).max() < GYRO_REST.drift
        most = GYRO_REST.most * self.problem.config.noise.gyro_bias
        if alive and quiet and np.abs(mean).max() < most:
            self._variance = deviation**2 / len(gyro) + GYRO_REST.floor**2
            self.bias, self._age = mean, 0

    def told(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Bias (3,) that the last rest told and its deviation now [rad/s]; None: there was none."""
        if self.bias is None:
            return None
        walk = self.problem.config.noise.gyro_bias_walk**2 * self.problem.dt  # by node
        return self.bias, np.sqrt(self._variance + self._age * walk)

    def begin(self, window: Window, batch: list[Measurement], situation: Situation) -> None:
        """What a rest told outlasts the window in which it was."""
        self._tell(window)

    def judge(self, window: Window, situation: Situation) -> str:
        """Renew the bias of a robot just seen at rest."""
        if not self._age:
            self._tell(window)
        return ""

    def _tell(self, window: Window) -> None:
        """Renew the bias about axes of which the last rest says more."""
        # what tells the heading tells the bias, too, and knows a robot that is turned evenly
        if window.place.measured or (told := self.told()) is None:
            return
        mean, stddev = told
        known = np.sqrt(variance(window, self.problem.columns("gyro_bias")))
        believed = self.problem.parameter(window.xs[-1], "gyro_bias")
        wrong = np.abs(believed - mean) > GYRO_REST.contradicted * np.hypot(known, stddev)
        axes = np.flatnonzero((known > GYRO_REST.worth * stddev) | wrong)
        if axes.size:
            renew(window, "gyro_bias", axes.tolist(), mean[axes], stddev[axes])
            window.place.drift = 0.0


def _is_dead(m: Measurement) -> bool:
    """Some axis of the gyro is not read, but predicted."""
    return m.imu_dead is not None and bool(m.imu_dead[:3].any())
