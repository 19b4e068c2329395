# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Fixed poses: motion capture that knows places only fills the orientation with a constant.

Or with the last one that it knew; or it knows orientations only, and no place. Near the constant
the estimate would stay with it, and far from it each move of the robot would look like a motion of
the world.
"""

from __future__ import annotations

import numpy as np

from .stuck_poses import MOVING
from .tracker import EstimationProblem, SlidingWindow

MOVED = 0.05  # m, rad of the robot, meanwhile: more than any rounding of a pose hides
LONGEST = 0.1  # s between two poses that count


class FixedPose:
    """Adds up how the robot has moved while place, or orientation, of its poses stayed the same.

    Args:
        problem: whose window takes the poses.
    """

    def __init__(self, problem: EstimationProblem):
        self._problem, self._stamp_ns = problem, 0
        self._last, self._moved = [b"", b""], [0.0, 0.0]  # of place and orientation

    def holds(self, sample, window: SlidingWindow) -> bool:
        """Whether a part of a pose is none, in a window that has just moved."""
        since = min(max(1e-9 * (sample.stamp_ns - self._stamp_ns), 0.0), LONGEST)
        self._stamp_ns = sample.stamp_ns
        linear, angular = np.abs(self._problem.layout.v(window.xs[-1])[:6]).reshape(2, 3).max(1)
        parts = (sample.position_world, linear), (sample.quat_world_body, angular)
        for i, (part, rate) in enumerate(parts):
            if part.tobytes() != self._last[i]:
                self._last[i], self._moved[i] = part.tobytes(), 0.0
            elif rate > MOVING:
                self._moved[i] += since * float(rate)
        return max(self._moved) > MOVED
