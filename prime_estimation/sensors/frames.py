# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Frames of sensors in the world, and motions of the whole world that move these frames."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pinocchio as pin

from .tracker import Tracker


@dataclass(frozen=True)
class WorldMotion:
    """Motion of the world: a rotation about the vertical through its origin, then a translation.

    Attributes:
        yaw: rad. shift: (3,) m.
    """

    yaw: float
    shift: np.ndarray

    @property
    def turn(self) -> np.ndarray:
        """Rotation (3, 3)."""
        c, s = math.cos(self.yaw), math.sin(self.yaw)
        return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])

    def points(self, points: np.ndarray) -> np.ndarray:
        """Points (n, 2 or 3) [m], moved."""
        n = points.shape[1]
        return points @ self.turn[:n, :n].T + self.shift[:n]

    @staticmethod
    def between(here: list[pin.SE3], there: list[pin.SE3]) -> WorldMotion:
        """The motion that maps poses of the base to others, in the least-squares sense."""
        turns = [b.rotation @ a.rotation.T for a, b in zip(here, there)]
        sine = sum(t[1, 0] - t[0, 1] for t in turns)
        yaw = math.atan2(sine, sum(t[0, 0] + t[1, 1] for t in turns))
        turned = WorldMotion(yaw, np.zeros(3))
        places = [np.array([p.translation for p in poses]) for poses in (here, there)]
        return WorldMotion(yaw, np.mean(places[1] - turned.points(places[0]), axis=0))


class FrameTracker(Tracker, Protocol):
    """Tracker of a frame in the world whose pose is a parameter.

    Attributes:
        block: name of the parameter block.
    """

    block: str

    def motions(self, x: np.ndarray) -> np.ndarray:
        """Derivative (n, 3) of the parameters of a state x (nx,) by motions of the world.

        Motions: along x and y [m], and a rotation about the vertical through the base [rad].
        """


def turned_about_vertical(rotation: np.ndarray) -> np.ndarray:
    """(3,) derivative of phi, in `exp(phi) R_0`, by a rotation of the world: `J_l(phi)^-1 z`."""
    return pin.Jlog3(pin.exp3(np.array(rotation)))[2]
