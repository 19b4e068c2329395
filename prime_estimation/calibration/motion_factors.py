# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Factors of the motion: a step against the IMU, walk of its biases, first node."""

from __future__ import annotations

import numpy as np

from .factor import GRAVITY, Bend, Factor, columns_of, next_node, side_by_side
from .recording import KinematicRecording
from .rotations import (
    bending,
    exp,
    outer,
    right_jacobian,
    rotate,
    sine_jacobian,
    sine_vector,
    skew,
    transpose,
)
from .trajectory import ACCELEROMETER, GYRO, POSITION, ROTATION, VELOCITY, Trajectory


def imu_motion(x: Trajectory, recording: KinematicRecording) -> Factor:
    """Rotation, velocity and position over a step against the IMU, axes of its beginning."""
    pre, dt, n = recording.imu, recording.step, len(x) - 1
    R0, R1 = x.rotation[:-1], x.rotation[1:]
    ba, bg = x.accelerometer_bias[:-1], x.gyro_bias[:-1]
    turn = rotate(pre.rotation_gyro, bg)
    between = transpose(R0) @ R1
    E = transpose(pre.rotation @ exp(turn)) @ between
    dv = rotate(transpose(R0), x.velocity[1:] - x.velocity[:-1] - GRAVITY * dt)
    dp = x.position[1:] - x.position[:-1] - x.velocity[:-1] * dt - 0.5 * GRAVITY * dt**2
    dp = rotate(transpose(R0), dp)
    rv = dv - pre.velocity - rotate(pre.velocity_accelerometer, ba) - rotate(pre.velocity_gyro, bg)
    rp = dp - pre.position - rotate(pre.position_accelerometer, ba) - rotate(pre.position_gyro, bg)
    r = np.concatenate([sine_vector(E), rv, rp], axis=1)
    S, Rt = sine_jacobian(E), transpose(R0)
    Z = np.zeros((3, 3))
    by_gyro = -S @ transpose(E) @ right_jacobian(turn) @ pre.rotation_gyro
    rows = [
        [Z, -S @ transpose(between), Z, Z, by_gyro, Z, S, Z],
        [Z, skew(dv), -Rt, -pre.velocity_accelerometer, -pre.velocity_gyro, Z, Z, Rt],
        [-Rt, skew(dp), -dt * Rt, -pre.position_accelerometer, -pre.position_gyro, Rt, Z, Z],
    ]
    J = np.concatenate([side_by_side((n, 3), row, r.dtype) for row in rows], axis=1)
    first = columns_of(POSITION, ROTATION, VELOCITY, ACCELEROMETER, GYRO)
    second = columns_of(POSITION, ROTATION, VELOCITY, shift=x.width)

    def curvature(force: np.ndarray) -> list[Bend]:
        turning, speed, place = force[:, :3], force[:, 3:6], force[:, 6:]
        L, P = skew(turning), pre.rotation @ exp(turn)
        # the force on the rotation is -tr(L E) / 2, E a product of all three rotations
        N1, N0, Ng = -0.5 * L @ E, -0.5 * between @ L @ transpose(P), -0.5 * E @ L
        one, by_bias = np.eye(3), right_jacobian(turn) @ pre.rotation_gyro
        T1, T0 = (np.trace(N, axis1=1, axis2=2)[:, None, None] * one for N in (N1, N0))
        itself = bending(N0) + bending(outer(speed, dv)) + bending(outer(place, dp))
        by_velocity, by_place = R0 @ skew(speed), R0 @ skew(place)
        return [
            Bend(ROTATION, ROTATION, itself),
            Bend(next_node(ROTATION, x), next_node(ROTATION, x), bending(N1)),
            Bend(ROTATION, next_node(ROTATION, x), -between @ (N1 - T1)),
            Bend(GYRO, GYRO, transpose(by_bias) @ bending(Ng) @ by_bias),
            Bend(GYRO, next_node(ROTATION, x), -transpose(by_bias) @ E @ (N1 - T1)),
            Bend(GYRO, ROTATION, transpose(P @ by_bias) @ (N0 - T0)),
            Bend(VELOCITY, ROTATION, by_velocity + dt * by_place),
            Bend(next_node(VELOCITY, x), ROTATION, -by_velocity),
            Bend(POSITION, ROTATION, by_place),
            Bend(next_node(POSITION, x), ROTATION, -by_place),
        ]

    return Factor("imu", np.arange(n), r, np.array(first + second), J, curvature=curvature)


def bias_walk(x: Trajectory) -> Factor:
    """Change of accelerometer and gyro bias over a step."""
    r = np.concatenate(
        [np.diff(x.accelerometer_bias, axis=0), np.diff(x.gyro_bias, axis=0)], axis=1
    )
    J = np.concatenate([-np.eye(6), np.eye(6)], axis=1)
    columns = columns_of(ACCELEROMETER, GYRO) + columns_of(ACCELEROMETER, GYRO, shift=x.width)
    J = np.broadcast_to(J, (len(r), 6, 12)).astype(r.dtype)
    return Factor("bias_walk", np.arange(len(r)), r, np.array(columns), J)


def first_node(x: Trajectory, origin: Trajectory) -> Factor:
    """Deviation of the first node from another trajectory's, footholds left out."""
    E = origin.rotation[:1].swapaxes(1, 2) @ x.rotation[:1]
    parts = [
        x.position[:1] - origin.position[:1],
        sine_vector(E),
        x.velocity[:1] - origin.velocity[:1],
        x.accelerometer_bias[:1] - origin.accelerometer_bias[:1],
        x.gyro_bias[:1] - origin.gyro_bias[:1],
    ]
    r = np.concatenate(parts, axis=1)
    J = np.broadcast_to(np.eye(15), (1, 15, 15)).astype(r.dtype)
    J[:, ROTATION, ROTATION] = sine_jacobian(E)

    def curvature(force: np.ndarray) -> list[Bend]:
        return [Bend(ROTATION, ROTATION, bending(-0.5 * skew(force[:, ROTATION]) @ E))]

    return Factor("start", np.zeros(1, int), r, np.arange(15), J, curvature=curvature)
