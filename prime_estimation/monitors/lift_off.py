# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Whether a robot stands on its feet.

One that hangs, is held, or has fallen is carried by something that the model does not know.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from ..contact.leg_forces import LegForces
from ..contact.schedule import unsupported
from ..mhe.problem import Problem
from ..mhe.window import Window
from ..types import Measurement

NODES = 20  # over which weight and foot forces are compared: a flight phase or an impact is shorter
# missing share of the weight above which something else carries the robot, and below which its feet
# do
LOST, FOUND = 0.5, 0.25
# the same, before the first estimate: leg torques alone are deceived by stretched legs and joint
# stops
HANGING = 0.75
# rms of the whitened force on the base that an estimate needs while something else carries the
# robot
UNEXPLAINED = 1.5


class Support:
    """Compares the weight that the IMU feels with the foot forces that the leg torques imply.

    Where there is an estimate, it must agree.

    The feet carry the robot again once they have done so for as long as a start batch takes: the
    estimate then starts anew from it.

    Attributes:
        elsewhere: something else than the feet carries the robot; `since_ns`: the first measurement
            that says so.
    """

    def __init__(self, problem: Problem):
        self.problem = problem
        known = (
            problem.floating and problem.dynamics.nc > 0 and problem.layout.accelerometer_bias >= 0
        )
        self._legs = LegForces(problem.robot) if known else None
        self._batch = problem.config.estimator.start_nodes
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self.elsewhere = False
        self.since_ns = 0
        self._missing: deque[float] = deque(maxlen=NODES)
        self._stamps: deque[int] = deque(maxlen=NODES)
        self._before: Measurement | None = None
        self._ground: np.ndarray | None = None  # heights that were left
        self._standing = 0  # nodes for which the feet have carried the robot

    def update(self, m: Measurement, window: Window | None) -> str:
        """Take the next measurement, and the window before it.

        Says so when the answer has changed, else nothing.
        """
        before, self._before = self._before, m
        if (
            self._legs is None
            or before is None
            or before.position is None
            or before.velocity is None
        ):
            return ""
        if m.torque is None or m.accelerometer is None:
            return ""
        base_M_imu, _ = self.problem.mount.motion(before.position, before.velocity)
        felt = base_M_imu.rotation @ m.accelerometer
        if not all(
            np.isfinite(x).all() for x in (felt, before.position, before.velocity, m.torque)
        ):
            return ""
        self._missing.append(self._legs.deficit(felt, before.position, before.velocity, m.torque))
        self._stamps.append(m.stamp_ns)
        if len(self._missing) < NODES:
            return ""
        missing = float(np.mean(self._missing))
        self._standing = self._standing + 1 if missing < FOUND else 0
        now = self._standing < self._batch if self.elsewhere else _is_lost(missing, window)
        changed, self.elsewhere = now != self.elsewhere, now
        if changed and now:
            self.since_ns = next(
                stamp for stamp, missing in zip(self._stamps, self._missing) if missing > FOUND
            )
        return (
            f"the feet {'do not carry the robot any more' if now else 'carry the robot again'}"
            if changed
            else ""
        )

    def on_ground(self, before: np.ndarray | None) -> np.ndarray | None:
        """The state from which an estimate starts anew.

        On its feet again, the robot stands on the ground that it had left.
        """
        if before is None:
            return None
        shift, columns = self.problem.nq - self.problem.nv, self.problem.columns("height")
        heights = slice(columns.start + shift, columns.stop + shift)
        if self.elsewhere and self._ground is None:
            self._ground = before[heights].copy()
        elif not self.elsewhere and self._ground is not None:
            before = before.copy()
            before[heights], self._ground = self._ground, None
        return before


def _is_lost(missing: float, window: Window | None) -> bool:
    if window is None:
        return missing > HANGING
    if missing <= LOST:
        return False
    if window.problem.stances is not None and any(
        unsupported(given) for given in window.inputs[:-1]
    ):
        return True  # contact flags and accelerometer say the same as the torques
    base = np.array([data.r[:3] for data in window.data])
    return float(np.sqrt(np.mean(base**2))) > UNEXPLAINED
