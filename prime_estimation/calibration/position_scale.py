# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Scale of motion capture's positions against what the accelerometer feels."""

from __future__ import annotations

import numpy as np

from ..errors import DataError
from ..robot import Robot
from .initial_trajectory import initial_trajectory
from .leg_kinematics import Leg
from .offsets import Offsets
from .recording import KinematicRecording
from .rotations import rotate
from .travel import CLEARLY

SPAN = 20  # nodes between three places of which the second difference is taken: 0.2 s
# of positions in metres, at most: simulated walks, dances and hops have scales of 0.94 to 1.00
OFF = 0.15
CERTAIN = 0.02  # standard deviation of a scale that is known


def position_scale(
    recording: KinematicRecording, robot: Robot, offsets: Offsets
) -> tuple[float, float, float]:
    """Scale of the positions, its standard deviation, and the share of squares that is left.

    With second differences D over `SPAN` nodes of places p of the IMU by motion capture, of s, the
    double integral of the specific force, and of the rotation R, by which an arm l that is not the
    model's moves the tracked body, and the constant c of gravity,

        D p = scale D s + (D R) l + c

    is linear in scale, l and c. The share is that of what l and c alone leave.
    """
    legs, n = [Leg(robot, foot) for foot in robot.feet], len(recording)
    x = initial_trajectory(legs, recording, offsets)
    R, imu = x.rotation[: n - 1], recording.imu
    gained = rotate(R, imu.velocity[: n - 1]), rotate(R, imu.position[: n - 1])
    velocity = np.concatenate([np.zeros((1, 3)), np.cumsum(gained[0], axis=0)])
    steps = velocity[:-1] * recording.step + gained[1]
    way = np.concatenate([np.zeros((1, 3)), np.cumsum(steps, axis=0)])
    seen = np.zeros(n, bool)
    for shift in (-1, 0, 1):
        seen[np.clip(recording.mocap.node + shift, 0, n - 1)] = True
    known = seen[2 * SPAN :] & seen[SPAN:-SPAN] & seen[: -2 * SPAN]
    place, felt, turned = (
        (a[2 * SPAN :] - 2.0 * a[SPAN:-SPAN] + a[: -2 * SPAN])[known]
        for a in (x.position, way, x.rotation)
    )
    level = np.tile(np.eye(3), (len(place), 1))
    A, b = np.concatenate([turned.reshape(-1, 3), level], axis=1), place.ravel()
    unmoved = b - A @ np.linalg.lstsq(A, b, rcond=None)[0]
    alone = felt.ravel() - A @ np.linalg.lstsq(A, felt.ravel(), rcond=None)[0]
    power = max(float(alone @ alone), np.finfo(float).tiny)
    scale = float(alone @ unmoved) / power
    left = unmoved - scale * alone
    stddev = float(np.sqrt(np.mean(left**2) / power)) if len(left) else np.inf
    return scale, stddev, float(left @ left) / max(float(unmoved @ unmoved), np.finfo(float).tiny)


def check_scale(recording: KinematicRecording, robot: Robot, offsets: Offsets) -> None:
    """DataError where positions of motion capture are larger or smaller than the robot's motion.

    Args:
        recording: its signals, with an accelerometer that feels gravity.
        robot: whose signals these are.
        offsets: with the rotation of the tracked body that fits its turning.
    """
    if len(recording) <= 4 * SPAN:
        return
    scale, stddev, left = position_scale(recording, robot, offsets)
    if stddev < CERTAIN and left < CLEARLY and scale > 0.0 and abs(scale - 1.0) > OFF:
        raise DataError(
            f"{recording.name}: the tracked body is accelerated {scale:.2f} times as much as the "
            "IMU feels: positions of the motion capture are not in metres, or it was calibrated "
            "with a wand of another length",
            scale,
        )
