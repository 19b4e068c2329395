# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Filled fields: joint rates or torques that a driver without such readings fills with zeros."""

from __future__ import annotations

from collections import Counter

import numpy as np

MOVED = 0.002  # rad by which joints that do not move may differ
DRIVEN = 0.1  # rad by which motors that are off are not turned, but where somebody turns the legs


class FilledFields:
    """Detects rates and torques that have been zero in all joints since the beginning.

    They count as not measured once the joints have moved, until another value comes. Before that
    they may be true: the machine may rest, or hang with its motors off. Rates that become zero
    later, as those of a driver that was started anew, count so once a joint has gone DRIVEN since;
    torques do not, for motors may be switched off.

    Args:
        counts: samples whose field is left out are counted here.
    """

    def __init__(self, counts: Counter):
        self._counts = counts
        self._live = {"rate": False, "torque": False}
        self._first: np.ndarray | None = None
        self._way = 0.0  # rad, of the joint that has gone furthest
        self._away = 0.0  # rad, in the sample before: one alone is a glitch
        self._position: np.ndarray | None = None  # of the newest sample
        self._silent: np.ndarray | None = None  # where rates that had lived became zero
        self._since = 0.0  # rad, gone from there in the sample before

    def follow(self, position: np.ndarray | None) -> None:
        """See positions (nj,) [rad] of a sample, before its other fields."""
        self._position = position
        if position is None or self._way >= DRIVEN or not np.isfinite(position).all():
            return
        if self._first is None:
            self._first = np.array(position)
        away = float(np.abs(position - self._first).max())
        self._way, self._away = max(self._way, min(away, self._away)), away

    def rate(self, rate: np.ndarray | None) -> np.ndarray | None:
        """Joint rates (nj,), None where they are not measured."""
        if rate is not None and self._live["rate"] and self._died(rate):
            self._counts["joint_rate_zero"] += 1
            return None
        return self._told("rate", rate, MOVED)

    def torque(self, torque: np.ndarray | None) -> np.ndarray | None:
        """Torques (nj,), None where they are not measured."""
        return self._told("torque", torque, DRIVEN)

    def _told(self, name: str, field: np.ndarray | None, way: float) -> np.ndarray | None:
        if field is None or self._live[name]:
            return field
        self._live[name] = bool(np.any(field[np.isfinite(field)]))
        if self._live[name] or self._way < way:
            return field
        self._counts[f"joint_{name}_zero"] += 1
        return None

    def _died(self, rate: np.ndarray) -> bool:
        """Whether rates that had lived have been zero while a joint went DRIVEN."""
        if rate.any() or self._position is None or not np.isfinite(self._position).all():
            self._silent = None
            return False
        if self._silent is None:
            self._silent, self._since = np.array(self._position), 0.0
        before, self._since = self._since, float(np.abs(self._position - self._silent).max())
        return min(before, self._since) > DRIVEN
