# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Joint stops: joints at the end of their range, pressed against it by their motors."""

from __future__ import annotations

import numpy as np

from ..config.policies import UNMODELLED
from ..robot import Robot


class JointStops:
    """Tells which joints their stop may hold, by their motors and their rest.

    A stop takes any part of a torque that presses against it, so that what the motor reads says no
    more than the sign of what the links get: a leg that is stretched to the stop of its knee would
    seem to carry many times its load. It also takes a load that is more than the motor holds, of a
    joint that rests at its end. A joint that is far beyond its range has a stop elsewhere.

    Args:
        robot: ranges of its joints.
        near: distance from the end of a range at which a joint is there [rad].
    """

    def __init__(self, robot: Robot, near: float = UNMODELLED.at_stop):
        lower, upper = robot.joint_range
        self._below = lower - UNMODELLED.beyond, lower + near
        self._above = upper - near, upper + UNMODELLED.beyond

    def holding(
        self, position: np.ndarray, torque: np.ndarray, rate: np.ndarray | None
    ) -> np.ndarray:
        """(nj,) joints that their stop may hold: pressed by their motor, or at rest.

        Args:
            position: (nj,) of the joints [rad].
            torque: (nj,) of their motors [Nm].
            rate: (nj,) of the joints [rad/s]; None: not known.
        """
        below, above = self._ends(position)
        presses = _into(below, above, torque)
        if rate is None:
            return presses
        return presses | ((below | above) & (np.abs(rate) < UNMODELLED.at_rest))

    def pressed(self, position: np.ndarray, torque: np.ndarray) -> np.ndarray:
        """(nj,) joints that are pressed against their stop.

        Args:
            position: (nj,) of the joints [rad].
            torque: (nj,) of their motors [Nm].
        """
        return _into(*self._ends(position), torque)

    def _ends(self, position: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(nj,) joints that are at the lower end of their range, and at the upper one."""
        below = (position > self._below[0]) & (position < self._below[1])
        above = (position > self._above[0]) & (position < self._above[1])
        return below, above


def _into(below: np.ndarray, above: np.ndarray, torque: np.ndarray) -> np.ndarray:
    """(nj,) joints at such ends whose torque presses them on."""
    return (below & (torque < 0.0)) | (above & (torque > 0.0))
