# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The first batch: from half a second of measurements, robot standing or walking, to a converged window.

Guess: attitude from the gyro and the mean specific force (or motion capture), velocity from the legs that carry load. Then a
multiple-shooting solution of the whole batch, the inertia held for the first iterations.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from . import _core
from .contact import CLEARANCE, LegForces
from .errors import InitializationError
from .problem import Problem
from .types import Measurement
from .window import Window

CONTINUED = 0.01, 0.05  # standard deviation of tilt [rad] and velocity [m/s, rad/s] where an estimate goes on without its feet
CREDIBLE = 6.0  # prior standard deviations that parameters of a lost estimate may have gone
HELD_ITERATIONS = 5  # with the inertia fixed: until forces and motion roughly agree, it would absorb their errors


def start_window(problem: Problem, measurements: list[Measurement], before: np.ndarray | None = None) -> Window:
    """A converged window over all measurements but those before the first complete one.

    Args:
        problem: models and noise.
        measurements: of consecutive nodes.
        before: state of a former window at the beginning of the measurements, when the estimate was lost: place, heading, ground and
            parameters go on from there (with the uncertainty of a first start).

    Raises:
        InitializationError: the measurements cannot carry a start (no joint data, or the batch has no solution).
    """
    usable = [i for i, m in enumerate(measurements) if m.position is not None and m.velocity is not None]
    if not usable or len(measurements) - usable[0] < 3:
        raise InitializationError("cannot start: the first measurements hold no joint positions and rates", measurements)
    ms = measurements[usable[0] :]
    xs = _guess(problem, ms, before)
    inputs = state_inputs(problem, ms)
    for given, after in zip(inputs, ms[1:]):
        problem.dynamics_input(given, after)
    stamps = [m.stamp_ns for m in ms]
    for m in ms:
        give_poses(problem, m.mocap, inputs, stamps)
    root = prior_root(problem, bool(any(m.mocap for m in ms)), problem.carried and before is not None)
    arrival = _core.ActionArrival(problem.state, xs[0], root @ root.T)
    window = Window(problem, arrival, inputs, stamps, xs)
    theta = problem.columns("theta")
    held = np.array(arrival.L)
    held[theta] *= 1e-3
    free, arrival.L = np.array(arrival.L), held
    try:
        window.solve(HELD_ITERATIONS)
        if any(m.torque is not None for m in ms) and not problem.carried:  # else nothing tells the weight
            arrival.L = free
        window.solve(problem.config.estimator.start_iterations)
    except RuntimeError as error:
        raise InitializationError(f"cannot start: {error}", ms) from error
    return window


def state_inputs(problem: Problem, ms: list[Measurement]) -> list:
    """State parts of consecutive measurements, the first of which has joint positions."""
    seen, inputs = ms[0].position, []
    for m in ms:
        seen = seen if m.position is None else m.position
        inputs.append(problem.state_input(m, seen))
    return inputs


def give_poses(problem: Problem, poses, inputs: list, stamps: list[int]) -> int:
    """Hand motion capture poses to the nodes in whose past step they were taken; returns how many found none."""
    lost, used = 0, {}
    for pose in poses:
        k = int(np.searchsorted(stamps, pose.stamp_ns))
        before = stamps[k - 1] if k > 0 else stamps[0] - round(problem.dt * 1e9)
        slot = used.get(k, 0)
        if k == len(stamps) or pose.stamp_ns <= before or slot >= 2:
            lost += 1
            continue
        problem.set_pose(inputs[k], slot, pose, stamps[k])
        used[k] = slot + 1
    return lost


def shorten(window: Window, size: int, noise: np.ndarray) -> Window:
    """The last `size` nodes of a window behind an arrival cost that contains the others."""
    arrival = window.arrival
    for k in range(window.size - size):
        arrival.advance(window.nodes[k], window.data[k], window.xs[k], window.us[k], window.xs[k + 1], noise)
    keep = slice(-(size + 1), None)
    return Window(window.problem, arrival, window.inputs[keep], window.stamps[keep], window.xs[keep], window.us[-size:])


