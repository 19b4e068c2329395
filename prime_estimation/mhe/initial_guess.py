# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Where the first batch begins to iterate.

Joints as measured, base from gyro, specific force and standing feet.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from ..contact.leg_forces import CLEARANCE, LegForces
from ..errors import InitializationError
from ..types import Measurement
from .problem import Problem

CREDIBLE = 6.0  # prior standard deviations that parameters of a lost estimate may have gone


def guess_states(
    problem: Problem, ms: list[Measurement], before: np.ndarray | None
) -> list[np.ndarray]:
    """Initial states of all nodes; a joint reading that is missing is held."""
    position, velocity = ms[0].position, ms[0].velocity
    joints = []
    for m in ms:
        position = position if m.position is None else m.position
        velocity = velocity if m.velocity is None else m.velocity
        joints.append((position, velocity))
    neutral = problem.state.zero()
    shift = problem.nq - problem.nv
    neutral[problem.columns("theta").start + shift : problem.columns("theta").stop + shift] = (
        problem.theta_nominal
    )
    friction = problem.columns("friction")
    neutral[friction.start + shift : friction.stop + shift] = np.log(
        problem.config.estimator.friction
    )
    if before is not None and _credible(problem, before):
        neutral[problem.nq + problem.nv :] = before[problem.nq + problem.nv :]
    xs = []
    for position, velocity in joints:
        x = neutral.copy()
        coordinates = problem.robot.coordinates(position)
        x[problem.nq - len(coordinates) : problem.nq] = coordinates
        x[problem.nq + problem.nv - problem.nj : problem.nq + problem.nv] = velocity
        xs.append(x)
    if problem.floating:
        _guess_base(problem, ms, xs, before)
    return xs


def _credible(problem: Problem, x: np.ndarray) -> bool:
    """Whether the inertia and biases of a state are within what the prior allows.

    Those of an estimate that was lost may be anything.
    """
    columns, shift = problem.columns("theta"), problem.nq - problem.nv
    theta = x[columns.start + shift : columns.stop + shift] - problem.theta_nominal
    deviation = [np.linalg.solve(problem.theta_prior_root, theta)]
    noise = problem.config.noise
    deviation += [
        problem.parameter(x, name) / std
        for name, std in (
            ("gyro_bias", noise.gyro_bias),
            ("accelerometer_bias", noise.accelerometer_bias),
        )
    ]
    return bool(np.abs(np.concatenate(deviation)).max(initial=0.0) < CREDIBLE)


def _guess_base(
    problem: Problem, ms: list[Measurement], xs: list[np.ndarray], before: np.ndarray | None
) -> None:
    """Attitude, velocity, position and ground heights, written into xs."""
    nq, dt = problem.nq, problem.dt
    imu = [
        problem.mount.motion(
            problem.robot.positions(x[:nq]), x[nq + problem.nv - problem.nj : nq + problem.nv]
        )
        for x in xs
    ]
    gyros = [
        X.rotation @ (m.gyro - moved.angular) if m.gyro is not None else np.zeros(3)
        for m, (X, moved) in zip(ms, imu)
    ]
    turns = [np.eye(3)]
    for gyro in gyros[1:]:
        turns.append(turns[-1] @ pin.exp3(dt * gyro))
    if problem.carried:
        _guess_carried_base(problem, ms, xs, before, [X.rotation for X, _ in imu], gyros, turns)
        return
    R0 = _first_attitude(ms, turns, [X.rotation for X, _ in imu], before)
    weights, heights = _follow_feet(problem, ms, xs, [R0 @ turn for turn in turns], gyros)
    ground, offset = _ground(problem, weights, heights, _first_position(ms, xs), before)
    columns, shift = problem.columns("height"), nq - problem.nv
    for x in xs:
        x[:3] += offset
        x[columns.start + shift : columns.stop + shift] = ground + offset[2]


def _follow_feet(
    problem: Problem,
    ms: list[Measurement],
    xs: list[np.ndarray],
    attitudes: list[np.ndarray],
    gyros: list[np.ndarray],
):
    """Motion of the base over feet that stand, from the origin, written into xs.

    Loads and heights (n, nf) of the feet.
    """
    nq, legs = problem.nq, LegForces(problem.robot)
    weights, heights, position = [], [], np.zeros(3)
    for k, (m, x, R) in enumerate(zip(ms, xs, attitudes)):
        torque = ms[k + 1].torque if k + 1 < len(ms) else None
        load, foot, rate = legs.kinematics(R, x[7:nq], x[nq + 6 : nq + problem.nv], torque)
        weight = load + 1e-3
        # the sole stands still: v + w x r + J dq = 0
        v = -R.T @ np.average(rate + np.cross(R @ gyros[k], foot), axis=0, weights=weight)
        if k > 0:
            position = position + problem.dt * R @ v
        x[:3], x[3:7] = position, pin.Quaternion(R).coeffs()
        x[nq : nq + 6] = np.concatenate([v, gyros[k]])
        weights.append(weight)
        heights.append(position[2] + foot[:, 2])
    return np.array(weights), np.array(heights)


