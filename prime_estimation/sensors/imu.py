# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""IMU: gyro, accelerometer, vertical and turn of heading of its own filter: sensor_msgs/Imu."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..declaration import param
from ..types import Measurement
from .sensor import INSTANT, READ_SELDOM, Block, Role, Sensor, Wearer

ROTATION, POSITION = "imu_rotation", "imu_position"  # parameters, where mounts are
ALIVE = np.ones(6)  # weights of the axes of gyro and accelerometer where none is dead
AXES = tuple(f"{what} {axis}" for what in ("gyro", "accelerometer") for axis in "xyz")


class Imu(Sensor):
    """Gyro (mean over the past step), accelerometer (centred mean), its filter; slow biases."""

    name = "imu"
    role = Role(("sensor_msgs/msg/Imu",), ("imu", "imu/data", "imu/data_raw"))
    residuals = ("gyro", "tilt", "heading", "accelerometer")
    innovations = ("gyro",)

    @dataclass(frozen=True)
    class Noise:
        """Standard deviation of one sample of an IMU, its biases and their random walks."""

        gyro: float = param(0.005, "angular rate", "rad/s", 1e-6, 1.0, tunable=True)
        accelerometer: float = param(0.1, "specific force", "m/s2", 1e-5, 100.0, tunable=True)
        accelerometer_model: float = param(
            0.15,
            "specific force that the rigid model misses in a node",
            "m/s2",
            0.0,
            100.0,
            tunable=True,
        )
        accelerometer_sampling: float = param(
            0.08,
            "share of its change between samples 2.5 ms apart that their mean misses",
            "",
            0.0,
            1.0,
            tunable=True,
        )
        gyro_bias: float = param(0.005, "initial gyro bias", "rad/s", 1e-8, 1.0)
        gyro_bias_walk: float = param(
            1e-4, "random walk of the gyro bias", "rad/s/sqrt(s)", 0.0, 1.0, tunable=True
        )
        accelerometer_bias: float = param(0.05, "initial accelerometer bias", "m/s2", 1e-8, 10.0)
        accelerometer_bias_walk: float = param(
            1e-3, "random walk of the accelerometer bias", "m/s2/sqrt(s)", 0.0, 10.0, tunable=True
        )
        imu_rotation: float = param(
            0.03,
            "unknown constant rotation of the IMU in its mount, once data contradict the model's",
            "rad",
            1e-4,
            1.0,
        )
        imu_lever: float = param(
            0.03,
            "unknown place of the IMU beside the model's, once data contradict that",
            "m",
            1e-4,
            1.0,
        )
        imu_tilt: float = param(
            0.02, "roll and pitch of the IMU's own orientation", "rad", 1e-4, 1.0, tunable=True
        )
        imu_heading_walk: float = param(
            0.001, "random walk of its heading", "rad/sqrt(s)", 1e-5, 1.0, tunable=True
        )

    def blocks(self, noise, wearer: Wearer) -> dict[str, Block]:
        """Biases, and the mount."""
        return {
            ROTATION: Block(noise.imu_rotation, lasting=True),
            POSITION: Block(noise.imu_lever, lasting=True),
            "gyro_bias": Block(noise.gyro_bias, noise.gyro_bias_walk, lasting=True),
            "accelerometer_bias": Block(noise.accelerometer_bias, noise.accelerometer_bias_walk),
        }

    def seen(self, m: Measurement) -> bool:
        """Angular rates are there."""
        return m.gyro is not None

    def remark(self, m: Measurement) -> str:
        """Which axes are dead; that it is read seldom."""
        if m.imu_dead is None:
            return READ_SELDOM.format(1e3 * m.imu_interval) if m.imu_seldom else ""
        dead = ", ".join(axis for axis, is_dead in zip(AXES, m.imu_dead) if is_dead)
        return f"not used, for it says the same all the time: {dead}"

    def give_state(self, given, m: Measurement, noise, wearer: Wearer) -> None:
        """Gyro; vertical and turn of the heading where the IMU has an orientation."""
        if m.gyro is not None:
            sampled = noise.gyro / math.sqrt(m.gyro_samples)
            deviation = np.hypot(sampled, INSTANT * m.gyro_change)
            given.set("gyro", m.gyro, _alive(m)[:3] / deviation)
        if m.quat_world_imu is not None:
            up = vertical(m.quat_world_imu)
            given.set("tilt", up, ALIVE[:3] / noise.imu_tilt)
            if m.heading_rate is not None:
                weight = math.sqrt(wearer.step) / noise.imu_heading_walk
                given.set("heading", np.array([m.heading_rate, *up]), np.array([weight]))

    def give_step(self, given, m: Measurement, noise) -> None:
        """Specific force."""
        if m.accelerometer is None:
            return
        sampled = noise.accelerometer / math.sqrt(m.accelerometer_samples)
        missed = noise.accelerometer_sampling * m.accelerometer_change
        variance = sampled**2 + noise.accelerometer_model**2 + missed * missed
        given.set("accelerometer", m.accelerometer, _alive(m)[3:] / np.sqrt(variance))


def _alive(m: Measurement) -> np.ndarray:
    """(6,) 0 of axes that are dead, 1 of the others."""
    return ALIVE if m.imu_dead is None else ALIVE - m.imu_dead


def vertical(quat_world_body: np.ndarray) -> np.ndarray:
    """(3,) the vertical in body axes: third row of the rotation matrix of a quaternion xyzw."""
    x, y, z, w = quat_world_body.tolist()
    return np.array([2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)])


def tilt(up: np.ndarray) -> float:
    """Angle [rad] between a body's third axis and the vertical, `up` (3,) in body axes."""
    return math.acos(min(max(float(up[2]), -1.0), 1.0))


def world_axes(quat_world_base: np.ndarray) -> np.ndarray:
    """R_world_base (3, 3) of a quaternion xyzw: its rows are the world's axes in base axes."""
    x, y, z, w = quat_world_base.tolist()
    return np.array(
        [
            [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)],
            [2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)],
            [2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)],
        ]
    )
