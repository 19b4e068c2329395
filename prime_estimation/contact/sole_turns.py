# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Sole turns: angular velocities of flat feet, which are those of the ground while they stand."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from ..robot import Robot
from .points import contact_points, flat_feet


class SoleTurns:
    """Angular velocities of the feet of a robot on soles (`flat_feet`).

    Args:
        robot: with its contacts.

    Attributes:
        known: whether it has feet, and all of them are soles.
    """

    def __init__(self, robot: Robot):
        contacts = contact_points(robot)
        feet = [[c.joint for c in contacts if c.foot == foot] for foot in range(len(robot.feet))]
        self.known = bool(feet) and all(flat_feet(robot))
        self._joints = [joints[0] for joints in feet] if self.known else []
        self._robot, self._data = robot, robot.model.createData()

    def against_base(self, position: np.ndarray, velocity: np.ndarray) -> np.ndarray:
        """Angular velocities of the feet (nf, 3) against the base, base axes [rad/s].

        Args:
            position: (nj,) [rad].
            velocity: (nj,) [rad/s].
        """
        robot, model = self._robot, self._robot.model
        q, v = np.zeros(model.nq), np.zeros(model.nv)
        q[6], q[7:] = 1.0, robot.coordinates(position)
        v[model.nv - robot.nj :] = velocity
        pin.forwardKinematics(model, self._data, q, v)
        place, moves = self._data.oMi, self._data.v
        return np.array([place[j].rotation @ moves[j].angular for j in self._joints])
