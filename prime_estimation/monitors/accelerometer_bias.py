# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Bias of the accelerometer that no accelerometer has: the tilt may be wrong by as much."""

from __future__ import annotations

import math

import numpy as np

from ..config.policies import ACCELEROMETER_BIAS
from ..mhe.problem import Problem
from ..mhe.situation import Situation
from ..mhe.window import Window
from ..robot import GRAVITY
from ..sensors.imu import vertical
from ..types import Measurement, SensorHealth
from .monitor import Monitor


class AccelerometerBias(Monitor):
    """Doubts the tilt where the accelerometer's bias is beyond what its prior allows.

    A base that is tilted by d more than is thought feels what one does whose accelerometer has a
    bias `b = g d` along the ground. Legs that give way, drives that do not give what they say and
    floors that are none bend the tilt, all of one robot in the same way for as long as it walks.
    What a bias b has beyond `ACCELEROMETER_BIAS.most` of its prior's deviations, so that it is none
    of the sensor's, may be the tilt about the axis across it:

        cov d += (|b|^2 - b_most^2) / g^2 a a^T,   a = up x b / |b|,   b across up

    Motion capture and the IMU's own orientation tell the tilt: then it is the sensor's after all.

    Attributes:
        tilt: (3,) deviation `sqrt(|b|^2 - b_most^2) / g a` of the rotation, base axes [rad].
    """

    def __init__(self, problem: Problem):
        self.problem = problem
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self.tilt = np.zeros(3)
        self._oriented = False

    def assess(self, m: Measurement, window: Window | None, situation: Situation) -> Situation:
        """Whether the IMU says how it is oriented."""
        self._oriented = m.quat_world_imu is not None
        return situation

    def judge(self, window: Window, situation: Situation) -> str:
        """Look at the bias of a window that has been solved."""
        problem, x = self.problem, window.xs[-1]
        self.tilt = np.zeros(3)
        able = problem.floating and problem.has_imu
        if not able or self._oriented or window.place.measured:
            return ""
        bias = problem.parameter(x, "accelerometer_bias")
        most = ACCELEROMETER_BIAS.most * problem.config.noise.accelerometer_bias
        if bias @ bias <= most * most:
            return ""
        base_M_imu, _ = problem.imu_motion(x)
        across = np.cross(vertical(problem.layout.part(x, "rotation")), base_M_imu.rotation @ bias)
        square = float(across @ across)
        if square > most * most:
            self.tilt = across * (np.sqrt(1.0 - most * most / square) / GRAVITY)
        return ""

    def health(self, situation: Situation) -> tuple[SensorHealth, ...]:
        """Says by how much the tilt may be wrong."""
        tilt = math.hypot(*self.tilt.tolist())
        if not tilt:
            return ()
        what = (
            f"the tilt may be wrong by {np.degrees(tilt):.1f} degrees: at this one, the "
            "accelerometer has a bias beyond noise.accelerometer_bias; an IMU that gives its "
            "orientation would tell"
        )
        return (SensorHealth("accelerometer", True, what),)
