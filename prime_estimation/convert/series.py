# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Readings of one sensor: stamps, values in SI, and what was left out of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from ..errors import DataError
from .clocks import on_times
from .held import fresh_rows
from .mapping import Columns, Held, Rotation
from .tables import Table

_LOST = 0.1  # share of the torques that may go with held positions, without a word


@dataclass
class Series:
    """Readings of one sensor.

    Attributes:
        topic: joint_states, joint_commands, imu, mocap/pose, foot_force or contacts.
        times: (n,) [s], increasing.
        values: fields of the message by name, (n, k) each.
        left_out: rows that do not go on, by reason.
        notes: what the user should know, a line each.
    """

    topic: str
    times: np.ndarray
    values: dict[str, np.ndarray]
    left_out: Counter = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """Readings per second, on the average [Hz]."""
        return (len(self.times) - 1) / max(float(self.times[-1] - self.times[0]), 1e-9)

    def keep(self, rows: np.ndarray, reason: str) -> None:
        """Leave out the rows that are False, and count them.

        Raises:
            DataError: nothing is left.
        """
        if rows.all():
            return
        self.left_out[reason] += int((~rows).sum())
        if not rows.any():
            raise DataError(f"{self.topic}: no row is left, all are {reason}", self)
        self.times = self.times[rows]
        self.values = {name: value[rows] for name, value in self.values.items()}

    def keep_fresh(self, held: Held, fields: tuple[str, ...]) -> None:
        """Leave out rows in which none of the fields was read anew."""
        if not held.drop:
            return
        values = np.hstack([self.values[name] for name in fields if name in self.values])
        fresh = fresh_rows(values, self.times, held.longest)
        effort = self.values.get("effort") if "effort" not in fields else None
        if effort is not None and not fresh.all():
            own = fresh_rows(effort, self.times, np.inf)
            lost = int((own & ~fresh).sum())
            if lost > _LOST * own.sum():
                self.notes.append(
                    f"{self.topic}: {lost} of {own.sum()} readings of the effort stand in rows "
                    "that repeat the positions, and are left out: map it as joints.command"
                )
        self.keep(fresh, "held")


class Rows:
    """Columns of a section of the mapping, on the rows of its file.

    Args:
        tables: files of the log by name.
        times: by file, stamps [s] of the rows that have one, and which rows those are.
        file: of the section.
        section: its name in messages.
    """

    def __init__(self, tables: dict[str, Table], times: dict, file: str, section: str):
        self._tables, self._times, self._file, self._section = tables, times, file, section
        self.times: np.ndarray = times[file][0]

    def quantity(self, part: Columns, count: int, unit_kind: str, name: str) -> np.ndarray:
        """(n, count) columns in SI."""
        file = part.file or self._file
        what = f"{self._section}.{name}"
        return self._here(file, self._tables[file].quantity(part, count, unit_kind, what))

    def rotation(self, part: Rotation, name: str) -> np.ndarray:
        """(n, 4) quaternions xyzw."""
        file = part.file or self._file
        quat = self._tables[file].rotation(part, f"{self._section}.{name}")
        quat = self._here(file, quat if file == self._file else without_leaps(quat))
        return quat / np.linalg.norm(quat, axis=1, keepdims=True)

    def _here(self, file: str, values: np.ndarray) -> np.ndarray:
        times, stamped = self._times[file]
        if file == self._file:
            return values[stamped]
        return on_times(self.times, times, values[stamped])


def without_leaps(quat: np.ndarray) -> np.ndarray:
    """Quaternions (n, 4) with the signs at which none is far from the one before: q and -q are one.

    Between a quaternion and its negative there is nothing to interpolate.
    """
    known = np.isfinite(quat).all(axis=1)
    told = quat[known]
    turns = np.concatenate([[1.0], np.where((told[1:] * told[:-1]).sum(axis=1) < 0.0, -1.0, 1.0)])
    out = quat.copy()
    out[known] = told * np.cumprod(turns)[: len(told), None]
    return out


def without_garbage(series: Series, limits: dict[str, float]) -> None:
    """Leave out rows that are not finite, or larger than the limit of a field (0: none)."""
    finite = [np.isfinite(value).all(axis=1) for value in series.values.values()]
    series.keep(np.logical_and.reduce(finite), "not finite")
    for name, limit in limits.items():
        if limit > 0.0:
            series.keep((np.abs(series.values[name]) <= limit).all(axis=1), f"{name} beyond limit")
