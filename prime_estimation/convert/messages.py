# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Rows of a series as messages."""

from __future__ import annotations

from collections.abc import Callable

from ..io.sensor_messages import foot_forces, imu, joint_state, pose_stamped
from ..io.to_messages import Make
from .mapping import Mapping
from .series import Series


def message_maker(mapping: Mapping, series: Series, make: Make) -> Callable[[int, int], object]:
    """Function from (stamp [ns], row) to the message of the series' topic."""
    values = series.values
    if series.topic in ("joint_states", "joint_commands"):
        names = mapping.joints.names
        return lambda stamp, k: joint_state(
            make, stamp, names, **{field: value[k] for field, value in values.items()}
        )
    if series.topic == "imu":
        frame = mapping.imu.frame
        return lambda stamp, k: imu(
            make, stamp, frame, **{field: value[k] for field, value in values.items()}
        )
    if series.topic == "mocap/pose":
        frame = mapping.mocap.frame
        return lambda stamp, k: pose_stamped(
            make, stamp, frame, values["position"][k], values["quat"][k]
        )
    feet = getattr(mapping, series.topic).names
    return lambda stamp, k: foot_forces(make, stamp, feet, values["force"][k])
