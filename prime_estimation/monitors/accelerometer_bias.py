# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Implausible accelerometer bias: a sign that the tilt may be wrong."""

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
    """Increases the uncertainty of the tilt when the accelerometer's bias exceeds its prior.

    A tilt error d of the base and an accelerometer bias `b = g d` along the ground cause the same
    readings. Legs that yield, motors whose torque is not as reported, and ground that is taken for
    a floor bias the tilt, in the same way for as long as the robot walks. The part of a bias b
    beyond `ACCELEROMETER_BIAS.most` standard deviations of its prior is not attributed to the
    sensor, but to the tilt about the axis across it:

        cov d += (|b|^2 - b_most^2) / g^2 a a^T,   a = up x b / |b|,   b across up

    This is not done while motion capture or the IMU's own orientation measures the tilt.

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
        """Says by how much the tilt may be wrong, where that is much."""
        tilt = math.hypot(*self.tilt.tolist())
        if tilt < ACCELEROMETER_BIAS.said:
            return ()
        what = (
            f"the tilt may be wrong by {np.degrees(tilt):.1f} degrees: at this one, the "
            "accelerometer has a bias beyond noise.accelerometer_bias; an IMU that gives its "
            "orientation would tell"
        )
        return (SensorHealth("accelerometer", True, what),)
