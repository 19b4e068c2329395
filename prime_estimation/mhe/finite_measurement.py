# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Finite measurement: readings that are no numbers are refused, as those that never came."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import numpy as np

from ..types import Measurement, PoseSample
from ..types.arrays import finite

QUATERNION = "quat_world_imu"
# fields of a measurement that one message fills, and what they are without it
_STREAMS = {
    "joint": {
        **dict.fromkeys(("position", "velocity", "position_carried", "torque")),
        "position_change": 0.0,
        "velocity_change": 0.0,
        "torque_change": 0.0,
    },
    "imu": {
        **dict.fromkeys(("gyro", "accelerometer", "accelerometer_ramp", "gyro_now")),
        "gyro_change": 0.0,
        "accelerometer_change": 0.0,
    },
    "imu_orientation": dict.fromkeys((QUATERNION, "heading_rate")),
}


def finite_measurement(m: Measurement, counts: Counter[str]) -> Measurement:
    """The measurement, without the stream that has a reading which is not finite.

    One of them would be in the whole window: the estimate would start anew. The pipeline refuses
    such samples before they reach a node.

    Args:
        m: of the sizes of the robot.
        counts: `<stream>_not_finite` is incremented here.
    """
    for name, without in _STREAMS.items():
        if not all(_is_reading(field, getattr(m, field)) for field in without):
            counts[f"{name}_not_finite"] += 1
            m = replace(m, **without)
    poses = tuple(pose for pose in m.mocap if _is_pose(pose))
    if lost := len(m.mocap) - len(poses):
        counts["mocap_not_finite"] += lost
        m = replace(m, readings={**m.readings, "mocap": poses})
    return m


def _is_reading(field: str, value: np.ndarray | float | None) -> bool:
    """It is not there, or finite; a quaternion of zeros is no orientation."""
    if value is None:
        return True
    if not isinstance(value, np.ndarray):
        return math.isfinite(value)
    return finite(value) and (field != QUATERNION or bool(value.any()))


def _is_pose(pose: PoseSample) -> bool:
    """It has finite values, and an orientation: a quaternion of zeros is none."""
    return finite(pose.position_world, pose.quat_world_body) and bool(pose.quat_world_body.any())
