# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Torque that is lost between motors and links, as the dynamics of the core have it."""

from __future__ import annotations

import numpy as np

from . import _core
from .robot import Robot

FRICTION_VELOCITY = _core.DynamicsOptions().friction_velocity  # rad/s, smoothing of dry friction
TORQUE_WIDTH = 0.1  # Nm, smoothing of the size of a torque, as in the core


def dry_friction(robot: Robot, rate: np.ndarray) -> np.ndarray:
    """Torque of dry friction [Nm] at joint rates (..., nj) [rad/s].

    F rate / sqrt(rate^2 + FRICTION_VELOCITY^2); `robot.friction_lead` wants accelerations and is
    left out.
    """
    return robot.joint_friction * rate / np.sqrt(rate**2 + FRICTION_VELOCITY**2)


def joint_losses(robot: Robot, rate: np.ndarray, torque: np.ndarray | None = None) -> np.ndarray:
    """Torque of damping, dry friction and gears [Nm] at joint rates (..., nj) [rad/s].

    Gears lose a share of the motors' torque (..., nj) [Nm]; None: they are left out.
    """
    lost = robot.joint_damping * rate + dry_friction(robot, rate)
    if torque is None or not robot.gear_loss.any():
        return lost
    sign = rate / np.sqrt(rate**2 + FRICTION_VELOCITY**2)
    size = np.sqrt(torque**2 + TORQUE_WIDTH**2) - TORQUE_WIDTH
    return lost + robot.gear_loss * size * sign
