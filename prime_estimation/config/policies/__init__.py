# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Policies: constants of decisions that no user tunes, each with unit and reason.

Parameters that a user may change are in `parameters`.
"""

from .adaptation import (
    ACCELEROMETER_BIAS,
    BODY_TURN,
    GYRO_REST,
    IMU_AXES,
    IMU_CLOCK,
    JOINT_FIT,
    MOUNT_FIT,
    NOISE_LEVELS,
    OPPOSITE,
    POSE_CLOCK,
    RATE_LAG,
)
from .ground import GROUND, RISING, SOLE, TERRAIN
from .loads import EXCITATION, LEG_WEIGHT, LIMB_LOAD, LOAD_PLACE, PAYLOAD, PUSH, RUNAWAY, SWAY
from .support import ACTIVITY, AGREEMENT, LIFT, STANCE, SUPPORT, UNMODELLED
from .window import CONSISTENCY, INTERVAL, SMOOTHED, SOLVER

__all__ = [
    "ACCELEROMETER_BIAS",
    "ACTIVITY",
    "AGREEMENT",
    "BODY_TURN",
    "CONSISTENCY",
    "EXCITATION",
    "GROUND",
    "GYRO_REST",
    "IMU_AXES",
    "IMU_CLOCK",
    "INTERVAL",
    "JOINT_FIT",
    "LEG_WEIGHT",
    "LIFT",
    "LIMB_LOAD",
    "LOAD_PLACE",
    "MOUNT_FIT",
    "NOISE_LEVELS",
    "OPPOSITE",
    "PAYLOAD",
    "POSE_CLOCK",
    "PUSH",
    "RATE_LAG",
    "RISING",
    "RUNAWAY",
    "SMOOTHED",
    "SOLE",
    "SOLVER",
    "STANCE",
    "SUPPORT",
    "SWAY",
    "TERRAIN",
    "UNMODELLED",
]
