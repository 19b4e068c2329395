# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Scale of refused poses: compares the distance that they cover with that of the estimate."""

from __future__ import annotations

import math

import numpy as np

STEP_NS = 250_000_000  # between compared positions: with shorter steps, noise of poses adds up
LEAST_STEPS, LEAST_WAY = 4, 0.1  # number of steps, and distance [m], before there is a result
# ratio of the distances: of a wrong mount or clock below 2, of poses in cm 100
UNLIKE = 5.0


class PoseScale:
    """Adds up both distances over consecutive refused poses."""

    def __init__(self):
        self.reset()

    def reset(self) -> None:
        """Forget all poses."""
        self._last: tuple[int, np.ndarray, np.ndarray] | None = None
        self._ways, self._steps = np.zeros(2), 0

    def begin_anew(self) -> None:
        """Keep the distances, but add none from here to the next pose.

        An estimate that begins anew may be elsewhere: what is between two of them is no way that
        the robot went.
        """
        self._last = None

    def take(self, stamp_ns: int, pose: np.ndarray, estimate: np.ndarray) -> None:
        """Add the position (3,) of a refused pose, and that of the estimate (3,) [m]."""
        if self._last is not None:
            last_ns, *before = self._last
            if abs(stamp_ns - last_ns) < STEP_NS:
                return
            self._ways += [math.dist(a, b) for a, b in zip(before, (pose, estimate))]
            self._steps += 1
        self._last = (stamp_ns, np.array(pose), np.array(estimate))

    def remark(self) -> str:
        """Remark that poses seem to be in another unit; empty if their scale is right."""
        poses, robot = self._ways.tolist()
        if self._steps < LEAST_STEPS or max(poses, robot) < LEAST_WAY:
            return ""
        ratio = poses / max(robot, 1e-3)
        if 1.0 / UNLIKE < ratio < UNLIKE:
            return ""
        went = f"they went {poses:.3g} m while the robot went {robot:.3g} m"
        return f"{went}: are they in m?"
