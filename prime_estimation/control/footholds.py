# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Footholds: where a foot comes down, from the commanded velocity and its error."""

from __future__ import annotations

import math

import numpy as np

from ..robot import GRAVITY
from .motion_types import VelocityCommand
from .trunk import about_z

REACH = 0.15  # m, largest correction of a foothold by the error of the velocity


def foothold(
    nominal: np.ndarray,
    base: np.ndarray,
    yaw: float,
    command: VelocityCommand,
    stance: float,
    velocity_error: np.ndarray,
    height: float,
) -> np.ndarray:
    """Place (2,) of a foot whose stance is centred below its hip.

        b + R_z(yaw + T r/2) n + T/2 R_z(yaw) v + sqrt(h/g) (v_measured - v)

    Raibert's symmetric stance, and the capture point of the linear inverted pendulum for what the
    velocity is off.

    Args:
        nominal: (2,) n, place of the foot in the heading frame of the base, standing [m].
        base: (2,) b, place of the base at touch-down, world [m].
        yaw: heading of the base at touch-down [rad].
        command: v and yaw rate r in the heading frame.
        stance: T, duration of the stance that follows [s].
        velocity_error: (2,) of the base, world [m/s].
        height: h, of the base [m].
    """
    half = 0.5 * stance
    correction = np.sqrt(max(height, 0.0) / GRAVITY) * velocity_error
    length = math.hypot(*correction)
    correction = correction * min(1.0, REACH / length) if length > 0.0 else correction
    travel = about_z(yaw) @ np.array([command.vx, command.vy])
    return base + about_z(yaw + half * command.yaw_rate) @ nominal + half * travel + correction
