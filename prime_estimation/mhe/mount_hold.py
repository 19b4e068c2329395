# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Mount hold: sensors are mounted as the robot's YAML says until data contradict."""

from __future__ import annotations

import numpy as np

from ..config.policies import MOUNT_FIT
from ..sensors.imu import POSITION as IMU_POSITION
from ..sensors.imu import ROTATION as IMU_ROTATION
from ..sensors.mocap_mount import DELAY as MOCAP_DELAY
from ..sensors.mocap_mount import POSITION as MOCAP_POSITION
from ..sensors.mocap_mount import WORLD as MOCAP_WORLD
from .hold import Hold
from .measurement_model import MeasurementModel

GEOMETRY = IMU_ROTATION, IMU_POSITION, MOCAP_POSITION  # how IMU and tracked body sit on the base


def mount_holds(measurements: MeasurementModel) -> list[Hold]:
    """One hold for each mount among the parameters of the sensors."""
    sizes, priors = dict(measurements.blocks), measurements.parameter_priors()
    return [
        Hold(
            [name],
            np.zeros(sizes[name]),
            np.full(sizes[name], priors[name].prior),
            True,
            MOUNT_FIT.held,
        )
        for name in (*GEOMETRY, MOCAP_DELAY, MOCAP_WORLD)
        if name in sizes
    ]
