# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Node window: samples of a stream about the last two steps, with their weights in the kernels."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np

from .averaging import linear_weights
from .stream import UNEVEN, Stream

FLAT, RAMP, TRIANGLE, NOW = range(4)  # rows of `linear_weights`
# between samples of a stream that loses none, or is regularly slower; held commands, other sensors
NEAR_NS = 20_000_000


class NodeWindow(NamedTuple):
    """Samples of a stream about the two steps that end at a node.

    Attributes:
        stamps: (n,) int64, less that of the node [ns].
        rows: (n, width) samples.
        weights: (4, n) of the samples in the four kernels.
        samples: (4,) effective number of independent samples in each.
        step_ns: between nodes [ns].
        usual_ns: interval between samples [ns].
        changed: (width,) rms of changes between samples that are seldom, over the last second.
    """

    stamps: np.ndarray
    rows: np.ndarray
    weights: np.ndarray
    samples: np.ndarray
    step_ns: int
    usual_ns: int
    changed: np.ndarray

    @classmethod
    def of(cls, stream: Stream, t_ns: int, step_ns: int, counts: Counter) -> NodeWindow | None:
        """That of a stream at `t_ns`; None, and counted as `<stream>_missing`, without samples.

        A burst of lost samples in it is counted as `<stream>_bridged`.
        """
        window = stream.window(t_ns, 2 * step_ns) if stream.newest is not None else None
        if window is None:
            counts[f"{stream.name}_missing"] += 1
            return None
        stamps, rows = window
        kernels = linear_weights(stamps.tobytes(), step_ns)
        seen = cls(stamps, rows, *kernels, step_ns, stream.usual_ns, np.sqrt(stream.changed))
        if seen.has_burst:
            counts[f"{stream.name}_bridged"] += 1
        return seen

    @property
    def near_ns(self) -> float:
        """Longest interval between samples [ns] if none is lost."""
        return max(NEAR_NS, UNEVEN * self.usual_ns)

    @property
    def has_burst(self) -> bool:
        """Whether samples are further apart than those of a stream that loses none."""
        return bool(np.diff(self.stamps).max(initial=0) > self.near_ns)

    def covers(self, steps: int) -> bool:
        """Whether its first sample is not after the begin of so many steps."""
        return -self.stamps[0] >= steps * self.step_ns
