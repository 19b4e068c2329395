# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Past poses of the base: smoothed states, kept for late readings."""

from __future__ import annotations

from collections import deque

import numpy as np
import pinocchio as pin

from .tracker import EstimationProblem, SlidingWindow

REMEMBERED_NS = 1_000_000_000  # how long states are kept for readings that come late


class PastPoses:
    """Keeps the smoothed states of a window, including those of nodes that have left it.

    Args:
        problem: problem of the window.
    """

    def __init__(self, problem: EstimationProblem):
        self._problem = problem
        self._states: deque[tuple[int, np.ndarray]] = deque()  # by stamp

    def clear(self) -> None:
        """Forget everything."""
        self._states.clear()

    def remember(self, window: SlidingWindow) -> None:
        """Store the states of a solved window; they replace former ones of the same nodes."""
        states = self._states
        while states and states[-1][0] >= window.stamps[0]:
            states.pop()
        states.extend(zip(window.stamps, window.xs))
        while states[0][0] < window.stamps[-1] - REMEMBERED_NS:
            states.popleft()

    def at(self, stamp_ns: int) -> pin.SE3 | None:
        """Pose of the base at a time, interpolated between nodes; None outside of them."""
        stamps = [stamp for stamp, _ in self._states]
        k = int(np.searchsorted(stamps, stamp_ns))
        if k == len(stamps) or (k == 0 and stamps[0] != stamp_ns):
            return None
        after = base_pose(self._problem, self._states[k][1])
        if stamps[k] == stamp_ns:
            return after
        share = (stamp_ns - stamps[k - 1]) / (stamps[k] - stamps[k - 1])
        before = base_pose(self._problem, self._states[k - 1][1])
        return pin.SE3.Interpolate(before, after, share)


def pose_before(problem: EstimationProblem, x: np.ndarray, seconds: float) -> pin.SE3:
    """Pose of the base some time before a state, with the velocity of that state."""
    twist = np.array(problem.layout.v(x)[:6])
    return base_pose(problem, x) * pin.exp6(-seconds * twist)


def base_pose(problem: EstimationProblem, x: np.ndarray) -> pin.SE3:
    """Pose of the base in the world at a state."""
    part = problem.layout.part
    quat = pin.Quaternion(np.array(part(x, "rotation")))
    return pin.SE3(quat.toRotationMatrix(), np.array(part(x, "position")))
