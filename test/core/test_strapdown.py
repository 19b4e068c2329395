# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Strapdown integration against a readable twin, and on a motion with a known answer."""

import numpy as np
import pinocchio as pin

from prime_estimation import _core

GRAVITY = np.array([0.0, 0.0, -9.81])


def strapdown(pose, velocity, gyro_bias, accelerometer_bias):
    imu = _core.Strapdown()
    imu.gravity, imu.gyro_bias, imu.accelerometer_bias = GRAVITY, gyro_bias, accelerometer_bias
    imu.start(pose, velocity)
    return imu


def twin(pose, velocity, gyro_bias, accelerometer_bias, samples):
    """Attitude, position, velocity in the world, angular velocity, jumps.

    The first sample is that of the start.
    """
    R, p, w = pose.rotation, pose.translation, velocity.angular
    v, jumps = R @ velocity.linear, np.zeros((3, 3))
    force = R @ (samples[0][2] - accelerometer_bias)
    for dt, gyro, accelerometer in samples[1:]:
        R = R @ pin.exp3(dt * 0.5 * (w + gyro - gyro_bias))
        before, force, w = force, R @ (accelerometer - accelerometer_bias), gyro - gyro_bias
        v_before, v = v, v + dt * (0.5 * (before + force) + GRAVITY)
        p = p + 0.5 * dt * (v_before + v)
        jumps = jumps + np.outer(dt * (force - before), dt * (force - before))
    return R, p, v, w, jumps


def test_against_the_twin():
    rng = np.random.default_rng(1)
    pose = pin.SE3.Random()
    velocity = pin.Motion.Random()
    base_M_imu = pin.SE3.Random()
    relative = pin.Motion.Random()
    biases = rng.normal(size=(2, 3))
    samples = [(rng.uniform(0.001, 0.01), *rng.normal(0.0, 3.0, (2, 3))) for _ in range(20)]
    imu = strapdown(pose, velocity, *biases)
    imu.set_force(samples[0][2])
    for sample in samples[1:]:
        imu.step(*sample)
    R, p, v, w, jumps = twin(pose, velocity, *biases, samples)
    base = pin.SE3(R, p) * base_M_imu.inverse()
    twist = base_M_imu.act(pin.Motion(R.T @ v, w) - relative)
    position, quaternion, linear, angular, spread = imu.base(base_M_imu, relative)
    np.testing.assert_allclose(position, base.translation, atol=1e-12)
    np.testing.assert_allclose(
        pin.Quaternion(quaternion).toRotationMatrix(), base.rotation, atol=1e-12
    )
    np.testing.assert_allclose(linear, twist.linear, atol=1e-12)
    np.testing.assert_allclose(angular, twist.angular, atol=1e-12)
    np.testing.assert_allclose(spread, base.rotation.T @ jumps @ base.rotation, atol=1e-12)


def test_on_a_circle():
    """Speed s at the rate w.

    The specific force is centripetal, and the path closes after 2 pi / w.
    """
    s, w, n = 2.0, 0.5, 4000
    imu = strapdown(
        pin.SE3.Identity(),
        pin.Motion(np.array([s, 0.0, 0.0]), np.array([0.0, 0.0, w])),
        np.zeros(3),
        np.zeros(3),
    )
    for _ in range(n):
        imu.step(2.0 * np.pi / w / n, np.array([0.0, 0.0, w]), np.array([0.0, s * w, 9.81]))
    position, quaternion, linear, *_ = imu.base(pin.SE3.Identity(), pin.Motion.Zero())
    np.testing.assert_allclose(position, 0.0, atol=1e-2)
    np.testing.assert_allclose(np.abs(quaternion), [0.0, 0.0, 0.0, 1.0], atol=1e-9)
    np.testing.assert_allclose(linear, [s, 0.0, 0.0], atol=1e-2)


def test_start_on_a_base():
    """The IMU moves with the base that carries it, and against it."""
    base, velocity = pin.SE3.Random(), pin.Motion.Random()
    base_M_imu, relative = pin.SE3.Random(), pin.Motion.Random()
    imu = _core.Strapdown()
    quaternion = pin.Quaternion(base.rotation).coeffs()
    place = base.translation, quaternion, velocity.linear, velocity.angular
    imu.start_on_base(*place, base_M_imu, relative)
    for value, expected in zip(imu.base(base_M_imu, relative), place):
        sign = np.sign(value[-1] * expected[-1]) if len(value) == 4 else 1.0
        np.testing.assert_allclose(sign * value, expected, atol=1e-12)


def test_velocity_at_the_end_of_a_turn():
    """A base that turns ever faster about its origin: its IMU feels only the lever arm."""
    dt, rate, alpha, r = 0.01, 0.7, 3.0, np.array([0.2, -0.1, 0.05])
    z = np.array([0.0, 0.0, 1.0])
    end = rate + 0.5 * dt * alpha
    felt = np.cross(alpha * z, r) + np.cross(rate * z, np.cross(rate * z, r)) - GRAVITY
    linear, angular = _core.velocity_at_end(
        np.zeros(3), rate * z, np.array([0.0, 0.0, 0.0, 1.0]), pin.SE3(np.eye(3), r),
        end * z, felt, GRAVITY, dt,
    )  # fmt: skip
    np.testing.assert_allclose(linear, 0.0, atol=1e-12)
    np.testing.assert_allclose(angular, end * z, atol=1e-12)
