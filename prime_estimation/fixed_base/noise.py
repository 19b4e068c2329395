# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Standard deviations of torques and encoders from what an estimate leaves (variance components).

sigma^2 <- (squares that are left) / (rows - freedom that trajectories and parameters take)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from .estimate import Estimate
from .levenberg_marquardt import linearized
from .segment import Weights

PROBES = 20  # random vectors for the traces
TIMES, SETTLED = 12, 0.03


def noise_levels(
    fit: Callable[[Weights], Estimate], weights: Weights, position: bool = True
) -> tuple[Weights, Estimate]:
    """Weights that agree with what they leave, and the estimate with them.

    Args:
        fit: estimate for weights.
        weights: to begin with; those of rates are kept.
        position: find those of the encoders too; otherwise they are kept.
    """
    for _ in range(TIMES):
        at_torques, at_encoders, _ = _ratios(fit(weights))
        if not position:
            at_encoders = np.ones_like(at_encoders)
        weights = replace(
            weights,
            position=weights.position * at_encoders,
            torque=weights.torque * at_torques,
        )
        if np.max(np.abs(np.log(np.r_[at_encoders, at_torques]))) < SETTLED:
            break
    return weights, fit(weights)


def _ratios(found: Estimate) -> np.ndarray:
    """Deviation that is left over that which was assumed, freedom heeded.

    Of torques, encoders and rates, (3, nj); one where nothing is measured.
    """
    probe, size = np.random.default_rng(0), 3 * found.machine.nj
    squares, freedom = np.zeros(size), np.zeros(size)
    solution = found.solution
    parts = linearized(found.segments, solution.values, solution.trajectories, found.free)
    for segment, part in zip(found.segments, parts):
        part.eliminate(0.0)
        groups, J = segment.groups, part.rows.by_trajectory
        signs = probe.choice([-1.0, 1.0], (len(groups), PROBES))
        squares += np.bincount(groups, part.rows.residual**2, size)
        taken = np.mean(signs * (J @ part.solve(J.T @ signs)), axis=1)
        freedom += np.bincount(groups, 1.0 - taken, size)
    ratio = np.divide(squares, freedom, out=np.ones(size), where=freedom != 0.0)
    return np.sqrt(ratio).reshape(3, -1)
