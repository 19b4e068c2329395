# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Streams for controllers: from estimates and, between or behind them, predicted from sensors."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..types import Estimate, Measurement

# s by which odometry is predicted beyond the last estimate: velocities of walking robots are then
# off by 20 to 27 mm/s; after that, silence makes a controller brake
PREDICTED_S = 0.25
_EARLY_NS = 1000  # of a sample, due to the rounding of stamps
_LATE = 1.5  # steps behind the readings, from which on an estimate is late


class _Stream(ABC):
    """Publishes messages of two threads (solver, callbacks) with increasing stamps.

    Args:
        send: publishes a message.
        message: makes one from an estimate.
    """

    def __init__(self, send: Callable, message: Callable[[Estimate], object]):
        self._send, self._message = send, message
        self._lock = threading.Lock()
        self.forget()

    def forget(self) -> None:
        """Stamps may begin before those of the past.

        A recording that is played once more, a clock that was set.
        """
        with self._lock:
            self._sent_ns = 0
            self._forget()

    @abstractmethod
    def _forget(self) -> None:
        """Begin with nothing known; called before the first use, too."""

    def _publish(self, estimate: Estimate, message=None) -> None:
        if estimate.stamp_ns > self._sent_ns:
            self._sent_ns = estimate.stamp_ns
            self._send(message or self._message(estimate))


class OdometryStream(_Stream):
    """Odometry at the rate of the IMU: estimates, and predictions from the last one.

    Args:
        send: publishes a nav_msgs/Odometry.
        message: makes one from an estimate.
        rate: of the predicted ones at most [Hz].
    """

    def __init__(self, send: Callable, message: Callable[[Estimate], object], rate: float):
        self._period_ns = 1e9 / rate - _EARLY_NS
        super().__init__(send, message)

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
                and estimate.stamp_ns - self._estimate_ns < 1e9 * PREDICTED_S
            )
            if near and estimate.stamp_ns - self._sent_ns >= self._period_ns:
                self._publish(estimate)

    def _forget(self) -> None:
        self._estimate_ns: int | None = None


class JointStream(_Stream):
    """Joint states at the rate of the nodes: from estimates or, while these are late, encoders.

        q(t) = q_e + z(t) - z(t_e),   rates: mean of the readings over the last step,

    with the readings z at the nodes and the last estimate (t_e, q_e), which contains the zeros of
    the encoders. Torques are then the measured ones. A restart of the estimator has no effect.

    Args:
        send: publishes a sensor_msgs/JointState.
        message: makes one from an estimate.
        step: between nodes [s].
        backlog: nodes that wait for the solver at most; as many may be in its hands.
    """

    def __init__(
        self, send: Callable, message: Callable[[Estimate], object], step: float, backlog: int
    ):
        self._late_ns, self._kept = 1e9 * _LATE * step, 2 * backlog + 1
        super().__init__(send, message)

    def estimated(self, estimate: Estimate, message) -> None:
        """An estimate came, and its joint states."""
        with self._lock:
            at = next((m for m in reversed(self._read) if m.stamp_ns == estimate.stamp_ns), None)
            if at is not None:
                self._estimate, self._zeros = estimate, estimate.joint_position - _positions(at)
            self._publish(estimate, message)

    def measured(self, m: Measurement) -> None:
        """The readings at a node have come, before its estimate."""
        if m.position is None:
            return
        with self._lock:
            before = self._read[-1] if self._read else None
            self._read.append(m)
            if self._estimate is None or before is None:
                return
            if m.stamp_ns - self._estimate.stamp_ns > self._late_ns:
                self._publish(self._told(m, before))

    def _told(self, m: Measurement, before: Measurement) -> Estimate:
        q, rate, torque = _positions(m), m.velocity, m.torque
        if rate is None:
            rate = (q - _positions(before)) / (1e-9 * (m.stamp_ns - before.stamp_ns))
        return replace(
            self._estimate,
            stamp_ns=m.stamp_ns,
            joint_position=q + self._zeros,
            joint_velocity=rate,
            joint_torque=np.zeros(0) if torque is None else torque,
        )

    def _forget(self) -> None:
        self._read: deque[Measurement] = deque(maxlen=self._kept)
        self._estimate: Estimate | None = None


def _positions(m: Measurement) -> np.ndarray:
    """(nj,) at the node, from all readings of the step where there are rates."""
    return m.position if m.position_carried is None else m.position_carried
