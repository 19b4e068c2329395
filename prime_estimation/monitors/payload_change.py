# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Payload change detector: a lasting unexplained vertical force means a wrong inertia."""

from __future__ import annotations

import math

import numpy as np

from ..config.policies import PAYLOAD
from ..mhe.knowledge import release_inertia
from ..mhe.problem import Problem
from ..mhe.situation import Situation
from ..mhe.window import Window
from ..robot import GRAVITY
from ..sensors.imu import world_axes
from ..types import Measurement
from .leg_weight import LegWeight
from .monitor import Monitor


class PayloadDetector(Monitor):
    """Watches the smoothed disturbance of the base.

    An alarm resets the covariance of the inertia to its prior. One of three conditions raises it:

    - The statistic `|sum of the last n whitened vertical disturbances of the base| / sqrt(n)`, for
      n in the alarm spans of the contact model, exceeds its threshold. It is at most standard
      normal while the inertia is right. Only the vertical counts, because a payload has weight; a
      force with a horizontal part is a slip, a push, or a leg that has hit something.
    - The load of the legs, by their torques, has changed.
    - A weaker vertical force lasts. A heavy robot explains most of a load of 5 % by its joints at
      once, while one standard deviation of it remains on the base for seconds.

    None of them is a load as long as the legs carry what they always do: torques that are wrong in
    proportion make forces of a second or less (`LegWeight.scatter`).

    Args:
        problem: model, contact model.
        weight: load of the legs beyond the estimated weight.

    Attributes:
        alarms: number since the last start.
    """

    def __init__(self, problem: Problem, weight: LegWeight):
        self.problem = problem
        self._spans, self._legs = problem.contacts.alarm_spans, weight
        self._kept = max(*self._spans, PAYLOAD.weak_nodes)  # nodes, with those of the window
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self.alarms = 0
        self._rest, self._agreed = PAYLOAD.rest_nodes, 0
        self._left = np.zeros((0, 3))  # forces of the nodes that have left the window, oldest first
        self._legs.reset()

    def begin(self, window: Window, batch: list[Measurement], situation: Situation) -> None:
        """Forces of the window before are of the past."""
        self.reset()

    def judge(self, window: Window, situation: Situation) -> str:
        """Look at the newest nodes; an alarm releases the inertia."""
        self._rest -= 1
        if (
            situation.inertia_held
            or situation.doubted
            or window.creeping
            or "theta" not in self.problem.layout
            or not self.problem.floating
        ):
            self._left = np.zeros((0, 3))
            self._agreed = 0
            if situation.doubted and not window.creeping:
                self._legs.judge(window)  # a load may be what the contacts are doubted for
            else:
                self._legs.reset()
            return ""
        # eigenpy makes a vector of a matrix with one row: that of a window of one node
        inside = window.solver.first_residuals(3).reshape(-1, 3)
        inside = inside @ world_axes(window.xs[-1][3:7]).T
        forces = np.concatenate([self._left, inside])
        self._left = forces[: len(self._left) + 1][-self._kept :]
        sums = forces[: -self._kept - 1 : -1].cumsum(axis=0)  # of the newest 1, 2, .. nodes
        spans = [n for n in self._spans if n <= len(sums)]
        statistics = [self._statistic(sums[n - 1], n) for n in spans]
        statistic = max(statistics, default=0.0)
        found = statistic > self.problem.config.estimator.payload_threshold
        # a hand that presses is carried by the legs as well: its force tells which it is
        carried = self._is_carried(window) and not situation.pushed
        load = carried or (found and self._is_load(window))
        if not load and not (situation.pushed or situation.leaning):
            load = self._lasts(sums)
        told = self._rest <= 0 and load and not self._legs.usual
        self._agreed = self._agreed + 1 if told else 0
        if self._agreed >= PAYLOAD.agreeing:
            release_inertia(window, self.problem.theta_prior_root)
            self.alarms += 1
            self._rest, self._agreed = PAYLOAD.rest_nodes, 0
            self._left = np.zeros((0, 3))
            self._legs.reset()
        return ""

    def _lasts(self, sums: np.ndarray) -> bool:
        """A weak vertical force has been there for long, as a load is, in both halves alike.

        Args:
            sums: (n, 3) of the forces of the newest 1, 2, .. nodes, whitened, world axes.
        """
        n, half = PAYLOAD.weak_nodes, PAYLOAD.weak_nodes // 2
        if len(sums) < n:
            return False
        threshold = self.problem.config.estimator.payload_threshold
        total, newer = sums[n - 1], sums[half - 1]
        for part in (newer, total - newer):
            if self._statistic(part, half) <= PAYLOAD.lasting * threshold:
                return False
        return abs(total[2]) < PAYLOAD.weak * n and self._statistic(total, n) > threshold

    def _is_carried(self, window: Window) -> bool:
        """The legs carry another weight, which a robot with this load or without it may have."""
        self._legs.judge(window)
        return self._legs.added != 0.0 and self._remains(window, self._legs.added)

    def _remains(self, window: Window, added: float) -> bool:
        """A robot is left with so much more mass [kg]."""
        left = self.problem.total_mass(window.xs[-1]) + added
        return left > PAYLOAD.lightest * self.problem.robot.total_mass

    @staticmethod
    def _statistic(total: np.ndarray, n: int) -> float:
        """Of the sum (3,) of n whitened forces, world axes; 0 of what pushes sideways as well."""
        x, y, up = total.tolist()
        upright = abs(up) > PAYLOAD.upright * math.hypot(x, y)
        return abs(up) / math.sqrt(n) if upright else 0.0

    def _is_load(self, window: Window) -> bool:
        """A load was put on or taken off, which is a step of a vertical force.

        A force that grows is a hand or a rope, as is one that acts sideways, or that lifts more
        than what the robot carries. Over the nodes before the newest one, which nothing follows.
        """
        newest = window.unexplained(slice(-PAYLOAD.steady_nodes - 1, -1))[:, :3]
        force = newest @ world_axes(window.xs[-1][3:7]).T
        if len(force) < PAYLOAD.steady_nodes:
            return True  # a window as short as this shows no course
        half = len(force) // 2
        x, y, up = force.mean(axis=0)
        growth = abs(force[half:, 2].mean() - force[:half, 2].mean())
        stddev = self.problem.config.noise.base_force
        threshold = PAYLOAD.lasting * self.problem.config.estimator.payload_threshold
        if abs(up) < threshold * stddev / np.sqrt(len(force)):
            return False  # it is over
        least = 2.0 * stddev
        if growth > max(PAYLOAD.growth * abs(up), least):
            return False
        if np.hypot(x, y) > max(PAYLOAD.sideways * abs(up), least):
            return False
        return self._remains(window, -up / GRAVITY)
