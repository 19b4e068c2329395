# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Monitors of the estimator: lift-off, inertia hold, consistency, payload change, noise levels."""

from __future__ import annotations

from collections.abc import Iterator

from ..mhe.problem import Problem
from ..mhe.process_model import Situation
from ..mhe.window import Window
from ..types import Measurement
from .consistency import ConsistencyMonitor
from .inertia_hold import InertiaHold
from .lift_off import LiftDetector
from .monitor import Monitor
from .noise_levels import NoiseLevels
from .payload_change import PayloadDetector


class Monitors:
    """The monitors in the order in which they refine a situation.

    Attributes:
        lift, hold, consistency, payload, levels: each of them.
    """

    def __init__(self, problem: Problem):
        self.lift, self.hold = LiftDetector(problem), InertiaHold(problem)
        self.consistency, self.payload = ConsistencyMonitor(), PayloadDetector(problem)
        self.levels = NoiseLevels(problem)

    def __iter__(self) -> Iterator[Monitor]:
        return iter((self.lift, self.hold, self.consistency, self.payload, self.levels))

    @property
    def last_restart(self) -> tuple[int, str]:
        """How often an estimate was given up so far, and why the last one."""
        return self.consistency.restarts, self.consistency.reason

    def reset(self) -> None:
        """Forget everything."""
        for monitor in self:
            monitor.reset()

    def begin(self, window: Window, batch: list[Measurement], situation: Situation) -> None:
        """Look at a window that a start batch gave."""
        for monitor in self:
            monitor.begin(window, batch, situation)

    def assess(self, m: Measurement, window: Window | None) -> Situation:
        """The situation of the next node."""
        situation = Situation()
        for monitor in self:
            situation = monitor.assess(m, window, situation)
        return situation

    def judge(self, window: Window, situation: Situation) -> str:
        """Why a window that has just been solved is lost; empty when it is not."""
        return next(filter(None, [monitor.judge(window, situation) for monitor in self]), "")
