# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Residuals of the kinematic estimator with analytic Jacobians, for all nodes at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from .leg_kinematics import Leg
from .offsets import Offsets
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
from .trajectory import ACCELEROMETER, GYRO, POSITION, ROTATION, VELOCITY, Trajectory, foot_columns

GRAVITY = np.array([0.0, 0.0, -9.81])
UP = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True)
class Bend:
    """Block (m, 3, 3) of a second derivative by columns of two nodes laid side by side.

    Off the diagonal it stands for its transpose, too.
    """

    rows: slice
    columns: slice
    block: np.ndarray


def _straight(force: np.ndarray) -> list[Bend]:
    """Of a residual that is linear."""
    return []


@dataclass
class Factor:
    """Residuals of one kind, m times, of r rows.

    Attributes:
        name: of the kind.
        node: (m,) the (first) node that each concerns.
        residual: (m, r).
        columns: (c,) columns in the tangents of this node and the next one, laid side by side.
        jacobian: (m, r, c).
        parameters: (k,) columns of the offsets' vector.
        by_offsets: gives (m, r, k), the derivative by them, which not all that ask need.
        curvature: second derivative by the states of `force . residual`, forces (m, r) held.
    """

    name: str
    node: np.ndarray
    residual: np.ndarray
    columns: np.ndarray
    jacobian: np.ndarray
    parameters: np.ndarray = field(default_factory=lambda: np.zeros(0, int))
    by_offsets: Callable[[], np.ndarray] | None = None
    curvature: Callable[[np.ndarray], list[Bend]] = _straight

    @property
    def offset_jacobian(self) -> np.ndarray | None:
        """(m, r, k) derivative by the offsets; None: they do nothing."""
        return None if self.by_offsets is None else self.by_offsets()


def _next(columns: slice, x: Trajectory) -> slice:
    """Columns of the next node."""
    return slice(columns.start + x.width, columns.stop + x.width)


def _columns(*slices: slice, shift: int = 0) -> list[int]:
    return [i + shift for s in slices for i in range(s.start, s.stop)]


def _filled(shape: tuple, parts: list[np.ndarray], dtype) -> np.ndarray:
    """(m, r, c) of blocks (m, r, .) or (r, .) side by side."""
    m, r = shape
    return np.concatenate(
        [np.broadcast_to(p, (m, r, p.shape[-1])).astype(dtype) for p in parts], axis=2
    )


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
    J = np.concatenate([_filled((n, 3), row, r.dtype) for row in rows], axis=1)
    first = _columns(POSITION, ROTATION, VELOCITY, ACCELEROMETER, GYRO)
    second = _columns(POSITION, ROTATION, VELOCITY, shift=x.width)

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
            Bend(_next(ROTATION, x), _next(ROTATION, x), bending(N1)),
            Bend(ROTATION, _next(ROTATION, x), -between @ (N1 - T1)),
            Bend(GYRO, GYRO, transpose(by_bias) @ bending(Ng) @ by_bias),
            Bend(GYRO, _next(ROTATION, x), -transpose(by_bias) @ E @ (N1 - T1)),
            Bend(GYRO, ROTATION, transpose(P @ by_bias) @ (N0 - T0)),
            Bend(VELOCITY, ROTATION, by_velocity + dt * by_place),
            Bend(_next(VELOCITY, x), ROTATION, -by_velocity),
            Bend(POSITION, ROTATION, by_place),
            Bend(_next(POSITION, x), ROTATION, -by_place),
        ]

    return Factor("imu", np.arange(n), r, np.array(first + second), J, curvature=curvature)


def bias_walk(x: Trajectory) -> Factor:
    """Change of accelerometer and gyro bias over a step."""
    r = np.concatenate(
        [np.diff(x.accelerometer_bias, axis=0), np.diff(x.gyro_bias, axis=0)], axis=1
    )
    J = np.concatenate([-np.eye(6), np.eye(6)], axis=1)
    columns = _columns(ACCELEROMETER, GYRO) + _columns(ACCELEROMETER, GYRO, shift=x.width)
    J = np.broadcast_to(J, (len(r), 6, 12)).astype(r.dtype)
    return Factor("bias_walk", np.arange(len(r)), r, np.array(columns), J)


