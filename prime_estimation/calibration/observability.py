# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Observability of noise blocks from the error of the trajectory."""

from __future__ import annotations

import numpy as np

from .bilevel import NoiseObjective
from .noise import NoiseModel

FACTOR = 1.5  # of a block's standard deviations, to be told from one
SIGNIFICANT = 2.0  # standard errors


def told_blocks(objective: NoiseObjective, noise: NoiseModel) -> dict[str, bool]:
    """Whether the loss holds a block within a factor of 1.5: it rises in either direction.

    The rise must be significant over the parts of the recordings (`TrajectoryLoss.parts`): a mean
    over seconds of drift is a noisy number. Where the loss falls on one side the weak pull towards
    the shipped block holds it, or nothing does.
    """
    here, out = objective.parts(noise), {}
    for name, S in noise.blocks.items():
        ends = (objective.parts(noise.with_blocks({name: f * S})) for f in (FACTOR**2, FACTOR**-2))
        out[name] = all(_rises(there - here) for there in ends)
    return out


def _rises(change: np.ndarray) -> bool:
    """Mean of changes (p,) against its standard error; False where the lower level fails."""
    if not np.isfinite(change).all():
        return False
    error = np.std(change, ddof=1) / np.sqrt(len(change))
    return bool(np.mean(change) > SIGNIFICANT * error)
