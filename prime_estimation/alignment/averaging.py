# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Averages of samples against a node's kernels; zero-order-hold correction of torques."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

# a change is a jump where it leaves the trend by so many times the median change, all joints
# together
JUMP = 2.0
# share of the longest interval but one, below which samples come together and tell no trend
TOGETHER = 0.5
# The shares `noise.*_sampling` are those of samples no further apart than this [ns]. Further apart
# a straight line misses a larger share: of simulated quadrupeds' steps at 100 Hz four to six times
# as large a one, at 50 Hz hardly more.
APART_NS, MOST_APART = 2_500_000, 6.0
# Beyond the first of these intervals [ns] impacts may come and go unseen, beyond the other all do.
UNSEEN_NS, ALL_UNSEEN_NS = 10_000_000, 20_000_000


def hold_correction(relative_ns: np.ndarray, rows: np.ndarray, step_ns: int) -> np.ndarray:
    """Part of the mean of a linear interpolation that jumps contribute before they happen.

    To be taken off that mean.

    A torque that is set anew holds until then, so a jump that the sample at t_k+1 shows happens
    there; the straight line from t_k on anticipates half of it. On walking quadrupeds the push of a
    leg grows while a target holds, and most jumps take some of it away: the anticipated halves add
    up to 0.1 to 0.2 % of the weight.

    Args:
        relative_ns: (n,) int64 stamps of the samples, less that of the node.
        rows: (n, nj) samples [Nm].
        step_ns: between nodes; the mean is that with the triangle over the last two steps
            (`linear_weights`).
    """
    return hold_correction_weights(relative_ns.tobytes(), step_ns) @ jumps(relative_ns, rows)


