# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Sensor readings to messages: the inverse of `io.messages`.

`make` is a function from a type's name to its class, as in `io.to_messages`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .to_messages import Make, header

_UNKNOWN = np.zeros(9)
# element 0 = -1: the message has no such field (sensor_msgs/Imu)
_ABSENT = np.array([-1.0] + [0.0] * 8)


def joint_state(make: Make, stamp_ns: int, names: Sequence[str], **values: np.ndarray | None):
    """sensor_msgs/JointState; `position` [rad], `velocity` [rad/s], `effort` [Nm] where given."""
    fields = {
        field: np.array([] if values.get(field) is None else values[field], dtype=float)
        for field in ("position", "velocity", "effort")
    }
    return make("sensor_msgs/msg/JointState")(
        header=header(make, stamp_ns, ""), name=list(names), **fields
    )


def imu(
    make: Make,
    stamp_ns: int,
    frame: str,
    angular_velocity: np.ndarray,
    linear_acceleration: np.ndarray,
    quat_world_imu: np.ndarray | None = None,
):
    """sensor_msgs/Imu in its own axes: rad/s, m/s^2 (+g upwards at rest), quaternion xyzw."""
    quat = (0.0, 0.0, 0.0, 1.0) if quat_world_imu is None else quat_world_imu
    return make("sensor_msgs/msg/Imu")(
        header=header(make, stamp_ns, frame),
        orientation=_quaternion(make, quat),
        orientation_covariance=_ABSENT if quat_world_imu is None else _UNKNOWN,
        angular_velocity=_vector(make, "Vector3", angular_velocity),
        angular_velocity_covariance=_UNKNOWN,
        linear_acceleration=_vector(make, "Vector3", linear_acceleration),
        linear_acceleration_covariance=_UNKNOWN,
    )


def pose_stamped(make: Make, stamp_ns: int, frame: str, position_world, quat_world_body):
    """geometry_msgs/PoseStamped: position [m], quaternion xyzw."""
    pose = make("geometry_msgs/msg/Pose")(
        position=_vector(make, "Point", position_world),
        orientation=_quaternion(make, quat_world_body),
    )
    return make("geometry_msgs/msg/PoseStamped")(header=header(make, stamp_ns, frame), pose=pose)


def foot_forces(make: Make, stamp_ns: int, names: Sequence[str], force: np.ndarray):
    """prime_estimation_msgs/FootForces: counts or N, or contact flags 0 and 1."""
    return make("prime_estimation_msgs/msg/FootForces")(
        header=header(make, stamp_ns, ""), name=list(names), force=np.array(force, dtype=float)
    )


def _vector(make: Make, kind: str, v):
    return make(f"geometry_msgs/msg/{kind}")(x=float(v[0]), y=float(v[1]), z=float(v[2]))


def _quaternion(make: Make, q):
    x, y, z, w = (float(c) for c in q)
    return make("geometry_msgs/msg/Quaternion")(x=x, y=y, z=z, w=w)
