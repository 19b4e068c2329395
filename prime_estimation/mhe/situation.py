# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Situation of a robot: assumptions about a node before it is solved."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Situation:
    """Assumptions about one node, decided before its window is solved.

    Attributes:
        suspended_since_ns: stamp from which on something other than the feet carries the robot;
            None: the feet carry it.
        hanging: suspended, and only the base is in contact, so that torques move the legs alone.
        landing: suspended, but the feet have begun to carry the robot again.
        inertia_held: the inertia is not estimated.
        resting: suspended, and the robot does not move.
        contradicted: contact forces of the last nodes contradict the torques of the legs.
            doubted: those of some nodes do. loaded: they seemed to, but the difference is a load
            that was put on or taken off.
        pushed: a horizontal force acts on the base. leaning: it is so weak that only its duration
            reveals it.
        unrest: standard deviation of the velocity of standing feet, when most of them move [m/s].
        restart: why the estimate must restart; empty if it continues.
    """

    suspended_since_ns: int | None = None
    hanging: bool = False
    landing: bool = False
    inertia_held: bool = False
    contradicted: bool = False
    doubted: bool = False
    loaded: bool = False
    restart: str = ""
    pushed: bool = False
    leaning: bool = False
    resting: bool = False
    unrest: float = 0.0

    @property
    def suspended(self) -> bool:
        """Whether something other than the feet carries the robot, with any force on its base."""
        return self.suspended_since_ns is not None

    def suspended_at(self, stamp_ns: int) -> bool:
        """The same, of the step that ends at a stamp."""
        return self.suspended and stamp_ns >= self.suspended_since_ns

    def holding(self, held: bool) -> Situation:
        """The same, with the inertia held or not."""
        return self.having(inertia_held=held)

    def having(self, **values: Any) -> Situation:
        """The same, with other values of these attributes; itself where it has them."""
        for name, value in values.items():
            if getattr(self, name) != value:
                return replace(self, **values)
        return self


ON_ITS_FEET = Situation()
