# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Sensors: each is declared in one file. To add one, append it to the list below."""

from collections.abc import Iterable

from ..errors import ConfigError
from .contact_flags import ContactFlagSensor
from .external_odometry import ExternalOdometry
from .foot_force import FootForce
from .imu import Imu
from .imu_orientation import ImuOrientation
from .joint_targets import JointTargets
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
    JointTargets(),
    ContactFlagSensor(),
    ImuOrientation(),
)


def optional_sensors(names: Iterable[str]) -> list[str]:
    """The optional sensors of these names, each once; a text may hold several, with commas.

    Raises:
        ConfigError: there is no optional sensor of this name.
    """
    known = [s.name for s in SENSORS if s.optional]
    wanted = [name.strip() for text in names for name in text.split(",") if name.strip()]
    for name in wanted:
        if name not in known:
            raise ConfigError(f"no optional sensor '{name}'; there are {', '.join(known)}", names)
    return list(dict.fromkeys(wanted))
