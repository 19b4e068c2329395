# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Offsets of a machine from one recording."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np

from ..robot import Robot
from .mocap_factor import mocap_pose
from .noise import NoiseModel
from .offsets import Offsets
from .problem import KinematicProblem
from .recording import KinematicRecording
from .smoother import Smoothed, Start, smooth_robustly
from .systematic import systematic_shifts

LASTING = 0.5  # s, over which noise of motion capture averages out
OUTLIER = 5.0  # of the median size


@dataclass(frozen=True)
class RunCalibration:
    """Offsets from one recording.

    Attributes:
        name: of the recording. nodes: that it has.
        nominal: offsets that the prior is about. free: (k,) columns of the parameters estimated.
        prior: (k,) its information on them.
        result: what was found.
        shifts: (s, k) what each systematic cause does to the offsets, one standard deviation.
        seconds: the estimate took.
        lasting: mean square of the residuals of motion capture's positions over half a second, over
            what white noise of their size leaves: one and less where it fits.
    """

    name: str
    nodes: int
    nominal: Offsets
    free: np.ndarray
    prior: np.ndarray
    result: Smoothed
    shifts: np.ndarray
    seconds: float
    lasting: float

    @property
    def deviation(self) -> np.ndarray:
        """(k,) of the offsets from the prior's."""
        return self.result.offsets.values(self.nominal)[self.free]

    @property
    def information(self) -> np.ndarray:
        """(k, k) of the data alone."""
        return np.linalg.inv(self.result.covariance) - np.diag(self.prior)


def calibrate_run(
    recording: KinematicRecording,
    robot: Robot,
    nominal: Offsets,
    noise: NoiseModel,
    what: Collection[str],
    start: Start | None = None,
    stop: Callable[[], bool] = lambda: False,
    progress: Callable[[float], None] = lambda fraction: None,
) -> RunCalibration:
    """Estimate all states of a recording and the offsets of the groups named.

    Args:
        recording: its signals.
        robot: whose they are.
        noise: covariances.
        nominal: offsets that the prior is about.
        what: groups.
        start: iterate to go on from.
        stop: True keeps the last iterate.
        progress: takes the fraction done.
    """
    started = time.perf_counter()
    problem = KinematicProblem(robot, recording, nominal, noise, what)
    result = smooth_robustly(problem, stop, progress, start)
    shifts = systematic_shifts(problem, result)
    free, seconds = problem.free, time.perf_counter() - started
    prior = problem.prior[free]
    return RunCalibration(
        recording.name,
        len(recording),
        nominal,
        free,
        prior,
        result,
        shifts,
        seconds,
        _lasting(problem, result),
    )


def _lasting(problem: KinematicProblem, result: Smoothed) -> float:
    residual = mocap_pose(result.trajectory, problem.recording, result.offsets).residual[:, :3]
    # what is far out is held where outliers begin: a glitch is no lasting misfit
    size = np.median(np.abs(residual), axis=0) + 1e-12
    residual = np.clip(residual, -OUTLIER * size, OUTLIER * size)
    times = problem.recording.step * problem.recording.mocap.node
    parts = ((times - times[0]) / LASTING).astype(int)
    count = np.bincount(parts)
    sums = np.stack([np.bincount(parts, c) for c in residual.T], axis=1)[count > 0]
    expected = (count[count > 0, None] * np.mean(residual**2, axis=0)).sum()
    return float((sums**2).sum() / expected)
