# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Change detector for payloads put on or taken off: a lasting force that nobody measured means that the inertia is wrong."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from .problem import Problem
from .window import Window

NODES = 10  # over which the disturbance must last
REST = 20  # nodes without a new alarm, while the inertia settles


class PayloadDetector:
    """Watches the smoothed disturbance of the base; on alarm the knowledge of the inertia falls back to its prior.

    Statistic: `|sum of the last NODES whitened vertical disturbances of the base| / sqrt(NODES)`, at most standard normal as long as
    the inertia is right. Vertical only: a payload always has weight, while a slip or a push acts along the other axes too.
    """

    def __init__(self, problem: Problem):
        self.problem = problem
        self.alarms = 0
        self._rest = REST

    def update(self, window: Window, held: bool) -> None:
        """Look at the newest nodes of a solved window."""
        self._rest -= 1
        theta = self.problem.columns("theta")
        if held or self._rest > 0 or theta.start == theta.stop or not self.problem.floating:
            return
        recent = np.array([data.r[:3] for data in window.data[-NODES:]])
        up = pin.Quaternion(window.xs[-1][3:7]).toRotationMatrix()[2]
        statistic = abs(up @ recent.sum(axis=0)) / np.sqrt(len(recent))
        if statistic > self.problem.config.estimator.payload_threshold:
            window.release_inertia(self.problem.theta_prior_root)
            self.alarms += 1
            self._rest = REST
