# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Extrinsics that users write as x y z roll pitch yaw, for tf2's static_transform_publisher."""

from __future__ import annotations

import math

from ...errors import ConfigError


def static_transform(origin: str, parent: str, child: str) -> list[str]:
    """Arguments of static_transform_publisher for a pose of `child` in `parent`.

    Args:
        origin: x y z [m] roll pitch yaw [rad], the angles about fixed axes (REP-103).
        parent: frame of the pose.
        child: frame that is there.

    Raises:
        ConfigError: these are not six numbers, or tf_transformations is missing.
    """
    try:
        numbers = [float(word) for word in origin.split()]
    except ValueError:
        numbers = []
    if len(numbers) != 6 or not all(map(math.isfinite, numbers)):
        raise ConfigError(
            f"mocap_origin wants six numbers, x y z roll pitch yaw, got '{origin}'", origin
        )
    try:
        from tf_transformations import quaternion_from_euler
    except ImportError as error:
        raise ConfigError(
            f"mocap_frame needs tf_transformations ({error}): sudo apt install "
            "ros-$ROS_DISTRO-tf-transformations",
            error,
        ) from error
    pose = zip(
        ("--x", "--y", "--z", "--qx", "--qy", "--qz", "--qw"),
        (*numbers[:3], *map(float, quaternion_from_euler(*numbers[3:], axes="sxyz"))),
        strict=True,
    )
    parts = [part for name, value in pose for part in (name, str(value))]
    return [*parts, "--frame-id", parent, "--child-frame-id", child]
