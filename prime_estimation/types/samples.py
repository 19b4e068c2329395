# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Samples of sensors, before they are aligned in time."""

from __future__ import annotations

from dataclasses import dataclass

from .arrays import Array


@dataclass(frozen=True)
class JointSample:
    """One reading of all actuated joints, in the order of `Robot.joint_names`."""

    stamp_ns: int
    position: Array  # (nj,) rad
    velocity: Array | None = None  # (nj,) rad/s
    effort: Array | None = None  # (nj,) Nm, torque of the motor at the joint


@dataclass(frozen=True)
class CommandSample:
    """Commanded joint torques, used where `JointSample.effort` is absent."""

    stamp_ns: int
    effort: Array  # (nj,) Nm


@dataclass(frozen=True)
class ImuSample:
    """One reading of an IMU, in its own frame."""

    stamp_ns: int
    angular_velocity: Array  # (3,) rad/s
    linear_acceleration: Array  # (3,) m/s^2, specific force: +g upwards at rest
    quat_world_imu: Array | None = None  # (4,) xyzw, from the IMU's own filter (yaw drifts)


@dataclass(frozen=True)
class PoseSample:
    """Pose of the tracked body in the world, from motion capture.

    `stamp_ns` is the time of measurement, `arrival_ns` that of arrival.
    """

    stamp_ns: int
    position_world: Array  # (3,) m
    quat_world_body: Array  # (4,) xyzw
    arrival_ns: int = 0


Sample = JointSample | CommandSample | ImuSample | PoseSample
