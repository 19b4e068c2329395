# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Fixed orientation: motion capture that knows places only fills the orientation with a constant.

Or with the last one that it knew. Near it the estimate would turn with it, and far from it each
turn of the robot would look like a motion of the world.
"""

from __future__ import annotations

import numpy as np

from .stuck_poses import MOVING
from .tracker import EstimationProblem, SlidingWindow

TURNED = 0.05  # rad of the robot, meanwhile: more than any rounding of a quaternion hides
LONGEST = 0.1  # s between two poses that count


class FixedOrientation:
    """Adds up how the robot has turned while the orientation of its poses has stayed the same.

    Args:
        problem: whose window takes the poses.
    """

    def __init__(self, problem: EstimationProblem):
        self._problem = problem
        self._last, self._stamp_ns, self._turned = b"", 0, 0.0

    def holds(self, sample, window: SlidingWindow) -> bool:
        """Whether the orientation of a pose is none, in a window that has just moved."""
        orientation, since = sample.quat_world_body.tobytes(), sample.stamp_ns - self._stamp_ns
        turns = float(np.abs(self._problem.layout.v(window.xs[-1])[3:6]).max())
        if orientation != self._last:
            self._turned = 0.0
        elif turns > MOVING:
            self._turned += min(max(1e-9 * since, 0.0), LONGEST) * turns
        self._last, self._stamp_ns = orientation, sample.stamp_ns
        return self._turned > TURNED
