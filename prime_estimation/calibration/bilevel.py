# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Noise covariances from recordings with motion capture: bi-level optimization.

Lower level: the full-information estimate without motion capture (but for its start). Upper level:
its error against motion capture, with a pull towards the shipped covariances.
"""

from __future__ import annotations

import numpy as np

from ..robot import Robot
from .frank_wolfe import Objective
from .noise import NoiseModel
from .offsets import Offsets
from .recording import KinematicRecording
from .segment import Evaluation, evaluate, prepare
from .trajectory import Trajectory
from .workers import DaskWorkers, Here

PULL = 0.01  # weight of the divergence from the shipped covariances
PRECISE = 1e-13


class NoiseObjective(Objective):
    """Mean loss of recordings, and `PULL` times the divergence from the shipped covariances.

    Divergence of a block: `(tr(S0^-1 S) - log det(S0^-1 S) - d) / 2`, convex, zero at S0.

    Args:
        robot: the machine.
        recordings: its motions.
        offsets: of the machine, held.
        noise: shipped covariances.
        references: (n, 3) by recording: velocity of the IMU with motion capture [m/s].
        pull: weight of the divergence.
        precision: promised decrease of the lower level's cost at which it ends, relative.
        workers: who computes the recordings' parts.

    Attributes:
        trajectories: by recording, where the lower level starts next time; None: the first optimum.
    """

    def __init__(
        self,
        robot: Robot,
        recordings: list[KinematicRecording],
        offsets: Offsets,
        noise: NoiseModel,
        references: list[np.ndarray],
        pull: float = PULL,
        precision: float = PRECISE,
        workers: Here | DaskWorkers | None = None,
    ):
        self.shipped, self.pull, self.precision = noise, pull, precision
        self._workers = workers or Here()
        self._segments = [
            self._workers.keep(prepare, robot, recording, offsets, noise, velocity)
            for recording, velocity in zip(recordings, references)
        ]
        self.trajectories: list[Trajectory | None] = [None] * len(recordings)

    def _evaluate(self, noise: NoiseModel, with_gradient: bool) -> list[Evaluation]:
        count = len(self._segments)
        fixed = ([v] * count for v in (self.precision, with_gradient))
        found = self._workers.map(
            evaluate, self._segments, [noise] * count, self.trajectories, *fixed
        )
        self.trajectories = [e.trajectory for e in found]
        return found

    def value(self, noise: NoiseModel) -> float:
        """Loss at the optimum of the lower level."""
        losses = [e.loss for e in self._evaluate(noise, False)]
        return float(np.mean(losses)) + self.pull * self._divergence(noise)

    def gradient(self, noise: NoiseModel) -> dict[str, np.ndarray]:
        """Derivative by each block, one factorization a recording."""
        found = self._evaluate(noise, True)
        return {
            k: self.pull * pull + sum(e.gradient[k] for e in found) / len(found)
            for k, pull in self._divergence_gradient(noise).items()
        }

    def _divergence(self, noise: NoiseModel) -> float:
        total = 0.0
        for k, S in noise.blocks.items():
            ratio = np.linalg.solve(self.shipped.blocks[k], S)
            total += 0.5 * (np.trace(ratio) - np.linalg.slogdet(ratio)[1] - len(S))
        return float(total)

    def _divergence_gradient(self, noise: NoiseModel) -> dict[str, np.ndarray]:
        return {
            k: 0.5 * (np.linalg.inv(self.shipped.blocks[k]) - np.linalg.inv(S))
            for k, S in noise.blocks.items()
        }
