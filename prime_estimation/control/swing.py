# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Swing trajectories: a smooth step to the next foothold, with clearance and a soft landing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# depth below the ground at which a swing ends [m], so that it does not end above it
DEPTH = 0.005


@dataclass(frozen=True)
class Swing:
    """Path of a foot between two footholds.

        p(s) = a + (10 s^3 - 15 s^4 + 6 s^5) (b - a) + e_z 64 s^3 (1 - s)^3 h
        s = (t - t_a)/(t_b - t_a)

    Position, velocity and acceleration are continuous with the stances at both ends.

    Attributes:
        lift_off, touch_down: t_a, t_b [s].
        start, end: (3,) a, b: centres of the contact, world [m].
        clearance: h above the higher end [m].
    """

    lift_off: float
    touch_down: float
    start: np.ndarray
    end: np.ndarray
    clearance: float

    def at(self, time: float) -> tuple[np.ndarray, np.ndarray]:
        """Position (3,) [m] and velocity (3,) [m/s] at a time; at rest before and after."""
        duration = self.touch_down - self.lift_off
        s = float(np.clip((time - self.lift_off) / duration, 0.0, 1.0))
        step = self.end - self.start
        blend = s**3 * (10.0 - 15.0 * s + 6.0 * s * s)
        rate = 30.0 * (s * (1.0 - s)) ** 2 / duration
        position, velocity = self.start + blend * step, rate * step
        lift = self.clearance + 0.5 * abs(step[2])
        position[2] += 64.0 * (s * (1.0 - s)) ** 3 * lift
        velocity[2] += 192.0 * (s * (1.0 - s)) ** 2 * (1.0 - 2.0 * s) * lift / duration
        return position, velocity
