# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""IMU axes: whether those of the readings are those of the model, by feet that stand."""

from __future__ import annotations

import math
from itertools import combinations, permutations, product

import numpy as np
import pinocchio as pin

from ..config.policies import IMU_AXES
from ..mhe.problem import Problem
from ..mhe.situation import Situation
from ..mhe.window import Window
from ..robot import GRAVITY
from ..types import Measurement, SensorHealth
from .monitor import Monitor, finite
from .stance_motion import MOTION


def axis_rotations() -> np.ndarray:
    """The 24 rotations (24, 3, 3) that take axes to axes, the identity first."""
    signed = [
        np.diag(signs) @ np.eye(3)[list(order)]
        for order in permutations(range(3))
        for signs in product((1.0, -1.0), repeat=3)
    ]
    proper = [C for C in signed if np.linalg.det(C) > 0.0]
    return np.array(sorted(proper, key=lambda C: -float(np.trace(C))))


class ImuAxes(Monitor):
    """Compares how the base turns by the gyro with how it turns over its feet.

    Two feet i, j that stand do not move against each other. With soles r and their rates r' in the
    base by the legs alone, and the angular velocity w of the base by readings turned by C,

        e(C) = r_i' - r_j' + w(C) x (r_i - r_j),   loss sum e^2 / (e^2 + s^2)

    is small for the right one of the 24 rotations that take axes to axes, and only for that. A
    quarter turn about the vertical is not seen by gravity. It is said until `robot.imu_rotation` or
    the driver is right; nothing else can be believed until then.

    Attributes:
        decided: which rotation it is; None: not told yet, or at all: a humanoid stands on one foot.
            pending: it may be soon.
    """

    def __init__(self, problem: Problem):
        self.problem, self._legs = problem, problem.legs if problem.has_imu else None
        self._axes = axis_rotations()
        robot = problem.robot
        self._pairs = np.array(list(combinations(range(len(robot.feet)), 2))).reshape(-1, 2).T
        self._load = IMU_AXES.load * robot.total_mass * GRAVITY
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self.decided: int | None = None
        self._losses, self._told = np.zeros(len(self._axes)), 0
        self._looks = IMU_AXES.nodes if self._legs is not None and self._pairs.size else 0

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
        problem = self.problem
        model, nj = problem.robot.model, problem.nj
        q, v = pin.neutral(model), np.zeros(model.nv)
        # rates are means over the step: so are the places
        middle = m.position - 0.5 * problem.dt * m.velocity
        q[model.nq - nj :], v[model.nv - nj :] = problem.robot.coordinates(middle), m.velocity
        soles, rates, normal, _ = self._legs.evaluate(q, v, np.zeros(model.nv), m.torque)
        stands = ~(normal < self._load)  # of legs without torque only their motion tells
        i, j = self._pairs[:, stands[self._pairs].all(axis=0)]
        if not i.size:
            return
        base_M_imu, moved = problem.mount.motion(m.position, m.velocity)
        turns = (self._axes @ m.gyro - moved.angular) @ base_M_imu.rotation.T
        errors = (rates[i] - rates[j]) + np.cross(turns[:, None], soles[i] - soles[j])
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
