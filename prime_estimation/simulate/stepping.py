# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Step plan of a two-legged robot: where it puts its weight and its feet.

Linear inverted pendulum, divergent component of motion, capture steps.

With `w = sqrt(g/h)` the divergent component `xi = c + c'/w` obeys `xi' = w (xi - p)` for a centre
of pressure p (Englsberger et al. 2015).
"""

from __future__ import annotations

import numpy as np

from ..robot import GRAVITY
from .motion import Command, Gait

GAIN = 2.0  # of the divergent component: how much faster than it diverges it is brought back
REACH = 0.12  # m, largest correction of a foothold
MARGIN = 0.008  # m, that the centre of pressure keeps from the edge of a foot
INTERVAL = 0.01  # s
# s ahead: now, then the middles of intervals
PREVIEW = np.concatenate([[0.0], np.arange(0.5 * INTERVAL, 2.5, INTERVAL)])


class StepPlan:
    """Steps on the spot, one foot after the other, from standing.

    Without a gait both feet stay and the trunk moves.

    Step i lasts half a period and stands on foot `i mod 2`. It begins with double support, in which
    the weight goes over.

    Args:
        gait: its period and duty.
        feet: (2, 2) horizontal places of the soles [m].
        height: of the centre of mass [m].
    """

    def __init__(self, gait: Gait, feet: np.ndarray, height: float):
        self.gait, self.nominal, self.places = gait, feet.copy(), feet.copy()
        self.rate = float(np.sqrt(GRAVITY / height))
        self.middle = feet.mean(axis=0)

    def stance(self, t: float) -> tuple[int, float]:
        """(foot, s) of the step at time t.

        `s` runs from -1 to 0 in double support, then to 1 in the swing. Standing: (-1, -1).
        """
        if t < 0.0 or not self.gait.period:
            return -1, -1.0
        i, phase = divmod(t, 0.5 * self.gait.period)
        double = (self.gait.duty - 0.5) * self.gait.period
        return int(i) % 2, (phase - double) / (
            0.5 * self.gait.period - double
        ) if phase >= double else phase / double - 1.0

    def swing_time(self) -> float:
        """Duration of a swing [s]."""
        return (1.0 - self.gait.duty) * self.gait.period

    def pressure(self, t: float, command: Command) -> tuple[np.ndarray, np.ndarray]:
        """Planned centre of pressure (2,) at time t and its divergent component (2,).

        `xi = w int e^{-w s} p(t + s) ds`.
        """
        if not self.gait.period:
            offset, rate, bend = (
                x[:2] for x in (command.body, command.body_rate, command.body_acceleration)
            )
            return (
                self.middle + offset - bend / self.rate**2,
                self.middle + offset + rate / self.rate,
            )
        step = 0.5 * self.gait.period
        s = t + PREVIEW
        index = np.floor(s / step).astype(int)
        share = np.clip((s - index * step) / ((self.gait.duty - 0.5) * self.gait.period), 0.0, 1.0)[
            :, None
        ]
        share = share * share * (3.0 - 2.0 * share)
        now = int(np.floor(t / step))
        p = (1.0 - share) * self._support(index - 1, now) + share * self._support(index, now)
        weights = np.exp(-self.rate * PREVIEW)
        weights[0] = 0.0
        # the last one stands for all that follows
        weights[-1] /= 1.0 - np.exp(-self.rate * INTERVAL)
        return p[0], weights @ p / weights.sum()

    def _support(self, index: np.ndarray, now: int) -> np.ndarray:
        """(n, 2) place under the weight in each step.

        What lies behind the next step is where the feet belong.
        """
        foot = index % 2
        places = np.where((index <= now + 1)[:, None], self.places[foot], self.nominal[foot])
        return np.where((index < 0)[:, None], self.middle, places)

    def foothold(
        self, foot: int, t: float, remaining: float, xi: np.ndarray, command: Command
    ) -> np.ndarray:
        """(2,) where the foot comes down in `remaining` s.

        At its nominal place, moved by the error that xi will have then.
        """
        support = self.places[1 - foot]
        predicted = support + (xi - support) * np.exp(self.rate * remaining)
        error = np.clip(predicted - self.pressure(t + remaining, command)[1], -REACH, REACH)
        outwards = np.sign(self.nominal[foot, 1] - self.nominal[1 - foot, 1])
        # legs do not cross
        error[1] = outwards * max(
            outwards * error[1], -0.3 * abs(self.nominal[0, 1] - self.nominal[1, 1])
        )
        return self.nominal[foot] + error
