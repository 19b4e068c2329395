# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Scale of poses that are refused: how far they go, against how far the estimate goes."""

from __future__ import annotations

import math

import numpy as np

STEP_NS = 250_000_000  # from one place that is compared to the next: noise of poses adds up
LEAST_STEPS, LEAST_WAY = 4, 0.1  # of them, and m of the estimate, before anything is told
# of what poses go, per what the robot goes: a wrong mount or clock is below 2, cm are 100
UNLIKE = 5.0


class PoseScale:
    """Sums both ways over poses that are refused, one after the other."""

    def __init__(self):
        self.reset()

    def reset(self) -> None:
        """Forget all poses."""
        self._last: tuple[int, np.ndarray, np.ndarray] | None = None
        self._ways, self._steps = np.zeros(2), 0

    def take(self, stamp_ns: int, pose: np.ndarray, estimate: np.ndarray) -> None:
        """Look at the place (3,) [m] of a pose that is refused, and at that of the estimate."""
        if self._last is not None:
            last_ns, *before = self._last
            if abs(stamp_ns - last_ns) < STEP_NS:
                return
            self._ways += [math.dist(a, b) for a, b in zip(before, (pose, estimate))]
            self._steps += 1
        self._last = (stamp_ns, np.array(pose), np.array(estimate))

    def remark(self) -> str:
        """That poses are in another unit; empty where their scale is that of the robot."""
        poses, robot = self._ways.tolist()
        if self._steps < LEAST_STEPS or max(poses, robot) < LEAST_WAY:
            return ""
        ratio = poses / max(robot, 1e-3)
        if 1.0 / UNLIKE < ratio < UNLIKE:
            return ""
        went = f"they went {poses:.3g} m while the robot went {robot:.3g} m"
        return f"{went}: are they in m?"
