# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Recording of a fixed-base machine: joint positions and torques (or control signals)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..errors import DataError

SHORTEST = 10  # samples


@dataclass(frozen=True)
class JointRecording:
    """Joint positions and torques of one run.

    Attributes:
        time: (m,) s, increasing; steps may differ.
        position: (m, nj) rad; a column of NaN where no sensor is.
        torque: (m, nj) Nm at the joints, zero where no motor is. With a gain that is a parameter,
            the control signal in its own unit.
        rate: (m, nj) rad/s of gyroscopes and tachometers; a column of NaN where none is. None:
            nowhere.

    Raises:
        DataError: shapes do not fit, time does not increase, too few samples, or some that are no
            numbers.
    """

    time: np.ndarray
    position: np.ndarray
    torque: np.ndarray
    rate: np.ndarray | None = None

    def __post_init__(self):
        if len(self.time) < SHORTEST or not np.all(np.diff(self.time) > 0.0):
            raise DataError(
                f"a recording needs at least {SHORTEST} samples at increasing times, got "
                f"{len(self.time)}; sort it, or choose a longer part of it"
            )
        sensors = ("position", *(("rate",) if self.rate is not None else ()))
        for name in ("torque", *sensors):
            shape = getattr(self, name).shape
            if len(shape) != 2 or shape[0] != len(self.time):
                raise DataError(
                    f"{name} has shape {shape}, expected one row for each of {len(self.time)} times"
                )
        if not np.isfinite(self.torque).all():
            raise DataError("a torque is not finite; leave out the rows without torque")
        for name in sensors:
            missing = np.sum(~np.isfinite(getattr(self, name)), axis=0)
            holed = np.flatnonzero((missing > 0) & (missing < len(self.time)))
            if len(holed):
                raise DataError(
                    f"{name}, column {holed[0]}, is not finite in {missing[holed[0]]} of "
                    f"{len(self.time)} rows; leave out these rows, or all of the column where no "
                    "sensor is"
                )

    @cached_property
    def measured(self) -> np.ndarray:
        """Indices of the joints whose position is measured."""
        return np.flatnonzero(np.isfinite(self.position).all(axis=0))

    @cached_property
    def gauged(self) -> np.ndarray:
        """Indices of the joints whose rate is measured."""
        if self.rate is None:
            return np.zeros(0, int)
        return np.flatnonzero(np.isfinite(self.rate).all(axis=0))

    @cached_property
    def _impulse(self) -> np.ndarray:
        steps = np.diff(self.time)[:, None]
        area = 0.5 * steps * (self.torque[1:] + self.torque[:-1])
        return np.vstack([np.zeros(self.torque.shape[1]), np.cumsum(area, axis=0)])

    def mean_torque(
        self, times: np.ndarray, width: float, delay: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Torque averaged over `width` about times - delay, and its derivative by the delay.

        Both (n, nj); linear between samples, constant beyond the first and the last.
        """
        after, rate_after = self._impulse_until(times + 0.5 * width - delay)
        before, rate_before = self._impulse_until(times - 0.5 * width - delay)
        return (after - before) / width, (rate_before - rate_after) / width

    def _impulse_until(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Integral of the torque from the first sample on, and the torque."""
        i = np.clip(np.searchsorted(self.time, times) - 1, 0, len(self.time) - 2)
        span = (self.time[i + 1] - self.time[i])[:, None]
        into = (times - self.time[i])[:, None]
        inside = np.clip(into, 0.0, span)
        slope = (self.torque[i + 1] - self.torque[i]) / span
        torque = self.torque[i] + slope * inside
        area = (self.torque[i] + 0.5 * slope * inside) * inside + torque * (into - inside)
        return self._impulse[i] + area, torque
