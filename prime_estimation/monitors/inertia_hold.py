# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Inertia hold: keeps the inertia while frozen, without torques, or on wrong contacts."""

from __future__ import annotations

from collections import deque

import numpy as np

from ..config.policies import AGREEMENT, RUNAWAY
from ..mhe.knowledge import hold_inertia, release_inertia
from ..mhe.problem import Problem
from ..mhe.situation import Situation
from ..mhe.still_inertia import StillInertia
from ..mhe.window import Window
from ..types import Measurement
from .monitor import Monitor


def _weighs(m: Measurement) -> bool:
    """Whether torques tell what the robot weighs."""
    return m.torque is not None and not m.unpowered


def _spread(pi: np.ndarray) -> float:
    """Mean square of the distance of a link's mass from its centre [m2]: `tr I_c / 2 m`."""
    m, x, y, z, xx, _, yy, _, _, zz = pi.tolist()
    return 0.5 * (xx + yy + zz) / m - (x * x + y * y + z * z) / (m * m)


class InertiaHold(Monitor):
    """Holds the inertia at its value and uncertainty, and releases it.

    Without torques the contact forces are unknown, and so is the weight. A mass that were estimated
    all the same would follow from the shape of the noise: far off, with a small variance. If the
    contacts are wrong, the inertia is reset to its value before they were.

    The inertia survives an interval in which something else carries the robot, if the feet
    then carry the same weight as before.

    Attributes:
        covariance: (ntheta, ntheta) of the held inertia; None while it is estimated.
        frozen: held on request. A released inertia is estimated from the prior's covariance.
    """

    def __init__(self, problem: Problem):
        self.problem, self.frozen, self._still = problem, False, StillInertia(problem)
        self._prior = problem.theta_prior_root @ problem.theta_prior_root.T
        self.reset()

    def reset(self) -> None:
        """Forget what is held; `frozen` stays."""
        self._forget()
        # mean and covariance before something else than the feet carried the robot
        self._outlasting: tuple[np.ndarray, np.ndarray] | None = None
        self._kept = False  # the next start begins with what was known when data ended

    def _forget(self) -> None:
        self.covariance: np.ndarray | None = None
        # nodes until none without torque, none with wrong contacts is left in the window
        self._blind = self._wrong = 0
        self._root = self.problem.theta_prior_root
        # of the last nodes, oldest first: before contacts went wrong, the inertia was right
        self._before: deque[np.ndarray] = deque(maxlen=AGREEMENT.nodes)

    @property
    def held(self) -> bool:
        """The inertia is not estimated at present."""
        return self.covariance is not None

    def begin(self, window: Window, batch: list[Measurement], situation: Situation) -> None:
        """Hold the inertia from the start, where the batch does not weigh the robot."""
        self._forget()
        if self._kept:
            self.problem.first.forget_inertia()
            self._kept = False
        weighed = any(map(_weighs, batch)) and not situation.suspended
        self._blind = 0 if weighed else window.size
        self._still.begin(window)
        if situation.suspended and self._outlasting is not None:
            window.set_parameter("theta", self._outlasting[0])
        if self.frozen or self._blind:
            window.posterior()
            self._hold(window, self._prior if self._blind else self._known(window))

    def keep(self, window: Window) -> None:
        """Let the next start begin with what is known of the inertia."""
        known = self.covariance
        if known is None:
            window.posterior()
            known = self._known(window)
        mean = self.problem.parameter(window.xs[-1], "theta").copy()
        self.problem.first.keep_inertia(mean, known)
        self._kept = True

    def outlast(self, window: Window | None, suspended: bool, as_before: bool) -> None:
        """Prepare a new start when who carries the robot has changed.

        Args:
            window: that is given up; None where there is none.
            suspended: something else than the feet carries the robot from now on.
            as_before: they do again, and carry as much as before.
        """
        settled = len(self._before) == self._before.maxlen  # not the first guess of a new start
        if suspended and window is not None and not self.held and settled:
            window.posterior()
            self._outlasting = self._before[0], self._known(window)
        elif not suspended and self._outlasting is not None:
            if as_before:
                self.problem.first.keep_inertia(*self._outlasting)
            else:
                self.problem.first.forget_inertia()
            self._outlasting = None

    def assess(self, m: Measurement, window: Window | None, situation: Situation) -> Situation:
        """Hold or release the inertia for the node that comes."""
        if window is not None and not situation.restart:
            blind = not _weighs(m) or situation.suspended
            self._blind = window.size if blind else max(0, self._blind - 1)
            self._wrong = window.size if situation.contradicted else max(0, self._wrong - 1)
            if situation.loaded:  # the contacts were right all the time
                self._wrong = 0
            lost = not self.held and self._runs_away(window)
            if lost:
                self._wrong = RUNAWAY.nodes
            self._settle(window, situation.contradicted or lost)
            self._still.follow(window, self.held)
        return situation.holding(self.held)

    def _runs_away(self, window: Window) -> bool:
        """A link has become wider than any load makes it.

        A moment that nobody knows is explained by any inertia that turns a little, and its
        logarithmic coordinates grow as fast as they like.
        """
        inertias = self.problem.inertias(window.xs[-1])
        return any(not _spread(pi) < RUNAWAY.spread**2 for pi, _ in inertias)

    def freeze(self, window: Window | None, value: bool) -> None:
        """Hold the inertia on demand, or let it go."""
        self.frozen = value
        if window is not None:
            self._settle(window)

    def _settle(self, window: Window, contradicted: bool = False) -> None:
        wanted = self.frozen or self._blind > 0 or self._wrong > 0
        if wanted and not self.held:
            if contradicted and self._before:
                window.set_parameter("theta", self._before[0])
            window.posterior()
            self._hold(window, self._known(window))
        elif self.held and not wanted:
            self.covariance = None
            self._still.hold(window)
            release_inertia(window, self._root)
        if not self.held:
            self._before.append(self.problem.parameter(window.xs[-1], "theta").copy())
        if self.frozen:
            self._root = self.problem.theta_prior_root  # a payload may change in the meantime

    def _known(self, window: Window) -> np.ndarray:
        theta = self.problem.columns("theta")
        return window.head_covariance()[theta, theta].copy()

    def _hold(self, window: Window, covariance: np.ndarray) -> None:
        self.covariance = covariance
        values, vectors = np.linalg.eigh(covariance)
        known = vectors * np.sqrt(np.maximum(values, 0.0))
        self._root = self.problem.theta_prior_root if self.frozen else known
        hold_inertia(window)
