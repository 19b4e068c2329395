# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Readable twin of a running node: next state and whitened residual."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from helpers.models import Point

from .dynamics import ReferenceDynamics


@dataclass(frozen=True)
class Pose:
    """A motion capture reading of a node (C++ inputs do not give theirs back)."""

    age: float
    position: np.ndarray
    rotation: np.ndarray
    weight_position: float
    weight_rotation: float


def point_of(problem, given, x, u) -> Point:
    """What node (x, u) asks of the dynamics; `force` without the decision of the inverse form."""
    nq, nv = problem.nq, problem.nv
    force = np.concatenate([given.base_wrench, given.torque])
    if problem.config.estimator.form == "forward":
        force += u[:nv]
    friction = np.exp(problem.parameter(x, "friction")[0]) if problem.dynamics.nc else 0.8
    return Point(
        x[:nq],
        x[nq : nq + nv],
        force,
        u[nv:],
        problem.parameter(x, "theta"),
        problem.parameter(x, "height"),
        friction,
    )


def evaluate(problem, given, poses, x, u, guess):
    """(x_next, residual) of a node; `guess` starts the Newton iteration of the forward form."""
    nq, nv, nj, dt = problem.nq, problem.nv, problem.nj, problem.dt
    dynamics = ReferenceDynamics(problem, point_of(problem, given, x, u))
    if problem.config.estimator.form == "forward":
        v_next, disturbance = dynamics.solve(guess), u[:nv]
    else:
        v_next = u[:nv]
        disturbance = dynamics.residual(v_next) / dt
    q, v = x[:nq], x[nq : nq + nv]
    x_next = np.concatenate(
        [pin.integrate(problem.robot.model, q, dt * v_next), v_next, x[nq + nv :]]
    )
    encoders = pin.difference(problem.robot.model, given.position, q)[nv - nj :]
    rows = [
        given.weight_force * disturbance,
        given.weight_xi * u[nv:],
        given.weight_position * encoders,
        given.weight_velocity * (v[nv - nj :] - given.velocity),
    ]
    if problem.floating:
        rows += _base_rows(problem, given, poses, x, v_next)
    else:
        rows.append(np.zeros(21))
    return x_next, np.concatenate(rows)


def _base_rows(problem, given, poses, x, v_next):
    nq, nv, nj, dt = problem.nq, problem.nv, problem.nj, problem.dt
    q, v, omega = x[:nq], x[nq : nq + nv], x[nq + 3 : nq + 6]
    R = pin.Quaternion(x[3:7]).toRotationMatrix()
    # gyro: mean over the past step, seen from where the joints were in the middle of it; specific
    # force: in the middle between the mean velocities before and after the node
    then = np.concatenate([np.zeros(6), -0.5 * dt * v[nv - nj :]])
    turning = _imu(problem, pin.integrate(problem.robot.model, q, then), v, np.zeros(nv))[1]
    R_world_imu, _, force = _imu(problem, q, 0.5 * (v + v_next), (v_next - v) / dt)
    rows = [
        given.weight_gyro * (turning + problem.parameter(x, "gyro_bias") - given.gyro),
        given.weight_tilt * (R_world_imu[2] - given.orientation[2]),
    ]
    tracked = pin.exp3(problem.parameter(x, "mocap")) if problem.layout.mocap >= 0 else np.eye(3)
    for pose in poses:
        then = R @ pin.exp3(-pose.age * omega)
        rows.append(pose.weight_position * (x[:3] - pose.age * R @ v[:3] - pose.position))
        rows.append(pose.weight_rotation * pin.log3(pose.rotation.T @ then @ tracked))
    rows.append(np.zeros(12 - 6 * len(poses)))
    force = force + problem.parameter(x, "accelerometer_bias")
    rows.append(given.weight_accelerometer * (force - given.accelerometer))
    return rows


def _imu(problem, q, v, a):
    """World <- IMU, angular velocity and specific force in the IMU's axes, of a robot in the state (q, v, a)."""
    model = problem.robot.model
    data, frame = model.createData(), model.getFrameId(problem.robot.config.imu_frame)
    pin.forwardKinematics(model, data, q, v, a)
    R = pin.updateFramePlacement(model, data, frame).rotation
    acceleration = pin.getFrameClassicalAcceleration(model, data, frame, pin.LOCAL).linear
    return (
        R,
        pin.getFrameVelocity(model, data, frame, pin.LOCAL).angular,
        acceleration - R.T @ model.gravity.linear,
    )