def _guess(problem: Problem, ms: list[Measurement], before: np.ndarray | None) -> list[np.ndarray]:
    """Initial states of all nodes; a joint reading that is missing is held."""
    position, velocity = ms[0].position, ms[0].velocity
    joints = []
    for m in ms:
        position = position if m.position is None else m.position
        velocity = velocity if m.velocity is None else m.velocity
        joints.append((position, velocity))
    neutral = problem.state.zero()
    shift = problem.nq - problem.nv
    neutral[problem.columns("theta").start + shift : problem.columns("theta").stop + shift] = problem.theta_nominal
    friction = problem.columns("friction")
    neutral[friction.start + shift : friction.stop + shift] = np.log(problem.config.estimator.friction)
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
    """Whether the inertia and biases of a state are within what the prior allows: those of an estimate that was lost may be anything."""
    columns, shift = problem.columns("theta"), problem.nq - problem.nv
    theta = x[columns.start + shift : columns.stop + shift] - problem.theta_nominal
    deviation = [np.linalg.solve(problem.theta_prior_root, theta)]
    noise = problem.config.noise
    deviation += [
        problem.parameter(x, name) / std for name, std in (("gyro_bias", noise.gyro_bias), ("accelerometer_bias", noise.accelerometer_bias))
    ]
    return bool(np.abs(np.concatenate(deviation)).max(initial=0.0) < CREDIBLE)


def _guess_base(problem: Problem, ms: list[Measurement], xs: list[np.ndarray], before: np.ndarray | None) -> None:
    """Attitude, velocity, position and ground heights, written into xs."""
    nq, dt = problem.nq, problem.dt
    imu = [problem.mount.motion(x[nq - problem.nj : nq], x[nq + problem.nv - problem.nj : nq + problem.nv]) for x in xs]
    gyros = [X.rotation @ (m.gyro - moved.angular) if m.gyro is not None else np.zeros(3) for m, (X, moved) in zip(ms, imu)]
    turns = [np.eye(3)]
    for gyro in gyros[1:]:
        turns.append(turns[-1] @ pin.exp3(dt * gyro))
    if problem.carried:
        _guess_carried_base(problem, ms, xs, before, [X.rotation for X, _ in imu], gyros, turns)
        return
    R0 = _first_attitude(ms, turns, [X.rotation for X, _ in imu], before)
    legs = LegForces(problem.robot)
    weights, heights, position = [], [], np.zeros(3)
    for k, (m, x) in enumerate(zip(ms, xs)):
        R = R0 @ turns[k]
        torque = ms[k + 1].torque if k + 1 < len(ms) else None
        load, foot, rate = legs.kinematics(R, x[7:nq], x[nq + 6 : nq + problem.nv], torque)
        weight = load + 1e-3
        # the sole stands still: v + w x r + J dq = 0
        v = -R.T @ np.average(rate + np.cross(R @ gyros[k], foot), axis=0, weights=weight)
        if k > 0:
            position = position + dt * R @ v
        x[:3], x[3:7] = position, pin.Quaternion(R).coeffs()
        x[nq : nq + 6] = np.concatenate([v, gyros[k]])
        weights.append(weight)
        heights.append(position[2] + foot[:, 2])
    weights, heights = np.array(weights), np.array(heights)
    offset = _first_position(ms, xs)
    ground = np.average(heights, axis=0, weights=weights)
    # a foot that never stood in the batch takes the common height
    common = np.average(heights, weights=weights)
    ground[weights.max(axis=0) < 0.2] = common
    if offset is None:
        offset = np.array([0.0, 0.0, -common])
        ground[:] = common
        if before is not None:
            offset += [before[0], before[1], np.mean(problem.parameter(before, "height"))]
    columns, shift = problem.columns("height"), nq - problem.nv
    for x in xs:
        x[:3] += offset
        x[columns.start + shift : columns.stop + shift] = ground + offset[2]


