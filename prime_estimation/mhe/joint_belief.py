# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Joint parameters as an earlier estimate had learned them: a prior for the next one."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..types import JointParameter
from .joint_parameters import WALK, JointBlock


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

        Standard deviations grow by the random walk since then, and never beyond the block's.
        """
        mean, stddev = block.mean.copy(), block.stddev.copy()
        told = {p.name: p for p in self.told if p.kind == block.name and p.observable}
        for i, label in enumerate(block.labels):
            if label in told:
                mean[i], own = self._parameter(block, i, told[label])
                walked = np.hypot(own, WALK * block.stddev[i] * np.sqrt(self.age))
                stddev[i] = min(walked, block.stddev[i])
        return mean, replace(block, stddev=stddev).prior_root

    @staticmethod
    def _parameter(block: JointBlock, i: int, told: JointParameter) -> tuple[float, float]:
        """Coordinate and standard deviation of the value of a block's i-th parameter."""
        if not block.positive:
            return told.value, told.stddev
        value = max(told.value, block.declaration.softness)
        reach = np.array([value, value + told.stddev])
        p, above = block.declaration.coordinate(reach).tolist()  # `JointBlock.spread`, backwards
        return p, above - p
