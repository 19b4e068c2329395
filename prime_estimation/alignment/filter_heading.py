# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Heading of the IMU's own filter: how fast it turns, compared with the gyro over a while."""

from __future__ import annotations

from collections import Counter, deque

import numpy as np
import pinocchio as pin

from ..sensors.imu import vertical
from .node_window import NodeWindow

# s for which filter and gyro are compared: longer than lag and noise of a filter's readings last,
# shorter than a gyro's bias needs to turn the heading
COMPARED = 0.3
JUMP = 0.1  # rad in a node that are no turn: the filter has found another heading
# rad/s by which a gyro at rest may differ from its mean; of that mean, where nothing turns evenly
QUIET, SLOW = 0.06, 0.1
SMOOTHING = 0.02  # share of each node in that mean
LARGEST = 0.15  # rad/s by which a filter in the gyro's axes may differ; real logs: 0.07
REST, DRIFT = 3.0, 0.005  # s of rest, and rad by which a heading that stands may turn in it


class FilterHeading:
    """Rate about the vertical by the IMU's own filter, mean over the step that ends at a node.

    With `d = up^T (log(R_then^T R_now) / dt - omega_gyro)`, by which filter and gyro differ,

        r = up^T omega_gyro + mean of d over the last COMPARED seconds:

    from node to node the gyro's, whose readings have less noise and no lag; over seconds the
    filter's, which has taken out the gyro's bias. How the filter's world lies in ours does not
    matter. A heading that turns while the gyro is quiet is that of a filter which has not taken it
    out: it is not used (counted as `imu_heading_drifts`), nor is one that turns otherwise than any
    bias explains, as of quaternions in another order (`imu_heading_outlier`).

    Args:
        counts: reasons of refusal are incremented here.
    """

    def __init__(self, counts: Counter):
        self._counts = counts
        self.reset()

    def reset(self) -> None:
        """Forget all readings."""
        self._apart: deque[float] = deque()
        self._slow = np.zeros(3)  # gyro, smoothed
        self._quiet, self._turned, self._drifts = 0.0, 0.0, False  # s, rad at rest so far

    def rate(self, seen: NodeWindow, now: np.ndarray, gyro: np.ndarray) -> float | None:
        """Rate r at a node [rad/s]; None until filter and gyro have agreed for COMPARED seconds.

        Args:
            seen: IMU samples about the node; rows (10,) end with the quaternion.
            now: (4,) xyzw at the node.
            gyro: (3,) mean over the step that ends there [rad/s].
        """
        step, up = 1e-9 * seen.step_ns, vertical(now)
        if (turn := _turn(seen, now)) is None:
            return None
        by_filter, by_gyro = float(up @ turn) / step, float(up @ gyro)
        self._look_at_rest(by_filter, gyro, step)
        if abs(by_filter - by_gyro) * step > JUMP:
            self._apart.clear()
            return None
        self._apart.append(by_filter - by_gyro)
        if len(self._apart) < round(COMPARED / step):
            return None
        mean = sum(self._apart) / len(self._apart)
        self._apart.popleft()
        if abs(mean) > LARGEST:
            self._counts["imu_heading_outlier"] += 1
            return None
        return None if self._drifts else by_gyro + mean

    def _look_at_rest(self, by_filter: float, gyro: np.ndarray, step: float) -> None:
        """Find out, while the gyro is quiet, whether the filter's heading turns all the same."""
        self._slow += SMOOTHING * (gyro - self._slow)
        moves = np.abs(gyro - self._slow).max() > QUIET
        if moves or np.abs(self._slow).max() > SLOW:
            self._quiet = self._turned = 0.0
            return
        self._quiet += step
        self._turned += by_filter * step
        if self._quiet >= REST:
            self._drifts = abs(self._turned) > DRIFT
            self._counts["imu_heading_drifts"] += self._drifts
            self._quiet = self._turned = 0.0


def _turn(seen: NodeWindow, now: np.ndarray) -> np.ndarray | None:
    """(3,) rotation vector of the last step in IMU axes [rad]; None: not seen at its begin."""
    quats = seen.rows[:, 6:].T
    then = np.array([np.interp(-seen.step_ns, seen.stamps, part) for part in quats])
    if not np.isfinite(then).all():
        return None
    turn = pin.Quaternion(then / np.linalg.norm(then)).conjugate() * pin.Quaternion(now)
    return pin.log3(turn.toRotationMatrix())
