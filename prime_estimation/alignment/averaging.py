# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Torques of the motors between their samples.

They follow a trend, and jump where the controller sets all of them anew.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

# a change is a jump where it leaves the trend by so many times the median change, all joints
# together
JUMP = 2.0


def early(relative_ns: np.ndarray, rows: np.ndarray, step_ns: int) -> np.ndarray:
    """What the mean of a linear interpolation contains of jumps that have not happened yet.

    To be taken off that mean.

    A torque that is set anew holds until then, so a jump that the sample at t_k+1 shows happens
    there; the straight line from t_k on anticipates half of it. On walking quadrupeds the push of a
    leg grows while a target holds, and most jumps take some of it away: the anticipated halves add
    up to 0.1 to 0.2 % of the weight.

    Args:
        relative_ns: (n,) int64 stamps of the samples, less that of the node.
        rows: (n, nj) samples [Nm].
        step_ns: between nodes; the mean is that with the triangle over the last two steps
            (`stream.linear_weights`).
    """
    return early_weights(relative_ns.tobytes(), step_ns) @ jumps(relative_ns, rows)


def jumps(relative_ns: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Jumps (n - 1, nj) between samples [Nm]; zero where there is none.

    The trend is the median slope of three neighbouring intervals, which one jump does not move. A
    jump is told from noise by all columns together, for a controller sets the torques of all motors
    at once; in a single one it may well drown.
    """
    between = np.diff(relative_ns)[:, None].astype(float)
    change = np.diff(rows, axis=0)
    slope = change / between
    padded = np.concatenate([slope[:1], slope, slope[-1:]])
    jump = change - between * np.sort([padded[:-2], slope, padded[2:]], axis=0)[1]
    usual = np.sort(np.linalg.norm(change, axis=1))[len(change) // 2]
    jump[np.linalg.norm(jump, axis=1) <= JUMP * usual] = 0.0
    return jump


@lru_cache(maxsize=64)
def early_weights(relative_ns: bytes, step_ns: int) -> np.ndarray:
    """Share (n - 1,) of a jump between two samples that the mean of the linear interpolation anticipates.

    With C the integral of the triangle on [-2, 0] (in steps, the node at 0): 1 - mean of C over the
    interval by the line, 1 - C at its end by the jump.
    """
    x = np.frombuffer(relative_ns, np.int64) / step_ns
    p2, p1, p0 = np.maximum(x + 2.0, 0.0), np.maximum(x + 1.0, 0.0), np.maximum(x, 0.0)
    integral = p2**2 / 2.0 - p1**2 + p0**2 / 2.0
    share = integral[1:] - np.diff(p2**3 - 2.0 * p1**3 + p0**3) / (6.0 * np.diff(x))
    share.setflags(write=False)
    return share