def _ground(
    problem: Problem,
    weights: np.ndarray,
    heights: np.ndarray,
    offset: np.ndarray | None,
    before: np.ndarray | None,
):
    """Height of the ground under each foot (nf,), and by how much all is shifted then.

    `offset`: that of motion capture.
    """
    ground = np.average(heights, axis=0, weights=weights)
    # a foot that never stood in the batch takes the common height
    common = np.average(heights, weights=weights)
    ground[weights.max(axis=0) < 0.2] = common
    if offset is None:
        offset = np.array([0.0, 0.0, -common])
        ground[:] = common
        if before is not None:
            offset += [before[0], before[1], np.mean(problem.parameter(before, "height"))]
    return ground, offset


def _guess_carried_base(
    problem: Problem,
    ms: list[Measurement],
    xs: list[np.ndarray],
    before: np.ndarray | None,
    R_base_imu,
    gyros,
    turns,
) -> None:
    """What the IMU says goes on from the state before the robot was lifted or fell.

    Without one it hangs at rest, off the ground.
    """
    nq, dt, gravity = problem.nq, problem.dt, problem.robot.model.gravity.linear
    if before is None:
        R0, velocity, position = (
            _first_attitude(ms, turns, R_base_imu, None),
            np.zeros(3),
            np.zeros(3),
        )
    else:
        R0, position = pin.Quaternion(before[3:7]).toRotationMatrix(), before[:3].copy()
        velocity = R0 @ before[nq : nq + 3]
    for k, (m, x) in enumerate(zip(ms, xs)):
        if k > 0 and m.accelerometer is not None:
            velocity = velocity + dt * (
                R0 @ turns[k - 1] @ R_base_imu[k - 1] @ m.accelerometer + gravity
            )
        if k > 0:
            position = position + dt * velocity
        R = R0 @ turns[k]
        x[:3], x[3:7] = position, pin.Quaternion(R).coeffs()
        x[nq : nq + 6] = np.concatenate([R.T @ velocity, gyros[k]])
    offset = _first_position(ms, xs)
    columns, shift = problem.columns("height"), nq - problem.nv
    soles = LegForces(problem.robot).kinematics(R0, xs[0][7:nq], np.zeros(problem.nj), None)[1][
        :, 2
    ]
    for x in xs:
        x[:3] += np.zeros(3) if offset is None else offset
        if before is None:
            x[columns.start + shift : columns.stop + shift] = xs[0][2] + soles.min() - CLEARANCE


def _first_attitude(
    ms: list[Measurement],
    turns: list[np.ndarray],
    R_base_imu: list[np.ndarray],
    before: np.ndarray | None,
) -> np.ndarray:
    poses = [(m, pose, turn) for m, turn in zip(ms, turns) for pose in m.mocap]
    if poses:
        seen = [
            (p.quat_world_body / np.linalg.norm(p.quat_world_body), turn) for _, p, turn in poses
        ]
        candidates = [
            pin.Quaternion(quaternion).toRotationMatrix() @ turn.T for quaternion, turn in seen
        ]
        return _nearest_rotation(sum(candidates))
    up = sum(
        (
            turn @ R @ m.accelerometer
            for m, turn, R in zip(ms, turns, R_base_imu)
            if m.accelerometer is not None
        ),
        np.zeros(3),
    )
    if np.linalg.norm(up) < 1e-3:
        raise InitializationError(
            "cannot start: no specific force and no motion capture, so that up is unknown", ms
        )
    level = pin.Quaternion.FromTwoVectors(
        up / np.linalg.norm(up), np.array([0.0, 0.0, 1.0])
    ).toRotationMatrix()
    if before is None:
        return level
    ahead, now = pin.Quaternion(before[3:7]).toRotationMatrix()[:, 0], level[:, 0]
    return (
        pin.exp3(np.array([0.0, 0.0, np.arctan2(ahead[1], ahead[0]) - np.arctan2(now[1], now[0])]))
        @ level
    )


def _first_position(ms: list[Measurement], xs: list[np.ndarray]) -> np.ndarray | None:
    offsets = [pose.position_world - x[:3] for m, x in zip(ms, xs) for pose in m.mocap]
    return np.mean(offsets, axis=0) if offsets else None


def _nearest_rotation(matrix: np.ndarray) -> np.ndarray:
    u, _, vt = np.linalg.svd(matrix)
    return u @ np.diag([1.0, 1.0, np.linalg.det(u @ vt)]) @ vt
