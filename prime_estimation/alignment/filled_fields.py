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
    later, as those of a driver that was started anew, or in one joint alone, count so once a joint
    has gone DRIVEN since; torques do not, for motors may be switched off.

    Args:
        counts: samples whose field is left out are counted here.

    Attributes:
        dead: (nj,) joints that have gone DRIVEN while their rate was zero, and still is; None where
            there are none.
    """

    def __init__(self, counts: Counter):
        self._counts = counts
        self._live = {"rate": False, "torque": False}
        self._first: np.ndarray | None = None
        self._way = 0.0  # rad, of the joint that has gone furthest
        self._away = 0.0  # rad, in the sample before: one alone is a glitch
        self._position: np.ndarray | None = None  # of the newest sample
        self.dead: np.ndarray | None = None
        # (nj,) where rates became zero, NaN of those that are not; and how far from there [rad]
        # the joints were in the sample before
        self._silent = self._since = np.empty(0)

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
        """Whether a rate has been zero while its joint went DRIVEN."""
        here = self._position
        if rate.all() or here is None or not np.isfinite(here).all():
            self.dead, self._silent = None, np.empty(0)
            return False
        if not len(self._silent):
            self._silent, self._since = np.full(len(rate), np.nan), np.zeros(len(rate))
        zero = rate == 0.0
        self._silent = np.where(zero, np.where(np.isnan(self._silent), here, self._silent), np.nan)
        # readings of continuous joints begin anew after a turn
        gone = np.abs(np.mod(here - self._silent + np.pi, 2.0 * np.pi) - np.pi)
        died = np.minimum(gone, self._since) > DRIVEN
        self._since = np.where(zero, gone, 0.0)
        dead = died if self.dead is None else died | (self.dead & zero)
        self.dead = dead if dead.any() else None
        return self.dead is not None
