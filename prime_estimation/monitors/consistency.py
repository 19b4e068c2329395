# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Consistency of the window with its data, sensor by sensor; if nothing fits, it is lost."""

from __future__ import annotations

import math

import numpy as np

from ..config.policies import CONSISTENCY
from ..mhe.residual_rows import LOST_RATIO, parts_of_rows, squares
from ..mhe.situation import Situation
from ..mhe.window import Window
from .monitor import Monitor

MISFIT = "fits its model badly"  # how a doubt begins that is not of the weight


class ConsistencyMonitor(Monitor):
    """Decides when the estimate is lost, and counts restarts and refused steps.

    Attributes:
        restarts, refused: since construction: windows that were given up, steps that the solver
            refused in the updates of others. reason: of the last restart.
        innovations: mean square of the whitened residuals by part, smoothed over time; 1 is
            consistent. present: parts that the newest window has readings of.
    """

    def __init__(self):
        self.restarts = self.refused = 0
        self.reason = ""
        self._parts: tuple[list[str], np.ndarray] | None = None
        self.reset()

    def reset(self) -> None:
        """Forget everything but the counters."""
        self._fit: dict[str, float] = {}
        self._seen = 0
        self._begin()

    def _begin(self) -> None:
        """Forget what was smoothed of a window; how well the robot fits is remembered."""
        self.innovations: dict[str, float] = {}
        self.present: set[str] = set()
        self._bad = 0

    def restarted(self, why: str) -> None:
        """Note that the window was given up."""
        self.restarts += 1
        self.reason = why
        self._begin()

    def judge(self, window: Window, situation: Situation) -> str:
        """Judges whether the window fits its data, and is within physical bounds."""
        self.refused += window.solver.refused
        head = window.xs[-1]
        velocity = window.problem.layout.v(head).tolist()
        fastest = max(max(velocity), -min(velocity))
        if not math.isfinite(float(head @ head)) or fastest > CONSISTENCY.fastest:
            return "the state is not that of a robot"
        square, count = self._learn(window)
        self._bad = self._bad + 1 if square > LOST_RATIO * max(count, 1) else 0
        return "the residuals do not fit the model" if self._bad >= CONSISTENCY.lost_nodes else ""

    def _learn(self, window: Window) -> tuple[float, float]:
        """Smooth the mean squares of all parts; the sum of all squares, and their number."""
        if self._parts is None:
            self._parts = parts_of_rows(window)
        names, members = self._parts
        *sums, all_of_them = (members @ squares(window)).tolist()
        self.present = {name for name, (_, number) in zip(names, sums) if number}
        for name, (square, number) in zip(names, sums):
            if number:
                value = square / number
                old = self.innovations.get(name, value)
                self.innovations[name] = old + CONSISTENCY.smoothing * (value - old)
        self._seen += 1
        share = max(1.0 / self._seen, 1.0 / CONSISTENCY.doubt_nodes)
        for name in ("model", "accelerometer"):
            value = self.innovations[name] if name in self.present else 0.0
            value = min(value, CONSISTENCY.worst_ratio)
            self._fit[name] = (1.0 - share) * self._fit.get(name, 0.0) + share * value
        return tuple(all_of_them)

    def doubt(self, mass: float, stddev: float, nominal: float) -> str:
        """Why the robot may be another one than the model's; empty when nothing speaks against it.

        Args:
            mass: total mass as estimated [kg].
            stddev: its standard deviation [kg].
            nominal: total mass of the model [kg].
        """
        if self._seen < CONSISTENCY.doubt_nodes:
            return ""
        least = max(CONSISTENCY.lighter * stddev, CONSISTENCY.lighter_share * nominal)
        if nominal - mass > least:
            model = f"the {nominal:.1f} kg of its model"
            return f"weighs {mass:.1f} kg, less than {model}: is it this robot?"
        ratio = max(self._fit.values())
        if ratio > CONSISTENCY.doubt_ratio:
            residuals = f"residuals of {ratio:.1f} times their variance"
            return f"{MISFIT} ({residuals}): is it this robot, are motors and noise right?"
        return ""
