# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Situation of a robot: who carries it, what holds, as assumed of a node before it is solved."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Situation:
    """Assumptions about one node, decided before its window is solved.

    Attributes:
        suspended_since_ns: from this stamp on something else than the feet carries the robot; None:
            they do.
        hanging: nothing but the base touches anything then, so that torques move the legs alone.
        landing: then the feet have begun to carry it again.
        inertia_held: the inertia is not estimated.
        resting: it does not move, wherever it hangs or lies.
        contradicted: contact forces of the last nodes are not those that the torques of the legs
            carry. doubted: those of some of them. loaded: they seemed to be, but what the legs
            carry more, or less, than before is a load.
        pushed: something pushes or pulls the base sideways. leaning: so weakly that it is only told
            by how it lasts.
        unrest: deviation of the velocity of feet that stand, where most of them move [m/s].
        restart: why the estimate must start anew; empty when it goes on.
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
        """Something else than the feet carries the robot: its base may feel any force."""
        return self.suspended_since_ns is not None

    def suspended_at(self, stamp_ns: int) -> bool:
        """The same, of the step that ends at a stamp."""
        return self.suspended and stamp_ns >= self.suspended_since_ns

    def holding(self, held: bool) -> Situation:
        """The same, with the inertia held or not."""
        return self if held == self.inertia_held else replace(self, inertia_held=held)

    def having(self, **values: Any) -> Situation:
        """The same, with other values of these attributes; itself where it has them."""
        for name, value in values.items():
            if getattr(self, name) != value:
                return replace(self, **values)
        return self


ON_ITS_FEET = Situation()
