# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Test of offsets and noise: the estimate without motion capture, scored against it."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from ..robot import Robot
from .mocap_factor import mocap_pose
from .noise import NoiseModel
from .offsets import Offsets
from .problem import KinematicProblem
from .recording import KinematicRecording
from .smoother import smooth_robustly

START = 50  # nodes at which motion capture tells where the estimate begins
AVERAGE = 0.25  # s over which errors are averaged: a single pose is noise


@dataclass(frozen=True)
class Score:
    """Root mean squares of what motion capture saw against what was predicted without it.

    Attributes:
        velocity: of the tracked body, world axes [m/s].
        rotation: of the tracked body [rad]. tilt: the part of it about horizontal axes [rad].
        position: of the tracked body since the start [m].
        drift: error at the end per length of the path.
        leg_misfit: mean whitened square of the leg measurements.
    """

    velocity: float
    rotation: float
    tilt: float
    position: float
    drift: float
    leg_misfit: float

    def to_dict(self) -> dict[str, float]:
        """Plain values."""
        return asdict(self)


def score(
    robot: Robot, recording: KinematicRecording, offsets: Offsets, noise: NoiseModel
) -> Score:
    """Score offsets and noise on a recording, of which only the start uses motion capture.

    The tracked body is predicted with the same offsets, those of motion capture included.
    """
    problem = KinematicProblem(robot, recording, offsets, noise, mocap_nodes=START)
    result = smooth_robustly(problem)
    pose = mocap_pose(result.trajectory, recording, offsets).residual
    m = recording.mocap
    times = recording.step * m.node + m.age
    averaged = _averaged(times, pose, recording.mocap.node >= START)
    turned = np.einsum("mij,mj->mi", averaged.rotation(m.rotation), averaged.error[:, 3:])
    path = np.sum(np.linalg.norm(np.diff(m.position[:: averaged.count], axis=0), axis=1))
    legs = [v for k, v in result.misfit.items() if k.startswith("leg")]
    return Score(
        _rms(averaged.rate),
        _rms(averaged.error[:, 3:]),
        _rms(turned[:, :2]),
        _rms(averaged.error[:, :3]),
        float(np.linalg.norm(averaged.error[-1, :3]) / path),
        float(np.mean(legs)),
    )


@dataclass(frozen=True)
class _Averages:
    """Errors (k, 6) averaged over `AVERAGE`, rate of the position error between them (k - 1, 3)."""

    error: np.ndarray
    rate: np.ndarray
    first: np.ndarray
    count: int

    def rotation(self, rotations: np.ndarray) -> np.ndarray:
        """Rotation in the middle of each average."""
        return rotations[self.first + self.count // 2]


def _averaged(times: np.ndarray, error: np.ndarray, wanted: np.ndarray) -> _Averages:
    count = max(1, round(AVERAGE / float(np.median(np.diff(times)))))
    first = np.flatnonzero(wanted)[0] + count * np.arange(wanted.sum() // count)
    rows = first[:, None] + np.arange(count)
    mean = error[rows].mean(axis=1)
    rate = np.diff(mean[:, :3], axis=0) / np.diff(times[rows].mean(axis=1))[:, None]
    return _Averages(mean, rate, first, count)


def _rms(error: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.sum(error**2, axis=1))))
