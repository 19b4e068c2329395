# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Joint parameters as an earlier estimate had learned them: a prior for the next one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..types import JointParameter
from .joint_parameters import COMMON_GAIN, GAINS, WALK, JointBlock


@dataclass(frozen=True)
class JointBelief:
    """Joint parameters that were learned before.

    Attributes:
        told: what was said of them. age: since then [s].
    """

    told: tuple[JointParameter, ...]
    age: float = 0.0

    def prior(self, block: JointBlock) -> tuple[np.ndarray, np.ndarray]:
        """Mean (n,) and covariance root (n, n) of a block: its own prior where nothing was told.

        Standard deviations grow by the random walk since then, and never beyond the block's. The
        mean of all gains is held, as in the block's own prior.
        """
        mean, stddev = block.mean.copy(), block.stddev.copy()
        told = {p.name: p for p in self.told if p.kind == block.name and p.observable}
        for i, label in enumerate(block.labels):
            if label in told:
                mean[i], own = self._parameter(block, i, told[label])
                walked = np.hypot(own, WALK * block.stddev[i] * np.sqrt(self.age))
                stddev[i] = min(walked, block.stddev[i])
        if block.name != GAINS:
            return mean, np.diag(stddev)
        n = len(mean)
        common = np.full((n, n), 1.0 / n)
        return mean, (np.eye(n) - common) * stddev + COMMON_GAIN * common

    @staticmethod
    def _parameter(block: JointBlock, i: int, told: JointParameter) -> tuple[float, float]:
        """Coordinate and standard deviation of the value of a block's i-th parameter."""
        if not block.positive:
            return told.value, told.stddev
        softness = block.declaration.softness
        value = max(told.value, softness)  # below, a loss is as good as none
        # value = (p + sqrt(p^2 + 4 n^2))/2
        p = value - softness**2 / value
        slope = value / np.hypot(p, 2.0 * softness)
        return p, told.stddev / slope
