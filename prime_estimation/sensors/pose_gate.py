# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Outliers of motion capture: poses that lie where the robot cannot be."""

from __future__ import annotations

import math
from bisect import bisect_left

import numpy as np

from .. import _core

NAME = "mocap"  # of the sensor, of its parameters
DISTANCE, TURN = 0.05, 0.2  # m, rad: least distance from the estimate that is an outlier,
STDDEV = 10.0  # and in standard deviations of a pose
DRIFT = 0.1  # m/s and rad/s by which the estimate may have drifted since the last pose that fitted
AGREEING = 10  # poses in a row that agree with each other, before they are followed
SETTLED_NS = 500_000_000  # for which they fit again, before the next ones can be outliers


class PoseGate:
    """Compares each pose with the window that has just moved.

    A pose is refused where its position or rotation is further from the estimate at its time than
    noise and drift explain. Poses that go on to agree with each other are believed in the end:
    then it is the estimate that was wrong, or the origin of the motion capture has been moved.

    Attributes:
        refused: poses so far. jumps: how often it was the estimate that went to the poses.
    """

    def __init__(self, problem):
        self.problem = problem
        self.refused = self.jumps = 0
        self._far = 0.0
        self.reset()

    def reset(self) -> None:
        """Forget what was seen: the window begins anew."""
        self._agreeing, self._following = 0, False
        self._error: np.ndarray | None = None
        self._fitted_ns: int | None = None
        self._apart_ns: int | None = None

    def passes(self, sample, window) -> bool:
        """Whether a pose may be used; `window`: with a head that is not older than the pose."""
        error = self._errors(sample, window)
        if self._fits(sample, error):
            self._agreeing, self._fitted_ns = 0, sample.stamp_ns
            settled = not self._following or sample.stamp_ns - self._apart_ns > SETTLED_NS
            self._following = not settled
            return True
        self._apart_ns = sample.stamp_ns
        last, self._error = self._error, error
        again = last is not None and np.linalg.norm(error[:3] - last[:3]) < DISTANCE
        self._agreeing = self._agreeing + 1 if again and self._agreeing else 1
        if self._agreeing > AGREEING and not self._following:
            self._following, self.jumps = True, self.jumps + 1
        if self._following:
            return True
        self.refused += 1
        self._far = float(np.linalg.norm(error[:3]))
        return False

    def remark(self) -> str:
        """What was refused so far; empty when nothing."""
        if not self.refused:
            return ""
        told = f"outliers refused: {self.refused}, the last {self._far:.2f} m apart"
        jumps = f"; jumps followed: {self.jumps}" if self.jumps else ""
        return told + jumps

    def _errors(self, sample, window) -> np.ndarray:
        """Position and rotation (6,) of the estimate less those of a pose [m, rad]."""
        k = min(bisect_left(window.stamps, sample.stamp_ns), window.size)
        x, layout = window.xs[k], self.problem.layout
        age = 1e-9 * (window.stamps[k] - sample.stamp_ns)
        phi = self.problem.parameter(x, NAME)
        pose = sample.position_world, sample.quat_world_body
        return _core.pose_error(layout.q(x)[:7], layout.v(x)[:6], phi, age, *pose)

    def _fits(self, sample, error: np.ndarray) -> bool:
        noise = self.problem.config.noise
        silence = 0.0 if self._fitted_ns is None else 1e-9 * (sample.stamp_ns - self._fitted_ns)
        drift = DRIFT * max(silence, 0.0)
        place = max(DISTANCE, STDDEV * noise.mocap_position) + drift
        # how the tracked body is mounted is not known at first
        turn = max(TURN, STDDEV * noise.mocap_rotation, STDDEV * noise.mocap_offset) + drift
        *away, x, y, z = error.tolist()
        return math.hypot(*away) < place and math.hypot(x, y, z) < turn
