# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""States of all nodes: pose and velocity of the IMU, biases, footholds."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial.transform import Rotation

from .offsets import Offsets
from .recording import KinematicRecording
from .rotations import exp, right_jacobian, rotate, transpose

# columns of a node's tangent
POSITION, ROTATION, VELOCITY = slice(0, 3), slice(3, 6), slice(6, 9)
ACCELEROMETER, GYRO = slice(9, 12), slice(12, 15)
FEET = 15


def foot_columns(foot: int) -> slice:
    """Columns of a foothold in a node's tangent."""
    return slice(FEET + 3 * foot, FEET + 3 * foot + 3)


@dataclass(frozen=True)
class Trajectory:
    """n nodes; the tangent of a node is (position, rotation, velocity, biases, footholds).

    Attributes:
        position: (n, 3) of the IMU, world [m]. rotation: (n, 3, 3) world from IMU.
        velocity: (n, 3) of the IMU, world [m/s].
        accelerometer_bias, gyro_bias: (n, 3) IMU axes [m/s^2, rad/s].
        feet: (n, nf, 3) centres of the feet's spheres, world [m].
    """

    position: np.ndarray
    rotation: np.ndarray
    velocity: np.ndarray
    accelerometer_bias: np.ndarray
    gyro_bias: np.ndarray
    feet: np.ndarray

    def __len__(self) -> int:
        return len(self.position)

    @property
    def width(self) -> int:
        """Dimension of a node's tangent."""
        return FEET + 3 * self.feet.shape[1]

    def moved(self, d: np.ndarray) -> Trajectory:
        """States after steps (n, width) of the tangents, rotations by their right tangent."""
        return Trajectory(
            self.position + d[:, POSITION],
            self.rotation @ exp(d[:, ROTATION]),
            self.velocity + d[:, VELOCITY],
            self.accelerometer_bias + d[:, ACCELEROMETER],
            self.gyro_bias + d[:, GYRO],
            self.feet + d[:, FEET:].reshape(self.feet.shape),
        )

    def carried(self, d: np.ndarray) -> Trajectory:
        """`moved` to first order; a turn carries along what lies in the world.

        Exponential of SE(3) with as many vectors as there are: steps that turn and shift all nodes
        together do so exactly, and change no residual but that of the start.
        """
        turn = d[:, ROTATION]
        # left Jacobian, from IMU to world axes
        V = self.rotation @ right_jacobian(-turn) @ transpose(self.rotation)
        feet = rotate(V[:, None], d[:, FEET:].reshape(self.feet.shape))
        return Trajectory(
            self.position + rotate(V, d[:, POSITION]),
            self.rotation @ exp(turn),
            self.velocity + rotate(V, d[:, VELOCITY]),
            self.accelerometer_bias + d[:, ACCELEROMETER],
            self.gyro_bias + d[:, GYRO],
            self.feet + feet,
        )

    def base_position(self, offsets: Offsets) -> np.ndarray:
        """(n, 3) of the base origin, world [m]."""
        lever = offsets.imu_rotation.T @ offsets.imu_position
        return self.position - self.rotation @ lever

    def base_rotation(self, offsets: Offsets) -> np.ndarray:
        """(n, 3, 3) world from base."""
        return self.rotation @ offsets.imu_rotation.T


def turning_rates(recording: KinematicRecording, offsets: Offsets) -> tuple[np.ndarray, np.ndarray]:
    """Angular rate by the gyro, base axes, and by motion capture, its body's (m, 3) [rad/s]."""
    m = recording.mocap
    order = np.argsort(recording.step * m.node + m.age)
    times = (recording.step * m.node + m.age)[order]
    poses = Rotation.from_matrix(m.rotation[order])
    span = 6  # poses: a difference of two would be noise
    turn = (poses[:-span].inv() * poses[span:]).as_rotvec()
    rate = turn / (times[span:] - times[:-span])[:, None]
    middle = m.node[order][span // 2 : -span // 2]
    kernel = np.ones(5) / 5.0
    gyro = np.stack([np.convolve(c, kernel, "same") for c in recording.gyro.T], axis=1)[middle]
    in_base = gyro @ offsets.imu_rotation.T
    return in_base - in_base.mean(0), rate - rate.mean(0)


def initial_offsets(recording: KinematicRecording, offsets: Offsets) -> Offsets:
    """Offsets with the rotation of the tracked body that fits its turning best.

    Angular rates of gyro and motion capture are the same vectors in two frames (Kabsch).
    """
    found = Rotation.align_vectors(*turning_rates(recording, offsets))[0]
    return replace(offsets, mocap_rotation=found.as_matrix())
