# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Factors of the legs: kinematics of a foot that stands and rolls, walk of its foothold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .factor import Bend, Factor, columns_of, side_by_side
from .leg_kinematics import Leg
from .offsets import Offsets
from .recording import KinematicRecording
from .rotations import bending, outer, rotate, skew, transpose
from .trajectory import GYRO, POSITION, ROTATION, VELOCITY, Trajectory, foot_columns

UP = np.array([0.0, 0.0, 1.0])  # world axes


@dataclass(frozen=True)
class LegTerms:
    """Kinematics of one leg in IMU axes, with derivatives by joints, offset and the IMU's place."""

    point: np.ndarray  # (n, 3) centre of the foot
    velocity: np.ndarray  # (n, 3) relative to the base
    rate: np.ndarray  # (n, 3) of the link relative to the base
    parameters: np.ndarray  # (k,) columns in the offsets' vector
    point_by: np.ndarray  # (n, 3, k)
    velocity_by: np.ndarray  # (n, 3, k)
    rate_by: np.ndarray  # (n, 3, k)


def leg_terms(leg: Leg, foot: int, recording: KinematicRecording, offsets: Offsets) -> LegTerms:
    """Kinematics of a leg from encoders and offsets."""
    joints = np.array(leg.joints)
    angle = recording.angle[:, joints] - offsets.joints[joints]
    m = leg.motion(angle, recording.rate[:, joints], offsets.feet[foot])
    C = offsets.imu_rotation.T
    point = (m.position - offsets.imu_position) @ C.T
    velocity = m.velocity @ C.T
    rate = m.rate @ C.T
    n, parameters = len(point), offset_columns(leg, foot, offsets)
    dtype = np.result_type(point, velocity)
    zero = np.zeros((3, 3))
    tip = C @ skew(m.shifted_rate) @ m.shifted  # of the velocity by the offset
    return LegTerms(
        point,
        velocity,
        rate,
        parameters,
        side_by_side((n, 3), [C @ m.shifted, -C @ m.jacobian, skew(point), -C], dtype),
        side_by_side((n, 3), [tip, -C @ m.velocity_jacobian, skew(velocity), zero], dtype),
        side_by_side((n, 3), [zero, -C @ m.rate_jacobian, skew(rate), zero], dtype),
    )


def offset_columns(leg: Leg, foot: int, offsets: Offsets) -> np.ndarray:
    """(k,) columns of a leg in the offsets' vector: foot, joints, rotation and place of the IMU."""
    at = offsets.columns
    feet = np.arange(3) + at["feet"].start + 3 * foot
    joints = at["joints"].start + np.array(leg.joints)
    return np.concatenate([feet, joints, np.r_[at["imu_rotation"]], np.r_[at["imu_position"]]])


def leg_measurement(
    x: Trajectory, leg: Leg, foot: int, terms: LegTerms, recording: KinematicRecording
) -> Factor:
    """Place of a foot, and velocity of the base over a foot that rolls on its sphere; IMU axes.

    `R^T (c - p) - y` and `R^T v + v_leg + w x y - r (w + w_leg) x R^T z`, w without its bias; of a
    sole, which lies instead, r is zero, and `w + w_leg` is its turning.
    """
    Rt = transpose(x.rotation)
    place = rotate(Rt, x.feet[:, foot] - x.position)
    speed, up = rotate(Rt, x.velocity), rotate(Rt, np.broadcast_to(UP, x.position.shape))
    w = recording.gyro - x.gyro_bias
    turning = w + terms.rate
    y = terms.point
    rolling = leg.radius * rotate(skew(turning), up)
    parts = [place - y, speed + terms.velocity + rotate(skew(w), y) - rolling, turning]
    r = np.concatenate(parts, axis=1)[:, : leg.rows]
    n, Z = len(r), np.zeros((3, 3))
    W, U = skew(w), leg.radius * skew(up)
    rows = [
        [-Rt, skew(place), Z, Z, Rt],
        [Z, skew(speed) - leg.radius * skew(turning) @ skew(up), Rt, skew(y) - U, Z],
        [Z, Z, Z, -np.eye(3), Z],
    ][: leg.rows // 3]
    J = np.concatenate([side_by_side((n, 3), row, r.dtype) for row in rows], axis=1)
    columns = np.array(columns_of(POSITION, ROTATION, VELOCITY, GYRO, foot_columns(foot)))

    def by_offsets() -> np.ndarray:
        by_velocity = terms.velocity_by + W @ terms.point_by + U @ terms.rate_by
        by = [-terms.point_by, by_velocity, terms.rate_by]
        return np.concatenate(by, axis=1)[:, : leg.rows]

    def curvature(force: np.ndarray) -> list[Bend]:
        held, pulled = force[:, :3], force[:, 3:6]
        rolled = leg.radius * rotate(skew(turning), pulled)
        by_place = x.rotation @ skew(held)
        itself = bending(outer(held, place)) + bending(outer(pulled, speed))
        return [
            Bend(ROTATION, ROTATION, itself + bending(outer(rolled, up))),
            Bend(POSITION, ROTATION, by_place),
            Bend(foot_columns(foot), ROTATION, -by_place),
            Bend(VELOCITY, ROTATION, -x.rotation @ skew(pulled)),
            Bend(ROTATION, GYRO, -leg.radius * skew(up) @ skew(pulled)),
        ]

    name = f"leg_{foot}"
    return Factor(name, np.arange(n), r, columns, J, terms.parameters, by_offsets, curvature)


def foothold_walk(
    x: Trajectory, leg: Leg, foot: int, terms: LegTerms, recording: KinematicRecording
) -> Factor:
    """Change of a foothold over a step, less the rolling of its sphere, world axes.

    `c+ - c - r dt R ((w + w_leg) x R^T z)`, the rate averaged over both nodes in the first one's
    axes.
    """
    R, dt = x.rotation[:-1], recording.step
    mean = 0.5 * (recording.gyro[:-1] + recording.gyro[1:] + terms.rate[:-1] + terms.rate[1:])
    turning = rotate(R, mean - x.gyro_bias[:-1])
    scale = leg.radius * dt
    r = np.diff(x.feet[:, foot], axis=0) - scale * rotate(skew(turning), UP)
    n, up = len(r), scale * skew(UP)
    by_turning = up @ R  # - d(a x z) = [z]x da
    by_rotation = -by_turning @ skew(mean - x.gyro_bias[:-1])
    J = side_by_side((n, 3), [by_rotation, -by_turning, -np.eye(3), np.eye(3)], r.dtype)
    at = foot_columns(foot)
    columns = np.array(columns_of(ROTATION, GYRO, at) + columns_of(at, shift=x.width))

    def by_offsets() -> np.ndarray:
        return by_turning @ (0.5 * (terms.rate_by[:-1] + terms.rate_by[1:]))

    def curvature(force: np.ndarray) -> list[Bend]:
        pushed = -scale * rotate(transpose(R), rotate(skew(UP), force))
        rate = mean - x.gyro_bias[:-1]
        return [
            Bend(ROTATION, ROTATION, bending(outer(rate, pushed))),
            Bend(GYRO, ROTATION, -skew(pushed)),
        ]

    name = f"foothold_{foot}"
    return Factor(name, np.arange(n), r, columns, J, terms.parameters, by_offsets, curvature)
