# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Means and changes of sampled signals between the nodes of a grid."""

from __future__ import annotations

import numpy as np


def mean(times: np.ndarray, values: np.ndarray, at: np.ndarray, width: float) -> np.ndarray:
    """Means (n, k) over `width` about each time of the linear interpolation of samples."""
    low, high = _integral(
        times, values, np.concatenate([at - 0.5 * width, at + 0.5 * width])
    ).reshape(2, len(at), -1)
    return (high - low) / width


def part_means(
    times: np.ndarray, values: np.ndarray, t: np.ndarray, step: float, parts: int
) -> np.ndarray:
    """Means (n - 1, parts, k) over equal parts of each step."""
    edges = t[:-1, None] + np.arange(parts + 1) * (step / parts)
    whole = _integral(times, values, edges.ravel()).reshape(len(t) - 1, parts + 1, -1)
    return np.diff(whole, axis=1) * (parts / step)


def changes(times: np.ndarray, values: np.ndarray, t: np.ndarray) -> np.ndarray:
    """(n - 1, k) root of the sum of squares of what samples change by, times their distance."""
    squares = (np.diff(values, axis=0) * np.diff(times)[:, None]) ** 2
    sums = np.concatenate([np.zeros((1, values.shape[1])), np.cumsum(squares, axis=0)])
    first = np.searchsorted(times, t)
    return np.sqrt(np.maximum(sums[first[1:]] - sums[first[:-1]], 0.0))


def white_noise(values: np.ndarray) -> np.ndarray:
    """(k,) standard deviations of the noise of samples (n, k), each by itself.

    From the median of third differences, in which motions that last for many samples vanish, and
    which impacts are too few to move: `|d| = 0.6745 sqrt(20) sigma` of white noise.
    """
    return np.median(np.abs(np.diff(values, 3, axis=0)), axis=0) / (0.6745 * np.sqrt(20.0))


def _integral(times: np.ndarray, values: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Integral (n, k) of the linear interpolation of samples from the first one to each time."""
    dt = np.diff(times)[:, None]
    sums = np.concatenate(
        [np.zeros((1, values.shape[1])), np.cumsum(0.5 * dt * (values[1:] + values[:-1]), axis=0)]
    )
    i = np.clip(np.searchsorted(times, at, "right") - 1, 0, len(times) - 2)
    x = (at - times[i])[:, None]
    slope = (values[i + 1] - values[i]) / (times[i + 1] - times[i])[:, None]
    return sums[i] + x * values[i] + 0.5 * x * x * slope
