# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Frames of sensors in the world: how their parameters change when the whole world moves."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import pinocchio as pin

from .sensor import Tracker


class FrameTracker(Tracker, Protocol):
    """Tracker of a frame in the world whose pose is among the parameters.

    Attributes:
        block: name of these.
    """

    block: str

    def motions(self, x: np.ndarray) -> np.ndarray:
        """Change (n, 3) of the parameters of a state x (nx,) by motions of the world.

        By one along x and y [m], and by a turn about the vertical through the base [rad].
        """


def turned_about_vertical(rotation: np.ndarray) -> np.ndarray:
    """(3,) change of phi, in `exp(phi) R_0`, by a turn of the world: `J_l(phi)^-1 z`."""
    return pin.Jlog3(pin.exp3(np.array(rotation)))[2]
