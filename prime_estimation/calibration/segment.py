# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""One recording's part of the bi-level problem: the lower level's optimum, loss and gradient."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..robot import Robot
from .held_out import START
from .loss import TrajectoryLoss
from .noise import NoiseModel
from .offsets import Offsets
from .problem import KinematicProblem
from .recording import KinematicRecording
from .sensitivity import adjoint, covariance_gradient
from .smoother import smooth, smooth_robustly
from .trajectory import Trajectory


@dataclass(frozen=True)
class Segment:
    """Problem without motion capture but for its start, its outliers weighed and held; loss."""

    problem: KinematicProblem
    loss: TrajectoryLoss
    trajectory: Trajectory


@dataclass(frozen=True)
class Evaluation:
    """Loss at the optimum of the lower level, its trajectory, and where asked for the gradient."""

    loss: float
    trajectory: Trajectory
    gradient: dict[str, np.ndarray] | None


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


def evaluate(
    segment: Segment,
    noise: NoiseModel,
    start: Trajectory | None,
    precision: float,
    with_gradient: bool,
) -> Evaluation:
    """Loss of covariances, the lower level solved from a start (its own first optimum)."""
    problem = segment.problem.with_noise(noise)
    guess = segment.trajectory if start is None else start
    result = smooth(problem, guess, problem.nominal, tolerance=precision)
    x, o = result.trajectory, result.offsets
    gradient = None
    if with_gradient:
        factorization = problem.equations(x, o).factorized()
        a = adjoint(problem, x, o, factorization, segment.loss.gradient(x))
        gradient = covariance_gradient(problem, x, o, a)
    return Evaluation(segment.loss.value(x), x, gradient)
