# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Noise levels of the moving-horizon estimator, by the likelihood of its innovations.

The likelihood of all readings, states and parameters integrated out, has the derivative

    d log p / d log s_L^2 = 1/2 sum_i a_iL (r_i^2 - seen_i)

by the level `s_L` whose share in the variance of row i is `a_iL`; `r_i` is the whitened residual of
the full-information optimum, and `seen_i = 1 - (H P H^T)_ii` by its posterior covariance P. It is
zero where each level is that of its residuals. Multiplying `s_L^2` by the ratio of the two sums is
the estimate of variance components of Foerstner (1979), which keeps levels positive and has the
fixed points of expectation-maximization.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from ..config.parameters import Config, NoiseConfig
from .window_segment import LevelStatistics, look
from .workers import DaskWorkers, Here, never, silent

SENSORS = "encoder", "joint_velocity", "joint_torque", "gyro", "accelerometer"
# These only grow: a walk without pushes or slips does not say that the next one has none.
DISTURBANCES = "base_force", "base_moment"
# The rest is held: parts of a variance that these cannot be told from (models of accelerometer and
# joints, what lies between samples), contacts, tails, random walks.
LEVELS = (*SENSORS, *DISTURBANCES)
PRIOR = 0.5  # standard deviation of a level's logarithm about the shipped one
TOLD = 0.2  # standard deviation of a level's logarithm that the data tell, at most
SIGNIFICANT = 3.0  # standard deviations
SHARE = 0.75  # of the variance of the rows that tell it, which a level must have to be lowered
SEEN = 0.45  # of that variance, which other readings must tell then
SETTLED = 0.01  # of a level's logarithm
LARGEST_STEP = np.log(1.6)  # of a level's logarithm


@dataclass(frozen=True)
class LevelStep:
    """One iteration: levels by name, largest relative change that followed."""

    levels: dict[str, float]
    change: float


@dataclass(frozen=True)
class CalibratedLevels:
    """Result.

    Attributes:
        shipped, found: levels by name.
        stddev: of the logarithms of the found ones.
        history: one entry per iteration.
        converged: no level moved any more.
        held: levels that the data would lower, which tell too little of them for that.
    """

    shipped: dict[str, float]
    found: dict[str, float]
    stddev: dict[str, float]
    history: list[LevelStep]
    converged: bool
    held: frozenset[str] = frozenset()

    def observable(self, name: str) -> bool:
        """The data tell the level, and not only that it is no larger."""
        return bool(self.stddev[name] < TOLD and name not in self.held)


def calibrate_levels(
    segments: list,
    config: Config,
    crew: Here | DaskWorkers,
    iterations: int = 20,
    start: Mapping[str, float] | None = None,
    stop: Callable[[], bool] = never,
    progress: Callable[[float], None] = silent,
    keep: Callable[[dict[str, float]], None] = lambda levels: None,
) -> CalibratedLevels:
    """Levels with which recordings are likeliest, with a weak pull towards the configured ones.

    Args:
        segments: `WindowSegment` of each recording.
        config: shipped levels.
        crew: who computes the recordings' parts.
        iterations: at most.
        start: levels to begin with, other than the shipped.
        stop: ends it and keeps the last iterate.
        progress: takes the fraction done.
        keep: takes the levels of every iterate.
    """
    shipped = {name: float(getattr(config.noise, name)) for name in LEVELS}
    levels, history, converged = dict(start or shipped), [], False
    statistics = None
    for i in range(iterations):
        progress(i / iterations)
        found = crew.map(look, segments, [levels] * len(segments))
        statistics, segments = sum_of([f[0] for f in found]), [f[1] for f in found]
        step = _step(statistics, levels, shipped)
        history.append(LevelStep(levels, float(np.max(np.abs(step)))))
        converged = bool(history[-1].change < SETTLED)
        if converged or stop():
            break
        levels = {k: _within(k, s * float(np.exp(d))) for (k, s), d in zip(levels.items(), step)}
        keep(levels)
    progress(1.0)
    stddev = dict(zip(levels, map(float, _stddev(statistics))))
    held = frozenset(name for name, there in zip(levels, _held(statistics)) if there)
    return CalibratedLevels(shipped, levels, stddev, history, converged, held)


def sum_of(statistics: list[LevelStatistics]) -> LevelStatistics:
    """Of all recordings."""
    total = statistics[0]
    for other in statistics[1:]:
        total = total + other
    return total


def _step(
    statistics: LevelStatistics, levels: Mapping[str, float], shipped: Mapping[str, float]
) -> np.ndarray:
    """(l,) change of the levels' logarithms; the prior holds what the data do not tell."""
    pull = np.array([np.log(level / shipped[name]) for name, level in levels.items()]) / PRIOR**2
    expected = statistics.seen + np.maximum(pull, 0.0)
    ratio = (statistics.squares + np.maximum(-pull, 0.0)) / np.maximum(expected, 1e-9)
    step = np.clip(0.5 * np.log(np.maximum(ratio, 1e-9)), -LARGEST_STEP, LARGEST_STEP)
    least = [np.log(shipped[k] / s) if k in DISTURBANCES else -np.inf for k, s in levels.items()]
    return np.where(_told(statistics), np.maximum(step, least), 0.0)


def _told(statistics: LevelStatistics) -> np.ndarray:
    """(l,) bool: levels that the data tell, or that residuals are too large for."""
    spread = np.sqrt(2.0 * np.diag(statistics.information))
    too_low = statistics.squares - statistics.seen > SIGNIFICANT * spread
    tells = (statistics.share > SHARE) & (statistics.seen > SEEN * statistics.shares)
    return too_low | (tells & (_stddev(statistics) < TOLD))


def _held(statistics: LevelStatistics) -> np.ndarray:
    """(l,) bool: levels that a step of Fisher's scoring would lower by more than `TOLD`.

    Unlike the ratio of the sums it does not shrink with what the readings tell.
    """
    information = np.maximum(np.diag(statistics.information), 1e-9)
    return 0.5 * (statistics.squares - statistics.seen) / information < -TOLD


def _within(name: str, level: float) -> float:
    """The level in the range that the parameter is declared with."""
    bounds = NoiseConfig.__dataclass_fields__[name].metadata
    return min(max(level, bounds["low"]), bounds["high"])


def _stddev(statistics: LevelStatistics) -> np.ndarray:
    """(l,) of the logarithms of the levels.

    Residuals of consecutive nodes are taken to be independent.
    """
    information = 2.0 * statistics.information + np.eye(len(statistics.seen)) / PRIOR**2
    return np.sqrt(np.diag(np.linalg.inv(information)))
