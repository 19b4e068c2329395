# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Noise covariances of the kinematic estimator: full blocks, by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ..config.parameters import Config


@dataclass(frozen=True)
class NoiseModel:
    """Covariance blocks, and what is not calibrated.

    Attributes:
        blocks: by name, each (d, d), symmetric positive definite:
            gyro, accelerometer: of one sample [(rad/s)^2, (m/s^2)^2];
            gyro_walk, accelerometer_walk: of the biases [(rad/s)^2/s, (m/s^2)^2/s];
            encoder, rate: of one sample, joints of a leg [rad^2, (rad/s)^2];
            slip: of a standing foot, world axes [m^2/s];
            leg_position, leg_velocity: what kinematics miss, IMU axes [m^2, (m/s)^2];
            sole_turning: of a standing sole, IMU axes [(rad/s)^2]; only of robots that have soles.
        mocap_position, mocap_rotation: standard deviations of a pose [m, rad].
        impact: share of the change between two samples of the accelerometer that their mean misses;
            all of it where soles land, which are stiff: the same is missed at each step then, and
            what adds up so is no noise.
        swing: random walk of a foot in the air [m/sqrt(s)].
        start: standard deviations of the first node: position [m], rotation [rad], velocity [m/s],
            accelerometer bias [m/s^2], gyro bias [rad/s].
    """

    blocks: Mapping[str, np.ndarray]
    mocap_position: float
    mocap_rotation: float
    start: tuple[float, float, float, float, float]
    impact: float
    swing: float = 3.0

    @staticmethod
    def of(config: Config, leg_joints: int, soles: bool = False) -> NoiseModel:
        """Shipped values of a robot, with or without soles: diagonal blocks."""
        n = config.noise
        stddev = {
            "gyro": (n.gyro, 3),
            "accelerometer": (n.accelerometer, 3),
            "gyro_walk": (n.gyro_bias_walk, 3),
            "accelerometer_walk": (n.accelerometer_bias_walk, 3),
            "encoder": (n.encoder, leg_joints),
            "rate": (n.joint_velocity, leg_joints),
            "slip": (SLIP, 3),
            "leg_position": (LEG_POSITION, 3),
            "leg_velocity": (LEG_VELOCITY, 3),
        }
        stddev |= {"sole_turning": (SOLE_TURNING, 3)} if soles else {}
        blocks = {k: s**2 * np.eye(d) for k, (s, d) in stddev.items()}
        start = (10.0, 1.0, 10.0, n.accelerometer_bias, n.gyro_bias)
        impact = 1.0 if soles else MISSED
        return NoiseModel(blocks, n.mocap_position, n.mocap_rotation, start, impact)

    def with_blocks(self, blocks: Mapping[str, np.ndarray]) -> NoiseModel:
        """The same with other covariances of the blocks named."""
        return replace(self, blocks={**self.blocks, **blocks})


# of a step of a signal at any time between two samples: half of it at most, uniformly spread
MISSED = 1.0 / np.sqrt(12.0)
SLIP = 0.0005  # m/sqrt(s)
LEG_POSITION = 0.0005  # m
LEG_VELOCITY = 0.02  # m/s
SOLE_TURNING = 0.02  # rad/s
UNITS = {
    "gyro": "rad/s",
    "accelerometer": "m/s2",
    "gyro_walk": "rad/s/sqrt(s)",
    "accelerometer_walk": "m/s2/sqrt(s)",
    "encoder": "rad",
    "rate": "rad/s",
    "slip": "m/sqrt(s)",
    "leg_position": "m",
    "leg_velocity": "m/s",
    "sole_turning": "rad/s",
}
