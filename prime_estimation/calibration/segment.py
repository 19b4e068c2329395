# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""One recording's part of the bi-level problem: the lower level's optimum, loss and slope."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import DataError
from ..robot import Robot
from .held_out import START
from .loss import TrajectoryLoss
from .noise import NoiseModel
from .offsets import Offsets
from .problem import KinematicProblem
from .recording import KinematicRecording
from .sensitivity import adjoint, covariance_gradient
from .smoother import descent_equations, minimize, smooth_robustly
from .trajectory import Trajectory


@dataclass(frozen=True)
class Segment:
    """Problem without motion capture but for its start, its outliers weighed and held; loss."""

    problem: KinematicProblem
    loss: TrajectoryLoss
    trajectory: Trajectory


@dataclass(frozen=True)
class Optimum:
    """Of the lower level: loss by parts, infinite where it was not reached, and its trajectory."""

    parts: np.ndarray
    trajectory: Trajectory

    @property
    def loss(self) -> float:
        """Mean of the parts."""
        return float(np.mean(self.parts))


def prepare(
    robot: Robot,
    recording: KinematicRecording,
    offsets: Offsets,
    noise: NoiseModel,
    velocity: np.ndarray,
) -> Segment:
    """Segment of a recording; `velocity` (n, 3) is the IMU's with motion capture [m/s]."""
    problem = KinematicProblem(robot, recording, offsets, noise, mocap_nodes=START)
    loss = TrajectoryLoss(recording, offsets, velocity, START)
    return Segment(problem, loss, smooth_robustly(problem).trajectory)


def optimum(
    segment: Segment, noise: NoiseModel, start: Trajectory | None, precision: float
) -> Optimum:
    """Lower level of covariances, solved from a start (its own first optimum)."""
    problem = segment.problem.with_noise(noise)
    guess = segment.trajectory if start is None else start
    try:
        end = minimize(problem, guess, problem.nominal, tolerance=precision)
    except DataError:
        return Optimum(np.full(1, np.inf), guess)
    parts = segment.loss.parts(end.trajectory)
    return Optimum(parts if end.converged else np.full_like(parts, np.inf), end.trajectory)


def slope(segment: Segment, noise: NoiseModel, x: Trajectory) -> dict[str, np.ndarray]:
    """Derivative of the loss by each block at the optimum of the lower level, one factorization."""
    problem = segment.problem.with_noise(noise)
    o, found = problem.nominal, problem.factors(x, problem.nominal)
    _, factorization = descent_equations(problem, x, o, found)
    a = adjoint(problem, x, o, factorization, segment.loss.gradient(x))
    return covariance_gradient(problem, found, a)
