# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Leg odometry: tilt and velocity of the base, from the IMU and the standing feet.

A complementary filter with constant gains.
"""

from __future__ import annotations

import numpy as np

from ..robot import GRAVITY

BANDWIDTH = 4.0  # rad/s: faster motion is the IMU's, slower that of the feet
SLIP = 0.3  # difference of speed that is believed [m/s]: a foot that has just landed still moves


class LegOdometry:
    """Observer of the vertical and of the base velocity, both in base axes.

    `v' = f - g u - w x v + 2 b e`, `u' = -w x u - (b^2/g) e`, `e = v_feet - v`, where `f` is the
    specific force at the base origin [m/s^2], `w` the angular rate [rad/s] and `b` BANDWIDTH. A
    tilt error makes `v` drift by g times its sine, so that the velocity of the standing feet
    corrects both, critically damped. Accelerations do not disturb it, as they do the mean direction
    of the specific force.

    Attributes:
        up: (3,) unit vector; None before the first specific force. `velocity`: (3,) m/s of the base
            origin.
    """

    def __init__(self):
        self.up: np.ndarray | None = None
        self.velocity = np.zeros(3)

    def start(self, force: np.ndarray) -> None:
        """Begin at rest: the specific force (3,) points upwards."""
        self.up, self.velocity = force / np.linalg.norm(force), np.zeros(3)

    def correct(self, feet_velocity: np.ndarray, dt: float) -> None:
        """Take the base velocities (n, 3) that the standing feet imply."""
        if len(feet_velocity) == 0:
            return
        error = np.median(feet_velocity, axis=0) - self.velocity
        error *= min(1.0, SLIP / max(float(np.linalg.norm(error)), 1e-9))
        self.velocity = self.velocity + 2.0 * BANDWIDTH * dt * error
        self.up = self.up - BANDWIDTH**2 / GRAVITY * dt * error
        self.up /= np.linalg.norm(self.up)

    def predict(self, force: np.ndarray, rate: np.ndarray, dt: float) -> None:
        """Go on by `dt` under the specific force (3,) and the angular rate (3,) of that time."""
        self.velocity = self.velocity + dt * (
            force - GRAVITY * self.up - np.cross(rate, self.velocity)
        )
        self.up = self.up - dt * np.cross(rate, self.up)
        self.up /= np.linalg.norm(self.up)
