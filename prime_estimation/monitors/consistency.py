# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Keeps an eye on the window.

Consistency per sensor, refused steps, and whether the estimate is lost.
"""

from __future__ import annotations

import numpy as np

from ..config.parameters import Config
from ..mhe.residual_rows import LOST_RATIO, mean_square, rows_by_sensor, squares
from ..mhe.window import Window

LOST_NODES = 20  # in a row, before the estimate is given up
SMOOTHING = 0.05  # share of the newest window in the published mean squares
DOUBT_RATIO = 2.0  # the same mean squares over DOUBT_NODES nodes, above which the model is doubted
DOUBT_NODES = 200
# counted no worse than this: the doubt goes within seconds once the model fits again
WORST = 10.0 * DOUBT_RATIO
# standard deviations (and 5 % of the mass) below the robot's own mass that no payload explains
LIGHTER = 5.0


class Watch:
    """Counts what went wrong and decides when to start anew.

    Attributes:
        restarts, refused, late_poses: since construction. `reason`: of the last restart.
        innovations: mean square of the whitened residuals by sensor, smoothed over time; 1 is
            consistent.
    """

    def __init__(self, config: Config):
        self.config = config
        self.restarts = self.refused = self.late_poses = 0
        self.reason = ""
        self.innovations: dict[str, float] = {}
        self._bad = 0
        self._fit: dict[str, float] = {}
        self._seen = 0

    def restarted(self, why: str) -> None:
        """Note that the window was given up."""
        self.restarts += 1
        self.reason = why
        self._bad = 0
        self.innovations = {}

    def lost(self, window: Window) -> bool:
        """True when the window has not fitted the model for a while, or has left all physical bounds."""
        self.refused += window.solver.refused
        head = window.xs[-1]
        if (
            not np.all(np.isfinite(head))
            or np.abs(head[window.problem.nq : window.problem.nq + window.problem.nv]).max() > 100.0
        ):
            return True
        square, counts = squares(window)
        for name, rows in rows_by_sensor(window).items():
            count = counts[rows].sum()
            if count:
                value = float(square[rows].sum() / count)
                self.innovations[name] = (1.0 - SMOOTHING) * self.innovations.get(
                    name, value
                ) + SMOOTHING * value
            else:
                self.innovations.pop(name, None)
        self._learn_fit()
        self._bad = self._bad + 1 if mean_square(square, counts) > LOST_RATIO else 0
        return self._bad >= LOST_NODES

    def _learn_fit(self) -> None:
        self._seen += 1
        share = max(1.0 / self._seen, 1.0 / DOUBT_NODES)
        for name in ("model", "accelerometer"):
            value = min(self.innovations.get(name, 0.0), WORST)
            self._fit[name] = (1.0 - share) * self._fit.get(name, 0.0) + share * value

    def doubt(self, mass: float, stddev: float, nominal: float) -> str:
        """Why the robot may be another one than the model's; empty when nothing speaks against it.

        Args:
            mass: total mass as estimated [kg].
            stddev: its standard deviation [kg].
            nominal: total mass of the model [kg].
        """
        if self._seen < DOUBT_NODES:
            return ""
        if nominal - mass > max(LIGHTER * stddev, 0.05 * nominal):
            return f"weighs {mass:.1f} kg, less than the {nominal:.1f} kg of its model: is it this robot?"
        ratio = max(self._fit.values())
        if ratio > DOUBT_RATIO:
            return f"fits its model badly (residuals of {ratio:.1f} times their variance): is it this robot, are motors and noise right?"
        return ""
