# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Torque limits of the motors: what the robot's YAML says, or else its URDF."""

from __future__ import annotations

import numpy as np

from ..robot import Robot


def torque_limits(robot: Robot) -> np.ndarray:
    """(nj,) Nm: the robot's configured limits; where unknown those of the URDF, or infinite."""
    urdf = robot.model.effortLimit[robot.model.nv - robot.nj :]
    urdf = np.where(urdf > 0, urdf, np.inf)
    return np.where(robot.torque_limit > 0, robot.torque_limit, urdf)
