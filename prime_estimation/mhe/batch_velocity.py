# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Velocity of a start batch: consistent with the IMU, and with most of the loaded feet at rest.

The torques of a leg that swings fast look like a load, so that the mean over all feet that seem to
be loaded gives half the velocity of a trot. The IMU measures the change of the velocity between two
nodes, whichever feet stand. The only unknowns of a batch are the initial velocity and a constant
acceleration (the error of the attitude); feet that contradict them get less weight.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..robot import GRAVITY

TILT = 0.1  # rad, error of the attitude that a batch begins with
STANDS = 0.1  # m/s, speed at which a foot that carries counts half (Cauchy's loss)
ITERATIONS = 20  # of reweighting: from feet that count alike to those that stand, it is slow
ANY_LOAD = 1e-3  # weight of a foot that carries nothing, so that the mean exists


@dataclass(frozen=True)
class FeetOfBatch:
    """Feet of a robot that does not move but for its joints and its turning, at n nodes.

    Attributes:
        loads: (n, nf) in [0, 1], shares of its part of the weight that each carries.
        points: (n, nf, 3) [m] soles relative to the base, world axes. rates: (n, nf, 3) [m/s].
    """

    loads: np.ndarray
    points: np.ndarray
    rates: np.ndarray

    def turned(self, R: np.ndarray) -> FeetOfBatch:
        """The same in a world turned by R (3, 3)."""
        return FeetOfBatch(self.loads, self.points @ R.T, self.rates @ R.T)


def mean_velocity(feet: FeetOfBatch) -> np.ndarray:
    """Velocity (n, 3) of the base [m/s] over the feet that carry, each node by itself.

    v = -sum_i load_i rate_i / sum_i load_i
    """
    weights = feet.loads + ANY_LOAD
    return -np.einsum("ki,kij->kj", weights, feet.rates) / weights.sum(axis=1)[:, None]


def stance_velocity(
    feet: FeetOfBatch, gained: np.ndarray, times: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Velocity of the base over the standing feet, and a correction of the specific force.

        v_k = v_0 + gained_k + a t_k
        min over v_0, a:  sum_ki load_ki rho(|v_k + rate_ki| / STANDS) + |a / (TILT g)|^2

    with Cauchy's loss rho, by reweighting.

    Args:
        feet: of the batch.
        gained: (n, 3) [m/s] velocity since the first node by what is felt.
        times: (n,) [s] since the first node.

    Returns:
        Velocity (n, 3) [m/s] and a (3,) [m/s2], world axes; weights (n, nf) in [0, 1] of the feet
        that stand.
    """
    loads = feet.loads + ANY_LOAD
    goal = -feet.rates - gained[:, None, :]
    columns = np.stack([np.ones_like(times), times])  # (2, n) of v_0 and a
    prior = np.diag([0.0, (STANDS / (TILT * GRAVITY)) ** 2])
    weights = loads
    for _ in range(ITERATIONS):
        total, mean = weights.sum(axis=1), np.einsum("ki,kij->kj", weights, goal)
        found = np.linalg.solve((columns * total) @ columns.T + prior, columns @ mean)
        change = columns.T @ found
        errors = np.linalg.norm(change[:, None, :] - goal, axis=2)
        weights = loads / (1.0 + (errors / STANDS) ** 2)
    return change + gained, found[1], weights
