# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Dead axes of the IMU: what they would have said, for those who look at all three."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..sensors.imu import world_axes
from ..types import Measurement
from .problem import Problem


def stand_in(problem: Problem, m: Measurement, x: np.ndarray) -> Measurement:
    """The measurement with what its dead axes of the IMU would say at a state x (nx,).

    A rate that goes on, and no acceleration: `w + b_g`, `-R^T g + b_a`. Nothing weighs them; who
    judges by the length or direction of a reading needs all three axes.
    """
    base_M_imu, moved = problem.imu_motion(x)
    rate = base_M_imu.rotation.T @ problem.layout.part(x, "rate") + moved.angular
    R_world_base = world_axes(problem.layout.part(x, "rotation"))
    gravity = base_M_imu.rotation.T @ (R_world_base.T @ problem.robot.model.gravity.linear)
    expected = {
        "gyro": rate + problem.parameter(x, "gyro_bias"),
        "accelerometer": problem.parameter(x, "accelerometer_bias") - gravity,
    }
    expected |= {"gyro_now": expected["gyro"], "accelerometer_ramp": expected["accelerometer"]}
    dead = {
        name: m.imu_dead[:3] if name.startswith("gyro") else m.imu_dead[3:] for name in expected
    }
    return replace(
        m,
        **{
            name: np.where(dead[name], value, getattr(m, name))
            for name, value in expected.items()
            if getattr(m, name) is not None
        },
    )
