# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Noise covariances from recordings with motion capture: bi-level optimization.

Lower level: the full-information estimate without motion capture (but for its start). Upper level:
its error against motion capture, with a pull towards the shipped covariances.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..robot import Robot
from .frank_wolfe import Objective
from .held_out import START
from .loss import TrajectoryLoss
from .noise import NoiseModel
from .offsets import Offsets
from .problem import KinematicProblem
from .recording import KinematicRecording
from .sensitivity import adjoint, covariance_gradient
from .smoother import Smoothed, smooth, smooth_robustly

PULL = 0.01  # weight of the divergence from the shipped covariances
PRECISE = 1e-13


@dataclass
class _Segment:
    problem: KinematicProblem
    loss: TrajectoryLoss
    result: Smoothed


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
    ):
        self.shipped, self.pull, self.precision = noise, pull, precision
        self.segments: list[_Segment] = []
        for recording, velocity in zip(recordings, references):
            problem = KinematicProblem(robot, recording, offsets, noise, mocap_nodes=START)
            loss = TrajectoryLoss(recording, offsets, velocity, START)
            # outliers are found once, and held
            self.segments.append(_Segment(problem, loss, smooth_robustly(problem)))

    def _solve(self, noise: NoiseModel) -> None:
        for s in self.segments:
            s.problem.set_noise(noise)
            s.result = smooth(
                s.problem, s.result.trajectory, s.result.offsets, tolerance=self.precision
            )

    def value(self, noise: NoiseModel) -> float:
        """Loss at the optimum of the lower level."""
        self._solve(noise)
        losses = [s.loss.value(s.result.trajectory) for s in self.segments]
        return float(np.mean(losses)) + self.pull * self._divergence(noise)

    def gradient(self, noise: NoiseModel) -> dict[str, np.ndarray]:
        """Derivative by each block, one factorization a recording."""
        self._solve(noise)
        total = {k: self.pull * g for k, g in self._divergence_gradient(noise).items()}
        for s in self.segments:
            x, o = s.result.trajectory, s.result.offsets
            factorization = s.problem.equations(x, o).factorized()
            a = adjoint(s.problem, x, o, factorization, s.loss.gradient(x))
            for k, g in covariance_gradient(s.problem, x, o, a).items():
                total[k] = total[k] + g / len(self.segments)
        return total

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
