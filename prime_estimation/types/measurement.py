# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Measurement: readings of all sensors for one node of the window."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .arrays import Array, freeze
from .samples import PoseSample

# s between samples, from which on these tell not what is wrong with a machine: the knees of a G1 at
# 100 Hz seem to have 13 times their friction, a calf of a Go1 at 50 Hz a zero of 0.2 rad
SELDOM = 7.5e-3


@dataclass(frozen=True)
class Measurement:
    """Readings of all sensors for one node, aligned in time.

    State part, at `stamp_ns = t_k`: encoder positions at t_k; the mean of all encoder readings in
    [t_k - dt, t_k], each carried to t_k by the joint rates; joint rates and gyro averaged over the
    same interval.

    Dynamics part, about the PREVIOUS node: torque and specific force averaged with triangular
    weight over [t_k - 2 dt, t_k], centred at t_k - dt. A torque that jumps between two samples is
    taken to keep its value until the later one.

    A field that no sensor supplied is None. `*_samples` is the effective number of independent
    samples in an average, which determines its noise.
    """

    stamp_ns: int
    position: Array | None  # (nj,) rad
    velocity: Array | None  # (nj,) rad/s
    gyro: Array | None  # (3,) rad/s, IMU frame
    position_carried: Array | None = None  # (nj,) rad
    torque: Array | None = None  # (nj,) Nm
    torque_commanded: bool = False  # it is what the motors were told, not what they did
    accelerometer: Array | None = None  # (3,) m/s^2, IMU frame
    # (3,) m/s^2, mean over the last dt with weight growing linearly to t_k
    accelerometer_ramp: Array | None = None
    gyro_now: Array | None = None  # (3,) rad/s, newest reading at t_k
    quat_world_imu: Array | None = None  # (4,) xyzw at t_k
    heading_rate: float | None = None  # rad/s about the vertical, by that filter and the gyro
    # (6,) axes of gyro and accelerometer that say the same all the time; None: none does
    imu_dead: Array | None = None
    readings: Mapping[str, Any] = field(default_factory=dict)  # of further sensors, by their name
    velocity_samples: float = 1.0
    gyro_samples: float = 1.0
    torque_samples: float = 1.0
    accelerometer_samples: float = 1.0
    joint_interval: float = 0.0  # s, usual between samples; 0: not known
    imu_interval: float = 0.0  # s
    position_change: Array | float = 0.0  # (nj,) rad, off the line between its samples
    # (nj,) rad/s, between its samples (`alignment.averaging.between_samples`)
    velocity_change: Array | float = 0.0
    gyro_change: Array | float = 0.0  # (3,) rad/s
    torque_change: Array | float = 0.0  # (nj,) Nm
    accelerometer_change: Array | float = 0.0  # (3,) m/s^2

    def __post_init__(self):
        freeze(self)

    @property
    def unpowered(self) -> bool:
        """All torques are zero: the motors are off, or the driver does not measure torques."""
        return self.torque is not None and not self.torque.any()

    @property
    def joints_seldom(self) -> bool:
        """Joints are read so seldom that they tell nothing but their motion."""
        return self.joint_interval > SELDOM

    @property
    def imu_seldom(self) -> bool:
        """The same of the IMU."""
        return self.imu_interval > SELDOM

    @property
    def mocap(self) -> tuple[PoseSample, ...]:
        """Motion capture poses that arrived since the previous measurement; they may be older."""
        return self.readings.get("mocap", ())
