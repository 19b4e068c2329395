# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Odometry at the rate of the IMU, from estimates and from what the IMU makes of the last one."""

from __future__ import annotations

import threading
from collections.abc import Callable

from ..types import Estimate

_PREDICTED_S = 0.1  # by how much the IMU may carry odometry beyond the last estimate
_EARLY_NS = 1000  # of a sample, due to the rounding of stamps


class OdometryStream:
    """Publishes odometry of two threads (solver, callbacks) with stamps that never go back.

    Args:
        send: publishes a nav_msgs/Odometry.
        message: makes one from an estimate.
        rate: of the predicted ones at most [Hz].
    """

    def __init__(self, send: Callable, message: Callable[[Estimate], object], rate: float):
        self._send, self._message, self._period_ns = send, message, 1e9 / rate - _EARLY_NS
        self._lock = threading.Lock()
        self._estimate_ns: int | None = None
        self._sent_ns = 0

    def estimated(self, estimate: Estimate, message) -> None:
        """An estimate came, and its odometry."""
        with self._lock:
            self._estimate_ns = estimate.stamp_ns
            self._publish(estimate, message)

    def predicted(self, estimate: Estimate | None) -> None:
        """The last estimate, carried on to a sample of the IMU.

        None when there is nothing to carry.
        """
        if estimate is None:
            return
        with self._lock:
            # while the solver catches up, the last estimate lies too far back to be carried to now
            near = (
                self._estimate_ns is not None
                and estimate.stamp_ns - self._estimate_ns < 1e9 * _PREDICTED_S
            )
            if near and estimate.stamp_ns - self._sent_ns >= self._period_ns:
                self._publish(estimate)

    def forget(self) -> None:
        """Stamps may begin before those of the past.

        A recording that is played once more, a clock that was set.
        """
        with self._lock:
            self._estimate_ns, self._sent_ns = None, 0

    def _publish(self, estimate: Estimate, message=None) -> None:
        if estimate.stamp_ns > self._sent_ns:
            self._sent_ns = estimate.stamp_ns
            self._send(message or self._message(estimate))
