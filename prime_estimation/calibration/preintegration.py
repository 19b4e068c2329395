# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Preintegrated IMU: motion over a step as the IMU alone tells it (Forster et al. 2017)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .rotations import exp, right_jacobian, skew, transpose


@dataclass(frozen=True)
class Preintegration:
    """Motion of the IMU over n steps, in its axes at the beginning of each, biases zero.

    Attributes:
        step: length of the steps [s].
        rotation: (n, 3, 3). velocity: (n, 3) m/s. position: (n, 3) m; both without gravity.
        rotation_gyro: (n, 3, 3) derivative of the rotation (right tangent) by the gyro bias.
        velocity_gyro, velocity_accelerometer, position_gyro, position_accelerometer: (n, 3, 3)
            derivatives by the biases.
    """

    step: float
    rotation: np.ndarray
    velocity: np.ndarray
    position: np.ndarray
    rotation_gyro: np.ndarray
    velocity_gyro: np.ndarray
    velocity_accelerometer: np.ndarray
    position_gyro: np.ndarray
    position_accelerometer: np.ndarray


def preintegrate(gyro: np.ndarray, accelerometer: np.ndarray, step: float) -> Preintegration:
    """Integrate means of angular rate and specific force over equal parts of each step.

    Args:
        gyro: (n, s, 3) rad/s.
        accelerometer: (n, s, 3) m/s^2.
        step: the s parts together [s].
    """
    n, parts, _ = gyro.shape
    h = step / parts
    R = np.broadcast_to(np.eye(3), (n, 3, 3))
    v, p = np.zeros((n, 3)), np.zeros((n, 3))
    Rg, vg, va, pg, pa = (np.zeros((n, 3, 3)) for _ in range(5))
    for i in range(parts):
        w, half = gyro[:, i] * h, exp(0.5 * h * gyro[:, i])
        Rm = R @ half
        # the rotation of the middle of this part, and its derivative by the gyro bias
        Mg = transpose(half) @ Rg - 0.5 * h * right_jacobian(0.5 * w)
        a = (Rm @ accelerometer[:, i, :, None])[..., 0]
        ag = -Rm @ skew(accelerometer[:, i]) @ Mg
        p = p + h * v + 0.5 * h * h * a
        pg = pg + h * vg + 0.5 * h * h * ag
        pa = pa + h * va - 0.5 * h * h * Rm
        v, vg, va = v + h * a, vg + h * ag, va - h * Rm
        full = exp(w)
        R, Rg = R @ full, transpose(full) @ Rg - h * right_jacobian(w)
    return Preintegration(step, R, v, p, Rg, vg, va, pg, pa)
