# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""External odometry: pose and velocity from a LiDAR or a camera, in a drifting frame."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from ..declaration import param
from .message_fields import finite, quaternion, vector
from .odometry_frame import EXACT, NAME, OdometryFrame
from .sensor import Alignment, Block, Role, Sensor, Wearer, check_arrays
from .tracker import EstimationProblem

UNIT = 0.01  # by which the norm of a quaternion may differ from one


@dataclass(frozen=True)
class OdometrySample:
    """Pose of the base in the odometry's own frame and its velocity, with standard deviations.

    `stamp_ns` is the time of measurement, `arrival_ns` that of arrival.
    """

    stamp_ns: int
    position_odom: np.ndarray  # (3,) m
    quat_odom_base: np.ndarray  # (4,) xyzw
    velocity_base: np.ndarray | None = None  # (3,) m/s
    position_stddev: float = 0.0  # m; 0: not said
    rotation_stddev: float = 0.0  # rad
    velocity_stddev: float = 0.0  # m/s
    arrival_ns: int = 0

    @property
    def pose(self) -> pin.SE3:
        """Pose of the base in the odometry's frame."""
        rotation = pin.Quaternion(self.quat_odom_base).toRotationMatrix()
        return pin.SE3(rotation, np.array(self.position_odom, float))


class ExternalOdometry(Sensor):
    """Relative pose and velocity from LiDAR or camera odometry.

    The pose of its frame is a random walk, so that the odometry is used over metres, while its
    drift over a long distance does not matter. It has its own rate, and may be late, drop out, or
    jump.
    """

    name = NAME
    sample = OdometrySample
    role = Role(("nav_msgs/msg/Odometry",), ("odometry/external",), by_name_only=True)
    alignment = Alignment.EVENTS
    residuals = (NAME,)
    optional = True
    framed = True
    innovations = (NAME,)
    wait_ns = 500_000_000

    @dataclass(frozen=True)
    class Noise:
        """Standard deviation of one reading of external odometry, and of its drift."""

        odometry_position: float = param(
            0.02, "external odometry, position, at least", "m", 1e-5, 10.0, tunable=True
        )
        odometry_rotation: float = param(
            0.01, "external odometry, rotation, at least", "rad", 1e-5, 1.0, tunable=True
        )
        odometry_velocity: float = param(
            0.1, "external odometry, velocity, at least", "m/s", 1e-4, 10.0, tunable=True
        )
        odometry_drift: float = param(
            0.05, "random walk of its position", "m/sqrt(s)", 0.0, 1.0, tunable=True
        )
        odometry_turn: float = param(
            0.001, "random walk of its rotation", "rad/sqrt(s)", 0.0, 1.0, tunable=True
        )

    def values(self, sample: OdometrySample) -> np.ndarray:
        """Pose and velocity; a quaternion that is not of norm one is none."""
        told = {} if sample.velocity_base is None else {"velocity_base": 3}
        check_arrays(NAME, sample, position_odom=3, quat_odom_base=4, **told)
        velocity = np.zeros(3) if sample.velocity_base is None else sample.velocity_base
        quat = sample.quat_odom_base
        if abs(np.linalg.norm(quat) - 1.0) > UNIT:
            quat = [np.nan]
        return np.concatenate([sample.position_odom, quat, velocity])

    def read(self, message, stamp_ns: int, arrival_ns: int, wearer: Wearer) -> OdometrySample:
        """Pose, twist and their covariances of a message; the largest variance of each counts.

        A variance below 0 or NaN says of a velocity that there is none, of a pose nothing.
        """
        quat = quaternion(message.pose.pose.orientation)
        if quat is None:
            raise ValueError("orientation is no unit quaternion")
        place, velocity = finite(
            vector(message.pose.pose.position), vector(message.twist.twist.linear)
        )
        pose = _variances(message.pose.covariance)
        twist = _variances(message.twist.covariance)
        known = twist[:3].max() >= 0.0 and (twist[:3].max() > 0.0 or velocity.any())
        # NaN loses against 0: behind it a weight would be NaN, and with it the whole window
        deviations = [np.sqrt(np.fmax(v, 0.0).max()) for v in (pose[:3], pose[3:], twist[:3])]
        return OdometrySample(
            stamp_ns, place, quat, velocity if known else None, *deviations, arrival_ns or stamp_ns
        )

    def blocks(self, noise, wearer: Wearer) -> dict[str, Block]:
        """Where its frame lies; it is defined anew with the first reading."""
        walk = np.array([noise.odometry_drift] * 3 + [noise.odometry_turn] * 3)
        return {"odometry_frame": Block(EXACT, walk)}

    def tracker(self, problem: EstimationProblem) -> OdometryFrame:
        """Keeps the key frame."""
        return OdometryFrame(problem)


def _variances(covariance) -> np.ndarray:
    """(6,) diagonal of a message's covariance."""
    return np.asarray(covariance, float).reshape(6, 6).diagonal()
