# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""External wrench on the base, apart from ground contact, gravity and load."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..types import ExternalWrench
from .window import Window

SPAN = 5  # nodes over which the median is taken; a push that lasts for half of them shows
NEWEST = 1  # nodes at the head that are left out: no measurement after them tells their force


def external_wrench(window: Window) -> ExternalWrench | None:
    """Median of the base's disturbances over a few smoothed nodes: removes impacts, keeps edges.

    With w_k the wrench that the dynamics of node k need in addition to ground, gravity and inertia:

        w = median(w_1 .. w_n),   P = pi/(2 n) (Q + mean (w_k - w)^2)

    which is the variance of a median of n normal values that spread as the model says, and as they
    do spread. Stamped at the middle node.

    Returns:
        None with a fixed base, in a window that is too short, and where no torque is measured:
        ground and pushes are then not told apart.
    """
    problem, size = window.problem, window.size
    first = size - NEWEST - SPAN
    if not problem.floating or first < 0:
        return None
    nodes = slice(first, first + SPAN)
    if not all(given.weighed for given in window.inputs[nodes]):
        return None
    noise = problem.config.noise
    stddev = [noise.base_force] * 3 + [noise.base_moment] * 3
    median, covariance = median_of(window.unexplained(nodes)[:, :6], stddev)
    return ExternalWrench(
        stamp_ns=window.stamps[first + SPAN // 2],
        force_base=median[:3],
        moment_base=median[3:],
        covariance=covariance,
    )


def median_of(values: np.ndarray, stddev: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    """Median (k,) of the rows of (n, k) and its covariance (k, k).

    Args:
        values: one row per node.
        stddev: (k,) of a row, as the model says.
    """
    n, k = values.shape
    median, share, variances = median_row(values), math.pi / (2 * n), []
    for column, middle, expected in zip(values.T.tolist(), median, stddev):
        spread = sum([(value - middle) * (value - middle) for value in column]) / n
        variances.append(share * (expected * expected + spread))
    covariance = np.zeros((k, k))
    covariance.reshape(-1)[:: k + 1] = variances
    return np.array(median), covariance


def median_row(values: np.ndarray) -> list[float]:
    """Median (k) of a few rows (n, k), for which np.median takes ten times as long."""
    n, ordered = len(values), [sorted(column) for column in values.T.tolist()]
    return [0.5 * (column[(n - 1) // 2] + column[n // 2]) for column in ordered]
