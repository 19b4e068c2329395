# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Change detector for payloads put on or taken off.

A lasting force that nobody measured means that the inertia is wrong.
"""

from __future__ import annotations

from collections import deque

import numpy as np
import pinocchio as pin

from ..mhe.problem import Problem
from ..mhe.window import Window

# Nodes over which the disturbance must last: a heavy payload shows at once, a light one above the
# gait's noise. Wrong contact flags last for a step, and take forces as large as a payload's: it
# must outlast two.
SPANS = {"smoothed": (10, 20), "rigid": (80,)}
REST = 20  # nodes without a new alarm, while the inertia settles


class PayloadDetector:
    """Watches the smoothed disturbance of the base.

    On alarm the knowledge of the inertia falls back to its prior.

    Statistic: `|sum of the last n whitened vertical disturbances of the base| / sqrt(n)` for n in
        SPANS of the contact model, at most
    standard normal as long as the inertia is right. Vertical only: a payload always has weight,
    while a slip or a push acts along the other axes too.
    """

    def __init__(self, problem: Problem):
        self.problem = problem
        self.alarms = 0
        self._spans = SPANS[problem.config.estimator.contact_model]
        self._rest = REST
        # of the nodes that have left the window, oldest first
        self._left: deque[float] = deque(maxlen=self._spans[-1])

    def update(self, window: Window, held: bool) -> None:
        """Look at the newest nodes of a solved window."""
        self._rest -= 1
        theta = self.problem.columns("theta")
        if held or theta.start == theta.stop or not self.problem.floating:
            self._left.clear()
            return
        up = pin.Quaternion(window.xs[-1][3:7]).toRotationMatrix()[2]
        vertical = [*self._left, *(float(up @ data.r[:3]) for data in window.data)]
        self._left.append(vertical[len(self._left)])
        statistic = max(
            (abs(sum(vertical[-n:])) / np.sqrt(n) for n in self._spans if len(vertical) >= n),
            default=0.0,
        )
        if self._rest <= 0 and statistic > self.problem.config.estimator.payload_threshold:
            window.release_inertia(self.problem.theta_prior_root)
            self.alarms += 1
            self._rest = REST
            self._left.clear()
