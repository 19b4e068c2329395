# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Sensors, each declared in one file; a new one is added to the list below."""

from .external_odometry import ExternalOdometry
from .foot_force import FootForce
from .imu import Imu
from .joints import Commands, Joints, Torque
from .mocap import Mocap
from .sensor import Sensor

SENSORS: tuple[Sensor, ...] = (
    Joints(),
    Torque(),
    Commands(),
    Imu(),
    Mocap(),
    FootForce(),
    ExternalOdometry(),
)
