# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Foot pairs: relative motion of standing feet, from the joints of their legs."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pinocchio as pin

from ..robot import GRAVITY, Robot
from .leg_forces import LegForces

STANDS = 0.1  # share of the weight that a foot which stands carries at least
UPRIGHT, AT_REST = pin.Quaternion.Identity(), np.zeros(3)


class FootPairs:
    """Pairs of loaded feet; without torques all pairs, because only their motion is known.

    Args:
        robot: with legs.
        legs: their kinematics and forces.
    """

    def __init__(self, robot: Robot, legs: LegForces):
        self.robot, self._legs = robot, legs
        self._pairs = np.array(list(combinations(range(len(robot.feet)), 2))).reshape(-1, 2).T
        self._load = STANDS * robot.total_mass * GRAVITY

    @property
    def number(self) -> int:
        """Of all pairs."""
        return self._pairs.shape[1]

    def soles(
        self,
        position: np.ndarray,
        velocity: np.ndarray,
        torque: np.ndarray | None,
        step: float,
        attitude: pin.Quaternion = UPRIGHT,
        rate: np.ndarray = AT_REST,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Soles (nf, 3) [m], their rates (nf, 3) [m/s] and normal forces (nf,) [N], world axes.

        Args:
            position: (nj,) at the end of the step [rad].
            velocity: (nj,) mean over it [rad/s].
            torque: (nj,) [Nm]; None: not measured.
            step: [s].
            attitude: of the base.
            rate: (3,) of it, its axes [rad/s].
        """
        model, nj = self.robot.model, self.robot.nj
        q, v = np.zeros(model.nq), np.zeros(model.nv)
        # rates are means over the step: so are the places
        middle = position - 0.5 * step * velocity
        q[3:7], q[7:] = attitude.coeffs(), self.robot.coordinates(middle)
        v[3:6], v[model.nv - nj :] = rate, velocity
        return self._legs.evaluate(q, v, np.zeros(model.nv), torque)[:3]

    def apart(
        self, soles: np.ndarray, rates: np.ndarray, normal: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Velocities (n, 3) [m/s] and places (n, 3) [m] of soles that stand, against one another.

        Args: as `soles` returns them.
        """
        stands = self.standing(normal)
        i, j = self._pairs[:, stands[self._pairs].all(axis=0)]
        return rates[i] - rates[j], soles[i] - soles[j]

    def standing(self, normal: np.ndarray) -> np.ndarray:
        """Feet (nf,) that stand, by normal forces (nf,) [N]: all where these are not known."""
        return ~(normal < self._load)