def _guess_carried_base(
    problem: Problem, ms: list[Measurement], xs: list[np.ndarray], before: np.ndarray | None, R_base_imu, gyros, turns
) -> None:
    """What the IMU says goes on from the state before the robot was lifted or fell; without one it hangs at rest, off the ground."""
    nq, dt, gravity = problem.nq, problem.dt, problem.robot.model.gravity.linear
    if before is None:
        R0, velocity, position = _first_attitude(ms, turns, R_base_imu, None), np.zeros(3), np.zeros(3)
    else:
        R0, position = pin.Quaternion(before[3:7]).toRotationMatrix(), before[:3].copy()
        velocity = R0 @ before[nq : nq + 3]
    for k, (m, x) in enumerate(zip(ms, xs)):
        if k > 0 and m.accelerometer is not None:
            velocity = velocity + dt * (R0 @ turns[k - 1] @ R_base_imu[k - 1] @ m.accelerometer + gravity)
        if k > 0:
            position = position + dt * velocity
        R = R0 @ turns[k]
        x[:3], x[3:7] = position, pin.Quaternion(R).coeffs()
        x[nq : nq + 6] = np.concatenate([R.T @ velocity, gyros[k]])
    offset = _first_position(ms, xs)
    columns, shift = problem.columns("height"), nq - problem.nv
    soles = LegForces(problem.robot).kinematics(R0, xs[0][7:nq], np.zeros(problem.nj), None)[1][:, 2]
    for x in xs:
        x[:3] += np.zeros(3) if offset is None else offset
        if before is None:
            x[columns.start + shift : columns.stop + shift] = xs[0][2] + soles.min() - CLEARANCE


def _first_attitude(ms: list[Measurement], turns: list[np.ndarray], R_base_imu: list[np.ndarray], before: np.ndarray | None) -> np.ndarray:
    poses = [(m, pose, turn) for m, turn in zip(ms, turns) for pose in m.mocap]
    if poses:
        seen = [(p.quat_world_body / np.linalg.norm(p.quat_world_body), turn) for _, p, turn in poses]
        candidates = [pin.Quaternion(quaternion).toRotationMatrix() @ turn.T for quaternion, turn in seen]
        return _nearest_rotation(sum(candidates))
    up = sum((turn @ R @ m.accelerometer for m, turn, R in zip(ms, turns, R_base_imu) if m.accelerometer is not None), np.zeros(3))
    if np.linalg.norm(up) < 1e-3:
        raise InitializationError("cannot start: no specific force and no motion capture, so that up is unknown", ms)
    level = pin.Quaternion.FromTwoVectors(up / np.linalg.norm(up), np.array([0.0, 0.0, 1.0])).toRotationMatrix()
    if before is None:
        return level
    ahead, now = pin.Quaternion(before[3:7]).toRotationMatrix()[:, 0], level[:, 0]
    return pin.exp3(np.array([0.0, 0.0, np.arctan2(ahead[1], ahead[0]) - np.arctan2(now[1], now[0])])) @ level


def _first_position(ms: list[Measurement], xs: list[np.ndarray]) -> np.ndarray | None:
    offsets = [pose.position_world - x[:3] for m, x in zip(ms, xs) for pose in m.mocap]
    return np.mean(offsets, axis=0) if offsets else None


def _nearest_rotation(matrix: np.ndarray) -> np.ndarray:
    u, _, vt = np.linalg.svd(matrix)
    return u @ np.diag([1.0, 1.0, np.linalg.det(u @ vt)]) @ vt


def prior_root(problem: Problem, mocap: bool, continued: bool = False) -> np.ndarray:
    """Square root of the covariance of the first state: wide, but for what defines the world where nothing measures it.

    Args:
        problem: noise and sizes.
        mocap: position and heading are measured.
        continued: attitude and velocity go on from an estimate that was still right.
    """
    noise, e, nv = problem.config.noise, problem.config.estimator, problem.nv
    std = np.ones(problem.ndx)
    std[nv - problem.nj : nv] = 0.01
    std[2 * nv - problem.nj : 2 * nv] = 1.0
    if problem.floating:
        std[:6] = [0.05, 0.05, 0.05, 0.1, 0.1, 0.1] if mocap else [1e-4, 1e-4, 0.02, 0.1, 0.1, 1e-4]
        std[nv : nv + 6] = 0.5
        if continued:
            std[3:5], std[nv : nv + 6] = CONTINUED
    std[problem.columns("accelerometer_bias")] = noise.accelerometer_bias
    std[problem.columns("gyro_bias")] = noise.gyro_bias
    std[problem.columns("height")] = 0.02 if mocap else e.terrain_stddev
    std[problem.columns("friction")] = e.friction_stddev
    std[problem.columns("mocap")] = noise.mocap_offset
    root = np.diag(std)
    root[problem.columns("theta"), problem.columns("theta")] = problem.theta_prior_root
    return root
