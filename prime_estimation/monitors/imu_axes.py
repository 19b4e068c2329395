# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""IMU axes: checks with standing feet that the IMU's axes are those of the model."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin

from ..config.policies import IMU_AXES
from ..contact.foot_pairs import FootPairs
from ..mhe.problem import Problem
from ..mhe.situation import Situation
from ..mhe.window import Window
from ..robot import signed_axes
from ..types import Measurement, SensorHealth
from ..types.arrays import finite
from .monitor import Monitor
from .stance_motion import MOTION


def axis_rotations() -> np.ndarray:
    """The 24 rotations (24, 3, 3) that take axes to axes, the identity first."""
    proper = [C for C in signed_axes() if np.linalg.det(C) > 0.0]
    return np.array(sorted(proper, key=lambda C: -float(np.trace(C))))


class ImuAxes(Monitor):
    """Compares the rotation of the base by the gyro with its rotation about the standing feet.

    Two standing feet i, j do not move relative to each other. With their soles r and rates r' in
    the base, from the legs alone, and the angular velocity w of the base, from readings rotated by
    C,

        e(C) = r_i' - r_j' + w(C) x (r_i - r_j),   loss sum e^2 / (e^2 + s^2)

    is small only for the right one of the 24 rotations that map axes to axes. (Gravity does not
    reveal a rotation about the vertical.) A wrong rotation is reported until `robot.imu_rotation`
    or the driver is corrected; until then the estimate is not to be trusted.

    Attributes:
        decided: index of the rotation found, 0: that of the model; None: not yet, or never (a
            humanoid stands on one foot). pending: it may be decided soon.
    """

    def __init__(self, problem: Problem):
        self.problem, self._axes = problem, axis_rotations()
        able = problem.legs is not None and problem.has_imu
        self._pairs = FootPairs(problem.robot, problem.legs) if able else None
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self.decided: int | None = None
        self._losses, self._told = np.zeros(len(self._axes)), 0
        self._looks = IMU_AXES.nodes if self._pairs is not None and self._pairs.number else 0

    @property
    def pending(self) -> bool:
        """It may be told soon."""
        looked = IMU_AXES.nodes - self._looks
        return self.decided is None and looked < IMU_AXES.soon

    @property
    def wrong(self) -> bool:
        """The axes are others than the model's."""
        return bool(self.decided)

    def assess(self, m: Measurement, window: Window | None, situation: Situation) -> Situation:
        """Look at the next measurement, until it is decided."""
        if self.decided is None and self._looks and finite(m.position, m.velocity, m.gyro):
            if math.hypot(*m.gyro.tolist()) > IMU_AXES.turns:
                self._looks -= 1
                self._compare(m)
                self._decide()
        return situation

    def _compare(self, m: Measurement) -> None:
        """Add the losses of all pairs that stand by some rotation, and move by another."""
        feet = self._pairs.soles(m.position, m.velocity, m.torque, self.problem.dt)
        moved, apart = self._pairs.apart(*feet)
        if not len(moved):
            return
        base_M_imu, swings = self.problem.mount.motion(m.position, m.velocity)
        turns = (self._axes @ m.gyro - swings.angular) @ base_M_imu.rotation.T
        errors = moved + np.cross(turns[:, None], apart)
        squares = np.sum(errors * errors, axis=2)
        least, most = squares.min(axis=0, initial=math.inf), squares.max(axis=0, initial=0.0)
        squares = squares[:, (least < IMU_AXES.swings**2) & (most - least > IMU_AXES.slip**2)]
        self._losses += np.sum(squares / (squares + IMU_AXES.slip**2), axis=1)
        self._told += squares.shape[1]

    def _decide(self) -> None:
        if self._told < IMU_AXES.pairs:
            return
        best, second = np.argsort(self._losses)[:2].tolist()
        if self._losses[second] - self._losses[best] > IMU_AXES.margin * self._told:
            self.decided = best

    def health(self, situation: Situation) -> tuple[SensorHealth, ...]:
        """Says that the axes are others, and which."""
        if not self.wrong:
            return ()
        turned = self.problem.robot.config.imu_rotation
        mount = pin.rpy.rpyToMatrix(*turned) @ self._axes[self.decided]
        rpy = ", ".join(f"{angle:.2f}" for angle in pin.rpy.matrixToRpy(mount).tolist())
        what = f"the IMU's axes are not the model's: robot.imu_rotation is about [{rpy}]"
        return (SensorHealth(MOTION, False, f"{what}, or mend its driver"),)
