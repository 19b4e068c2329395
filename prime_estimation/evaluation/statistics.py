# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Statistics that all figures share: RMS, means over time, and how well stated deviations hold."""

from __future__ import annotations

import numpy as np

from ..errors import DataError
from ..io.messages import stamp_ns

NODE = 0.010  # s, span of the mean joint rate, and half width of the triangular mean of a force
# s, span of the force average that does not see the timing of an impact inside a node
SMOOTH = 0.040
HALF_WIDTH_95 = 1.96  # standard deviations to both sides of a 95 % interval
SECOND = 1.0  # s, over which the worst RMS is taken
STRIDE = 0.1  # s, between the beginnings of such spans


def times(messages: list, start_ns: int) -> np.ndarray:
    """Stamps of messages [s] from `start_ns`."""
    return np.array([stamp_ns(m.header) - start_ns for m in messages]) * 1e-9


def settled(
    t: np.ndarray, t_true: np.ndarray, settle: float, begins: float | None = None
) -> np.ndarray:
    """(n,) bool: times with a truth, later than `settle` after it and the estimate began.

    Args:
        t: times of the estimate, or of a sensor [s].
        t_true: those of the truth [s].
        settle: seconds that are left out.
        begins: time at which the estimate does [s]; None: t is its own.
    """
    return (t > max(t[0] if begins is None else begins, t_true[0]) + settle) & (t < t_true[-1])


def check_overlap(t: np.ndarray, what: str, settle: float) -> None:
    """DataError where hardly any sample has a truth."""
    if len(t) < 10:
        raise DataError(
            f"only {len(t)} {what} samples overlap the ground truth after {settle:g} s: "
            "is the estimate longer than that, and are these bags of the same run?",
            len(t),
        )


def xyz(v) -> list[float]:
    """Components of a message with x, y, z."""
    return [v.x, v.y, v.z]


def at(t_query: np.ndarray, t: np.ndarray, x: np.ndarray) -> np.ndarray:
    """(n, k) columns of x, given at the times t, interpolated to `t_query`."""
    return np.stack([np.interp(t_query, t, column) for column in x.T], axis=1)


def rms(x: np.ndarray) -> float:
    """Root of the mean squared norm of the rows."""
    return float(np.sqrt(np.mean(np.sum(x**2, axis=1))))


def worst_second(t: np.ndarray, squares: np.ndarray) -> float:
    """Largest RMS over any second of errors whose squared norms are given at the times t.

    A shorter record has one RMS only; seconds of a gap, without any error, have none.
    """
    begins = np.arange(t[0], t[-1] - SECOND + 1e-9, STRIDE)
    seconds = [squares[(t >= a) & (t < a + SECOND)] for a in begins]
    means = [np.mean(second) for second in seconds if len(second)]
    return float(np.sqrt(max(means, default=np.mean(squares))))


def nees(error: np.ndarray, covariance: np.ndarray) -> float | None:
    """Normalized estimation error squared: mean of `e^T P^-1 e`; the size of e if P is right.

    Over the samples with a positive definite covariance; None without any.
    """
    good = np.isfinite(covariance).all(axis=(1, 2))
    good[good] = np.linalg.eigvalsh(covariance[good])[:, 0] > 0
    if not good.any():
        return None
    weighted = np.linalg.solve(covariance[good], error[good][:, :, None])[:, :, 0]
    return float(np.mean(np.sum(error[good] * weighted, axis=1)))


def coverage95(error: np.ndarray, covariance: np.ndarray) -> float | None:
    """Share of the components (n, k) of an error inside the 95 % interval that (n, k, k) states.

    Over the samples with a finite covariance; None without any.
    """
    variance = np.diagonal(covariance, axis1=1, axis2=2)
    good = np.isfinite(variance).all(axis=1)
    if not good.any():
        return None
    stddev = np.sqrt(np.maximum(variance[good], 0.0))
    return float(np.mean(np.abs(error[good]) <= HALF_WIDTH_95 * stddev))


def centred_mean(t: np.ndarray, x: np.ndarray, span: float, triangular: bool = False) -> np.ndarray:
    """Mean of uniformly sampled x over `span` seconds around each sample, flat or triangular."""
    # half a sample rounds up, whatever the noise of the stamps
    half = max(1, int(0.5 * span / np.median(np.diff(t)) + 0.5 + 1e-6))
    weights = half - np.abs(np.arange(1 - half, half)) if triangular else np.ones(2 * half + 1)
    norm = np.convolve(np.ones(len(x)), weights, "same")
    return np.stack([np.convolve(column, weights, "same") / norm for column in x.T], axis=1)
