# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Dead axes of the IMU: predicts their readings, for code that needs all three axes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin

from ..sensors.imu import world_axes
from ..types import Measurement
from .problem import Problem


def going_on(
    imu: tuple[pin.SE3, pin.Motion],
    base: tuple[np.ndarray, np.ndarray],
    biases: np.ndarray,
    gravity: np.ndarray,
) -> np.ndarray:
    """(6,) what gyro and accelerometer read of a base that goes on: `w + b_g`, `-R^T g + b_a`.

    Args:
        imu: its pose in the base, and its twist relative to it (`ImuMount.motion`).
        base: quaternion (4,) xyzw in the world, and angular rate (3,) in base axes [rad/s].
        biases: (6,) of gyro [rad/s] and accelerometer [m/s2].
        gravity: (3,) in the world [m/s2].
    """
    (base_M_imu, moved), (quat_world_base, rate) = imu, base
    R_imu_base, R_world_base = base_M_imu.rotation.T, world_axes(quat_world_base)
    turns = R_imu_base @ rate + moved.angular
    return np.concatenate([turns, -R_imu_base @ (R_world_base.T @ gravity)]) + biases


def stand_in(problem: Problem, m: Measurement, x: np.ndarray) -> Measurement:
    """The measurement, with predictions at a state x (nx,) in place of dead axes of the IMU.

    They have no weight in the window, but code that uses the length or direction of a reading needs
    all three axes.
    """
    part = problem.layout.part
    base = part(x, "rotation"), part(x, "rate")
    biases = np.concatenate([part(x, "gyro_bias"), part(x, "accelerometer_bias")])
    gravity = problem.robot.model.gravity.linear
    expected = going_on(problem.imu_motion(x), base, biases, gravity)
    gyro, force = ("gyro", "gyro_now"), ("accelerometer", "accelerometer_ramp")
    axes = dict.fromkeys(gyro, slice(3)) | dict.fromkeys(force, slice(3, 6))
    return replace(
        m,
        **{
            name: np.where(m.imu_dead[own], expected[own], getattr(m, name))
            for name, own in axes.items()
            if getattr(m, name) is not None
        },
    )


def unseen_twist(R_base_imu: np.ndarray, deviations: np.ndarray) -> np.ndarray:
    """Covariance (6, 6) of a twist in base axes, by what dead axes do not tell of it.

    Args:
        R_base_imu: (3, 3).
        deviations: (6,) of the rate about and the velocity along axes of gyro and accelerometer, 0
            of those that live [rad/s, m/s].
    """
    turns, moves = R_base_imu * deviations[:3], R_base_imu * deviations[3:]
    covariance = np.zeros((6, 6))
    covariance[:3, :3], covariance[3:, 3:] = moves @ moves.T, turns @ turns.T
    return covariance