def jumps(relative_ns: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Jumps (n - 1, nj) between samples [Nm]; zero where there is none.

    The trend is the median slope of three neighbouring intervals, which one jump does not move. A
    jump is told from noise by all columns together, for a controller sets the torques of all motors
    at once; in a single one it may well drown. Samples that come together, by stamps of their
    arrival, are taken for further apart: their noise would be a trend of any size.
    """
    between = np.diff(relative_ns)[:, None].astype(float)
    change = np.diff(rows, axis=0)
    longest = np.sort(between, axis=0)[-2:][0]  # but one, which may be a gap
    slope = change / np.maximum(between, TOGETHER * longest)
    padded = np.concatenate([slope[:1], slope, slope[-1:]])
    jump = change - between * np.sort([padded[:-2], slope, padded[2:]], axis=0)[1]
    usual = np.sort(np.linalg.norm(change, axis=1))[len(change) // 2]
    jump[np.linalg.norm(jump, axis=1) <= JUMP * usual] = 0.0
    return jump


@lru_cache(maxsize=64)
def hold_correction_weights(relative_ns: bytes, step_ns: int) -> np.ndarray:
    """Share (n - 1,) of a jump between two samples that linear interpolation anticipates.

    With C the integral of the triangle on [-2, 0] (in steps, the node at 0): 1 - mean of C over the
    interval by the line, 1 - C at its end by the jump.
    """
    x = np.frombuffer(relative_ns, np.int64) / step_ns
    p2, p1, p0 = np.maximum(x + 2.0, 0.0), np.maximum(x + 1.0, 0.0), np.maximum(x, 0.0)
    integral = p2**2 / 2.0 - p1**2 + p0**2 / 2.0
    share = integral[1:] - np.diff(p2**3 - 2.0 * p1**3 + p0**3) / (6.0 * np.diff(x))
    share.setflags(write=False)
    return share


@lru_cache(maxsize=64)
def linear_weights(relative_ns: bytes, step_ns: int) -> tuple[np.ndarray, np.ndarray]:
    """Weights of samples whose piecewise linear interpolation is integrated against four kernels.

    With `x = t/step` and the node at 0: flat on [-1, 0], ramp `2 (x + 1)` on [-1, 0], triangle `1 -
    |x + 1|` on [-2, 0], and the value at 0. A hat function integrated against a kernel g is the
    second divided difference of any K with K'' = g, which is exact for any sample times; K is
    linear outside the kernel's support.

    Args:
        relative_ns: int64 stamps minus that of the node, increasing, the last at or after 0 (bytes:
            regular streams repeat them).
        step_ns: of the nodes.

    Returns:
        Weights (4, n), valid for kernels whose support begins at or after the first sample, and
        1/sum(w^2) of each (4,).
    """
    x = np.frombuffer(relative_ns, np.int64) / step_ns
    p2, p1, p0 = np.maximum(x + 2.0, 0.0), np.maximum(x + 1.0, 0.0), np.maximum(x, 0.0)
    flat = (p1**2 - p0**2) / 2.0
    ramp = (p1**3 - p0**3) / 3.0 - p0**2
    triangle = (p2**3 - 2.0 * p1**3 + p0**3) / 6.0
    slopes = np.diff(np.stack([flat, ramp, triangle, p0])) / np.diff(x)
    weights = np.zeros((4, len(x)))
    weights[:, :-1] += slopes
    weights[:, 1:] -= slopes
    weights[:, -1] += 1.0
    weights.setflags(write=False)
    return weights, 1.0 / np.sum(weights**2, axis=1)


@lru_cache(maxsize=64)
def hold_weights(relative_ns: bytes, step_ns: int) -> tuple[np.ndarray, float]:
    """Weights (n,) of samples that hold until the next, against the triangle on [-2, 0].

    Beside them 1/sum(w^2).
    """
    x = np.append(np.frombuffer(relative_ns, np.int64) / step_ns, 0.0)
    p2, p1 = np.maximum(x + 2.0, 0.0), np.maximum(x + 1.0, 0.0)
    weights = np.diff(p2**2 / 2.0 - p1**2)
    return weights, float(1.0 / np.sum(weights**2))


@lru_cache(maxsize=64)
def bend_weights(relative_ns: bytes) -> np.ndarray:
    """Weights (n,) of rates in what a straight line between positions is off at the node [s].

    Between two samples with the rates v_0 and v_1, at the share s of their distance T, it is off by
    `T s (1 - s) (v_1 - v_0) / 2` if the acceleration is constant.

    Args:
        relative_ns: stamps of the samples less that of the node, the last at or after 0, int64
            (bytes).
    """
    x = np.frombuffer(relative_ns, np.int64)
    weights, after = np.zeros(len(x)), int(np.searchsorted(x, 0))
    if after > 0:
        apart_ns = int(x[after] - x[after - 1])
        share = -int(x[after - 1]) / apart_ns
        off = 0.5e-9 * apart_ns * share * (1.0 - share)
        weights[after - 1 : after + 1] = -off, off
    weights.setflags(write=False)
    return weights


@lru_cache(maxsize=64)
def apart(relative_ns: bytes) -> np.ndarray:
    """Factor (n - 1, 1) on what is missed between samples, which grows with their distance.

    Args:
        relative_ns: stamps of the samples, int64 (bytes).
    """
    gaps = np.diff(np.frombuffer(relative_ns, np.int64))[:, None]
    factor = np.clip(gaps / APART_NS, 1.0, MOST_APART)
    factor.setflags(write=False)
    return factor


@lru_cache(maxsize=64)
def unseen(relative_ns: bytes) -> np.ndarray:
    """Factor (n - 1, 1) on usual changes between samples, that may come and go unseen between two.

    Two samples of an impact of 2 ms show a change; with 20 ms between them they may both be quiet.

    Args:
        relative_ns: stamps of the samples, int64 (bytes).
    """
    gaps = np.diff(np.frombuffer(relative_ns, np.int64))[:, None]
    share = np.clip((gaps - UNSEEN_NS) / (ALL_UNSEEN_NS - UNSEEN_NS), 0.0, 1.0)
    factor = share * np.sqrt(apart(relative_ns) ** 2 - 1.0)
    factor.setflags(write=False)
    return factor


def between_samples(
    rows: np.ndarray,
    weights: np.ndarray,
    lost: np.ndarray | float = 0.0,
    factor: np.ndarray | float = 1.0,
) -> np.ndarray:
    """How much a signal (n, width) changes between its samples, as a weighted mean sees it.

    `sqrt(sum w^2 ((f dy)^2 + lost^2))`, w that of the interval, f `factor` (n - 1, 1) (`apart`).

    What the signal does between two samples is only known to lie about them: an impact of 2 ms
    falls between samples at 500 Hz. What it does where samples are lost is not told by its ends:
    `lost` (n - 1, 1 or width) is how much it may change in each interval beside that.
    """
    between = 0.5 * (weights[1:] + weights[:-1])
    return np.sqrt(between**2 @ (np.square(factor * np.diff(rows, axis=0)) + np.square(lost)))
