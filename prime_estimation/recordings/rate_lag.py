# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Rate lag: detects joint rates that lag the positions, by a filter or a clock."""

from __future__ import annotations

from collections import deque
from dataclasses import replace

import numpy as np

from ..config.policies import RATE_LAG
from ..types import Measurement


class RateLag:
    """Compares joint rates with differences of positions.

    A rate v that lags by d has `v(t) = q'(t - d)`, so that over nodes of all joints

        (q_k - q_(k-1)) / dt - v_k = d (v_(k+1) - v_(k-1)) / (2 dt)

    with v the mean over the step. Rates without lag show up to 1 ms, rates behind a low-pass filter
    of 10 Hz 16 ms. A lag lets standing feet seem to move, and looks like a wrong clock of the IMU.
    Samples that are far apart tell none: what joints do between them looks like one.

    Args:
        step: between nodes [s].

    Attributes:
        lag: by which rates are found to lag [s]; 0: they are in time.
    """

    def __init__(self, step: float):
        self._step, self.lag = step, 0.0
        self.reset()

    def reset(self) -> None:
        """Forget what was seen; what has been found stays."""
        self._last: deque[Measurement] = deque(maxlen=3)
        self._sums: deque[tuple[float, float, float]] = deque(maxlen=RATE_LAG.nodes)
        self._seen = self._agreed = 0

    def learn(self, m: Measurement) -> bool:
        """Look at the next measurement; True where its rates turn out to lag."""
        if self.lag:
            return False
        if m.position is None or m.velocity is None or m.joints_seldom:
            self.reset()
            return False
        self._last.append(m)
        if len(self._last) < 3:
            return False
        before, now, after = self._last
        if 1e-9 * (after.stamp_ns - before.stamp_ns) > 2.5 * self._step:
            self.reset()
            return False
        change = (after.velocity - before.velocity) / (2.0 * self._step)
        left = (now.position - before.position) / self._step - now.velocity
        self._sums.append((float(change @ change), float(change @ left), float(left @ left)))
        self._seen += 1
        if len(self._sums) < RATE_LAG.nodes or self._seen % RATE_LAG.every:
            return False
        lag = self._told(len(m.position))
        self._agreed = self._agreed + 1 if lag else 0
        if self._agreed >= RATE_LAG.looks:
            self.lag = lag
        return bool(self.lag)

    def _told(self, joints: int) -> float:
        """Lag [s] that the newest nodes tell; 0: none, or too little moves."""
        xx, xy, yy = np.sum(self._sums, axis=0).tolist()
        if xx < len(self._sums) * joints * RATE_LAG.moves**2:
            return 0.0
        lag = xy / xx
        return lag if abs(lag) > RATE_LAG.least and xy * lag > RATE_LAG.gain * yy else 0.0

    def without(self, m: Measurement) -> Measurement:
        """The measurement, without rates where they lag: differences of positions are in time."""
        if not self.lag or m.velocity is None:
            return m
        return replace(m, velocity=None, position_carried=None)
