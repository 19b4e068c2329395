# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Edges of contact flags: feet whose flag is already, or still, 1 although they move."""

from __future__ import annotations

from collections import deque

import numpy as np

from .tracker import EstimationProblem, SlidingWindow

BEFORE = 5  # nodes after the rise of a flag, before which its foot may not stand yet
AFTER = 2  # nodes before its fall, after which it may have left
VELOCITY = 0.1  # m/s, deviation of the contact's tangential velocity there


class FlagEdges:
    """Lets feet move near the edges of their flags, if no torques show when they stand.

    A flag is a plan of the controller, or a threshold on the load of a soft foot: it rises before
    the foot stands and falls after it has left. Motion at these times is not an outlier, but occurs
    in every step, always forwards. Therefore the contact disturbance is widened by `VELOCITY` from
    the fall of a flag to `BEFORE` nodes after its rise, and for the `AFTER` nodes before its fall
    (once it has fallen). The normal direction is excluded, where errors would accumulate in height.

    Args:
        problem: of the window; its process model has the disturbances.
        feet: number of feet.
    """

    def __init__(self, problem: EstimationProblem, feet: int):
        self._problem, self._feet = problem, feet
        self.reset()

    def reset(self) -> None:
        """The window begins anew."""
        self._since = np.full(self._feet, BEFORE + 1)  # nodes since a flag was down
        self._widened: deque[np.ndarray] = deque(maxlen=AFTER)  # of the newest nodes

    def see(self, stands: np.ndarray, window: SlidingWindow) -> None:
        """Take the flags (nf,) of the step that has ended, that of the window's last input but one.

        Args:
            stands: 0 or 1, or their mean over the node.
            window: shifted, so that the newest node is the one after that step.
        """
        down = stands < 0.5
        self._since = np.where(down, 0, self._since + 1)
        newest = self._since <= BEFORE
        self._widen(window, 0, newest)
        for back, before in enumerate(self._widened, 1):
            self._widen(window, back, down & ~before)
            before |= down
        self._widened.appendleft(newest)

    def _widen(self, window: SlidingWindow, back: int, feet: np.ndarray) -> None:
        steps = window.inputs[:-1]
        if feet.any() and back < len(steps) and not steps[-1 - back].weighed:
            creep = np.where(feet, VELOCITY, 0.0)
            process = self._problem.process
            process.expect_creep(steps[-1 - back], creep, tangential=True)
