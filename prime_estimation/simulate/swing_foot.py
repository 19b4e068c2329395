# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Foot of a gait: its cycle of standing, lifting and landing, its motion through the air."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .motion import Gait


@dataclass
class Foot:
    """State of a foot in its cycle."""

    nominal: np.ndarray  # (3,) in the heading frame below the base
    standing: bool = True
    loaded: bool = True
    load: float = 1.0  # fades in and out at the ends of a stance
    lift_off: np.ndarray | None = None  # (3,) world
    height: float = 0.0  # of the ground below it, learnt at touch-down

    def follow(self, gait: Gait, t: float | None, point: np.ndarray, force: float) -> None:
        """Stands, lifts off and lands, by the gait and by what is felt.

        Args:
            gait: whose cycle it is.
            t: time since walking began [s]; None: stand.
            point: (3,) where it is, world axes [m].
            force: normal force that it feels [N].
        """
        if t is None or not gait.period:
            self.standing, self.loaded, self.load = True, True, 1.0
            return
        phase = gait.phase(t, self.nominal)
        scheduled = phase < gait.duty
        swing = (phase - gait.duty) / (1 - gait.duty)
        early = not scheduled and swing > 0.6 and force > 10.0
        if self.standing and not scheduled and not early and not (self.loaded and swing > 0.6):
            self.lift_off, self.standing, self.loaded = point.copy(), False, False
        elif not self.standing and (scheduled or early):
            self.standing, self.loaded = True, False
        if self.standing and not self.loaded and force > 3.0:
            self.loaded, self.height = True, point[2]
        rise = phase / 0.06 if scheduled else 1.0
        fall = (gait.duty - phase) / 0.06 if scheduled else 1.0
        self.load = float(np.clip(min(rise, fall), 0.05, 1.0)) if not gait.hop else 1.0


def swing(
    s: float, duration: float, start: np.ndarray, target: np.ndarray, lift: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Position [m], velocity [m/s] and acceleration [m/s2] of a foot in the air, world axes.

    The acceleration is that of the way from start to target: the arc's is left to feedback.

    Args:
        s: share of the swing that has passed, in [0, 1].
        duration: of the swing [s].
        start: (3,) where it lifted off.
        target: (3,) where it lands.
        lift: height of its arc [m].
    """
    blend = s**3 * (10 - 15 * s + 6 * s * s)
    rate = 30 * s**2 * (1 - s) ** 2
    bend = 60 * s * (1 - s) * (1 - 2 * s)
    step = target - start
    position, velocity = start + blend * step, rate / duration * step
    # the lift is a sextic bump: zero height, speed and acceleration at both ends
    position[2] += 64 * (s * (1 - s)) ** 3 * lift
    velocity[2] += 64 * 3 * (s * (1 - s)) ** 2 * (1 - 2 * s) * lift / duration
    return position, velocity, bend / duration**2 * step
