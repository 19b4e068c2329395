# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Finite measurement: readings that are no numbers are refused, as those that never came."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from ..types import Measurement, PoseSample
from ..types.arrays import finite

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
    "imu_orientation": dict.fromkeys(("quat_world_imu", "heading_rate")),
}
_ARRAYS = {
    name: [f for f, without in fields.items() if without is None and f != "heading_rate"]
    for name, fields in _STREAMS.items()
}


def finite_measurement(m: Measurement, counts: Counter[str]) -> Measurement:
    """The measurement, without the stream that has a reading which is not finite.

    One of them would be in the whole window: the estimate would start anew. The pipeline refuses
    such samples before they reach a node.

    Args:
        m: of the sizes of the robot.
        counts: `<stream>_not_finite` is incremented here.
    """
    for name, arrays in _ARRAYS.items():
        read = (value for field in arrays if (value := getattr(m, field)) is not None)
        if not finite(*read):
            counts[f"{name}_not_finite"] += 1
            m = replace(m, **_STREAMS[name])
    poses = tuple(pose for pose in m.mocap if _is_pose(pose))
    if lost := len(m.mocap) - len(poses):
        counts["mocap_not_finite"] += lost
        m = replace(m, readings={**m.readings, "mocap": poses})
    return m


def _is_pose(pose: PoseSample) -> bool:
    """It has finite values, and an orientation: a quaternion of zeros is none."""
    return finite(pose.position_world, pose.quat_world_body) and bool(pose.quat_world_body.any())