@dataclass(frozen=True)
class LegTerms:
    """Kinematics of one leg in IMU axes, with derivatives by joints, foot and the IMU's place."""

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
    point, velocity, rate = (
        (m.position - offsets.imu_position) @ C.T,
        m.velocity @ C.T,
        m.rate @ C.T,
    )
    at, n = offsets.columns, len(point)
    feet = np.arange(3) + at["feet"].start + 3 * foot
    parameters = np.concatenate(
        [feet, at["joints"].start + joints, np.r_[at["imu_rotation"]], np.r_[at["imu_position"]]]
    )
    dtype = np.result_type(point, velocity)
    zero = np.zeros((3, 3))
    tip = C @ skew(m.rate) @ m.rotation  # of the velocity by the tip of the foot
    return LegTerms(
        point,
        velocity,
        rate,
        parameters,
        _filled((n, 3), [C @ m.rotation, -C @ m.jacobian, skew(point), -C], dtype),
        _filled((n, 3), [tip, -C @ m.velocity_jacobian, skew(velocity), zero], dtype),
        _filled((n, 3), [zero, -C @ m.rate_jacobian, skew(rate), zero], dtype),
    )


def leg_measurement(
    x: Trajectory, leg: Leg, foot: int, terms: LegTerms, recording: KinematicRecording
) -> Factor:
    """Place of a foot, and velocity of the base over a foot that rolls on its sphere; IMU axes.

    `R^T (c - p) - y` and `R^T v + v_leg + w x y - r (w + w_leg) x R^T z`, w without its bias.
    """
    Rt = transpose(x.rotation)
    place = rotate(Rt, x.feet[:, foot] - x.position)
    speed, up = rotate(Rt, x.velocity), rotate(Rt, np.broadcast_to(UP, x.position.shape))
    w = recording.gyro - x.gyro_bias
    turning = w + terms.rate
    y = terms.point
    rolling = leg.radius * rotate(skew(turning), up)
    r = np.concatenate([place - y, speed + terms.velocity + rotate(skew(w), y) - rolling], axis=1)
    n, Z = len(r), np.zeros((3, 3))
    W, U = skew(w), leg.radius * skew(up)
    rows = [
        [-Rt, skew(place), Z, Z, Rt],
        [Z, skew(speed) - leg.radius * skew(turning) @ skew(up), Rt, skew(y) - U, Z],
    ]
    J = np.concatenate([_filled((n, 3), row, r.dtype) for row in rows], axis=1)
    columns = np.array(_columns(POSITION, ROTATION, VELOCITY, GYRO, foot_columns(foot)))

    def by_offsets() -> np.ndarray:
        by_velocity = terms.velocity_by + W @ terms.point_by + U @ terms.rate_by
        return np.concatenate([-terms.point_by, by_velocity], axis=1)

    def curvature(force: np.ndarray) -> list[Bend]:
        held, pulled = force[:, :3], force[:, 3:]
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
    J = _filled((n, 3), [by_rotation, -by_turning, -np.eye(3), np.eye(3)], r.dtype)
    at = foot_columns(foot)
    columns = np.array(_columns(ROTATION, GYRO, at) + _columns(at, shift=x.width))

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


def mocap_pose(x: Trajectory, recording: KinematicRecording, offsets: Offsets) -> Factor:
    """Position (world axes) and rotation (body axes) of the tracked body."""
    m = recording.mocap
    p, R, v = x.position[m.node], x.rotation[m.node], x.velocity[m.node]
    C = offsets.imu_rotation.T
    arm = C @ (offsets.mocap_position - offsets.imu_position)
    Rt = R @ m.turn  # of the IMU at the pose
    own = m.shift + m.turn @ arm  # IMU axes at the node
    age = m.age[:, None]
    position = p + v * age + 0.5 * GRAVITY * age**2 + rotate(R, own)
    body = C @ offsets.mocap_rotation
    E = transpose(m.rotation) @ Rt @ body
    r = np.concatenate([position - m.position, sine_vector(E)], axis=1)
    S, n, Z = sine_jacobian(E), len(r), np.zeros((3, 3))
    one = np.eye(3)
    rows = [
        [np.broadcast_to(one, (n, 3, 3)), -R @ skew(own), age[:, :, None] * one],
        [Z, S @ transpose(m.turn @ body), Z],
    ]
    J = np.concatenate([_filled((n, 3), row, r.dtype) for row in rows], axis=1)
    at = offsets.columns
    parameters = np.concatenate(
        [np.r_[at[k]] for k in ("imu_rotation", "imu_position", "mocap_rotation", "mocap_position")]
    )
    columns = np.array(_columns(POSITION, ROTATION, VELOCITY))

    def by_offsets() -> np.ndarray:
        rows = [[Rt @ skew(arm), -Rt @ C, Z, Rt @ C], [-S @ body.T, Z, S, Z]]
        return np.concatenate([_filled((n, 3), row, r.dtype) for row in rows], axis=1)

    def curvature(force: np.ndarray) -> list[Bend]:
        N = -0.5 * m.turn @ body @ skew(force[:, 3:]) @ transpose(m.rotation) @ R
        pulled = rotate(transpose(R), force[:, :3])
        return [Bend(ROTATION, ROTATION, bending(N) + bending(outer(own, pulled)))]

    return Factor("mocap", m.node, r, columns, J, parameters, by_offsets, curvature)


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
