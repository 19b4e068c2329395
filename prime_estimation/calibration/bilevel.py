# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Noise covariances from recordings with motion capture: bi-level optimization.

Lower level: the full-information estimate without motion capture (but for its start). Upper level:
its error against motion capture, with a pull towards the shipped covariances.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..errors import DataError
from ..robot import Robot
from .frank_wolfe import Objective
from .noise import NoiseModel
from .offsets import Offsets
from .recording import KinematicRecording
from .segment import Optimum, optimum, prepare, slope
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
        trajectories: by recording, where the lower level starts: the optimum of the last gradient;
            None: the first one.
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
        self._names = [recording.name for recording in recordings]
        self.trajectories: list[Trajectory | None] = [None] * len(recordings)
        self._last: tuple[NoiseModel, list[Optimum]] | None = None

    def value(self, noise: NoiseModel) -> float:
        """Loss at the optimum of the lower level; infinite where it is not reached."""
        self._last = noise, self._optima(noise)
        return float(np.mean([o.loss for o in self._last[1]])) + self.pull * self._divergence(noise)

    def parts(self, noise: NoiseModel) -> np.ndarray:
        """Shares of all recordings in the loss, part by part, without the pull."""
        return np.concatenate([o.parts for o in self._optima(noise)])

    def _optima(self, noise: NoiseModel) -> list[Optimum]:
        count = len(self._segments)
        return self._map(optimum, count * [noise], self.trajectories, count * [self.precision])

    def gradient(self, noise: NoiseModel) -> dict[str, np.ndarray]:
        """Derivative by each block; the lower level starts from here afterwards.

        Raises:
            DataError: the lower level does not settle.
        """
        if self._last is None or self._last[0] is not noise:
            self.value(noise)
        found = self._last[1]
        astray = [name for name, o in zip(self._names, found) if not np.isfinite(o.loss)]
        if astray:
            raise DataError(
                f"{', '.join(astray)}: the estimate without motion capture does not settle; choose "
                "a part where the robot walks with --from and --to",
                astray,
            )
        self.trajectories = [o.trajectory for o in found]
        slopes = self._map(slope, len(found) * [noise], self.trajectories)
        return {
            k: self.pull * pull + sum(s[k] for s in slopes) / len(slopes)
            for k, pull in self._divergence_gradient(noise).items()
        }

    def _map(self, function: Callable, *lists: list) -> list:
        return self._workers.map(function, self._segments, *lists)

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
