# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Initial guess of a batch: measured joints, base from gyro, specific force, standing feet."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from ..contact.leg_forces import CLEARANCE, LegForces
from ..errors import InitializationError
from ..types import Measurement
from .first_state import CREDIBLE
from .problem import Problem
from .process_model import ON_ITS_FEET, Situation

STOOD = 0.2  # share of its part of the weight that a foot must have carried to tell its ground
ANY_LOAD = 1e-3  # weight of a foot that carries nothing, so that the mean exists
UPWARDS = np.array([0.0, 0.0, 1.0])
NOTHING = 1e-3  # m/s2, norm of a sum of specific forces that has no direction


@dataclass(frozen=True)
class ImuMotion:
    """What the IMU tells of the nodes of a batch.

    Attributes:
        rotations: of the IMU in the base. rates: (3,) of the base, base axes [rad/s].
        turns: rotation of the base since the first node.
    """

    rotations: list[np.ndarray]
    rates: list[np.ndarray]
    turns: list[np.ndarray]


def guess_states(
    problem: Problem,
    ms: list[Measurement],
    previous_state: np.ndarray | None,
    situation: Situation = ON_ITS_FEET,
) -> list[np.ndarray]:
    """Initial states of all nodes; a joint reading that is missing is held, rates are differences.

    Args:
        problem: models, priors.
        ms: measurements of the nodes.
        previous_state: of an estimate that goes on in this batch, or None.
        situation: who carries the robot.

    Raises:
        InitializationError: nothing tells the vertical.
    """
    layout, x0, xs = problem.layout, problem.first.neutral(), []
    if previous_state is not None and _credible(problem, previous_state):
        layout.p(x0)[:] = layout.p(previous_state)
    for position, rate in zip(*_joint_motion(ms, problem.dt)):
        x = x0.copy()
        layout.part(x, "joints")[:] = problem.robot.coordinates(position)
        layout.part(x, "joint_rates")[:] = rate
        xs.append(x)
    if problem.floating:
        imu = _imu_motion(problem, ms, xs)
        guess = _guess_suspended_base if situation.suspended else _guess_standing_base
        guess(problem, ms, xs, imu, previous_state)
    return xs


def _joint_motion(ms: list[Measurement], dt: float) -> tuple[np.ndarray, np.ndarray]:
    """Joint positions (n, nj) [rad] and rates (n, nj) [rad/s].

    Mean rates of the step before each node.
    """
    seen, positions, rates = ms[0].position, [], []
    for m in ms:
        before, seen = seen, seen if m.position is None else m.position
        positions.append(seen)
        rates.append((seen - before) / dt if m.velocity is None else m.velocity)
    return np.array(positions), np.array(rates)


def _credible(problem: Problem, x: np.ndarray) -> bool:
    """Whether the inertia and biases of a state are within what the prior allows.

    Those of an estimate that was lost may be anything.
    """
    theta = problem.parameter(x, "theta") - problem.theta_nominal
    deviation = [np.linalg.solve(problem.theta_prior_root, theta)]
    noise = problem.config.noise
    stddev = {"gyro_bias": noise.gyro_bias, "accelerometer_bias": noise.accelerometer_bias}
    deviation += [problem.parameter(x, name) / std for name, std in stddev.items()]
    return bool(np.abs(np.concatenate(deviation)).max(initial=0.0) < CREDIBLE)


def _imu_motion(problem: Problem, ms: list[Measurement], xs: list[np.ndarray]) -> ImuMotion:
    layout = problem.layout
    poses = [
        problem.mount.motion(problem.robot.positions(layout.q(x)), layout.part(x, "joint_rates"))
        for x in xs
    ]
    rates = [
        X.rotation @ (m.gyro - moved.angular) if m.gyro is not None else np.zeros(3)
        for m, (X, moved) in zip(ms, poses)
    ]
    turns = [np.eye(3)]
    for rate in rates[1:]:
        turns.append(turns[-1] @ pin.exp3(problem.dt * rate))
    return ImuMotion([X.rotation for X, _ in poses], rates, turns)


def _set_base(problem: Problem, x: np.ndarray, position, R: np.ndarray, velocity, rate) -> None:
    part = problem.layout.part
    part(x, "position")[:], part(x, "rotation")[:] = position, pin.Quaternion(R).coeffs()
    part(x, "velocity")[:], part(x, "rate")[:] = velocity, rate


def _guess_standing_base(
    problem: Problem,
    ms: list[Measurement],
    xs: list[np.ndarray],
    imu: ImuMotion,
    previous_state: np.ndarray | None,
) -> None:
    """Attitude, velocity, position and ground heights of a robot on its feet, written into xs."""
    R0 = _first_attitude(ms, imu, previous_state)
    loads, heights = _follow_feet(problem, ms, xs, [R0 @ turn for turn in imu.turns], imu.rates)
    ground, offset = _ground(problem, loads, heights, _mocap_offset(ms, xs), previous_state)
    for x in xs:
        problem.parameter(x, "position")[:] += offset
        problem.parameter(x, "height")[:] = ground + offset[2]


def _follow_feet(
    problem: Problem,
    ms: list[Measurement],
    xs: list[np.ndarray],
    attitudes: list[np.ndarray],
    rates: list[np.ndarray],
) -> tuple[np.ndarray, np.ndarray]:
    """Motion of the base over feet that stand, from the origin, written into xs.

    Returns:
        Loads and heights (n, nf) of the feet.
    """
    legs, part = LegForces(problem.robot), problem.layout.part
    loads, heights, position = [], [], np.zeros(3)
    for k, (x, R) in enumerate(zip(xs, attitudes)):
        torque = ms[k + 1].torque if k + 1 < len(ms) else None
        load, foot, rate = legs.kinematics(R, part(x, "joints"), part(x, "joint_rates"), torque)
        load = load + ANY_LOAD
        # the sole stands still: v + w x r + J dq = 0
        slip = rate + np.cross(R @ rates[k], foot)
        v = -R.T @ np.average(slip, axis=0, weights=load)
        if k > 0:
            position = position + problem.dt * R @ v
        _set_base(problem, x, position, R, v, rates[k])
        loads.append(load)
        heights.append(position[2] + foot[:, 2])
    return np.array(loads), np.array(heights)


def _ground(
    problem: Problem,
    loads: np.ndarray,
    heights: np.ndarray,
    offset: np.ndarray | None,
    previous_state: np.ndarray | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Height of the ground under each foot (nf,), and by how much all is shifted then.

    `offset`: that of motion capture.
    """
    ground = np.average(heights, axis=0, weights=loads)
    # a foot that never stood in the batch takes the common height
    common = np.average(heights, weights=loads)
    ground[loads.max(axis=0) < STOOD] = common
    if offset is None:
        offset = np.array([0.0, 0.0, -common])
        ground[:] = common
        if previous_state is not None:
            place = problem.parameter(previous_state, "position")
            offset += [*place[:2], np.mean(problem.parameter(previous_state, "height"))]
    return ground, offset


def _guess_suspended_base(
    problem: Problem,
    ms: list[Measurement],
    xs: list[np.ndarray],
    imu: ImuMotion,
    previous_state: np.ndarray | None,
) -> None:
    """What the IMU says goes on from the state before the robot was lifted or fell.

    Without one it hangs at rest, off the ground.
    """
    part, dt, gravity = problem.layout.part, problem.dt, problem.robot.model.gravity.linear
    if previous_state is None:
        R0, velocity, position = _first_attitude(ms, imu, None), np.zeros(3), np.zeros(3)
    else:
        R0 = pin.Quaternion(part(previous_state, "rotation").copy()).toRotationMatrix()
        position = part(previous_state, "position").copy()
        velocity = R0 @ part(previous_state, "velocity")
    for k, (m, x) in enumerate(zip(ms, xs)):
        if k > 0 and m.accelerometer is not None:
            R_world_imu = R0 @ imu.turns[k - 1] @ imu.rotations[k - 1]
            velocity = velocity + dt * (R_world_imu @ m.accelerometer + gravity)
        if k > 0:
            position = position + dt * velocity
        R = R0 @ imu.turns[k]
        _set_base(problem, x, position, R, R.T @ velocity, imu.rates[k])
    offset = _mocap_offset(ms, xs)
    legs, joints = LegForces(problem.robot), part(xs[0], "joints")
    soles = legs.kinematics(R0, joints, np.zeros(problem.nj), None)[1][:, 2]
    for x in xs:
        part(x, "position")[:] += np.zeros(3) if offset is None else offset
        if previous_state is None:
            part(x, "height")[:] = part(xs[0], "position")[2] + soles.min() - CLEARANCE


def _first_attitude(
    ms: list[Measurement], imu: ImuMotion, previous_state: np.ndarray | None
) -> np.ndarray:
    """Attitude (3, 3) of the base at the first node."""
    poses = [(pose, turn) for m, turn in zip(ms, imu.turns) for pose in m.mocap]
    if poses:
        seen = [
            pin.Quaternion(p.quat_world_body / np.linalg.norm(p.quat_world_body)) for p, _ in poses
        ]
        return _nearest_rotation(
            sum(quat.toRotationMatrix() @ turn.T for quat, (_, turn) in zip(seen, poses))
        )
    up = sum(
        (
            turn @ R @ m.accelerometer
            for m, turn, R in zip(ms, imu.turns, imu.rotations)
            if m.accelerometer is not None
        ),
        np.zeros(3),
    )
    if np.linalg.norm(up) < NOTHING:
        what = "cannot start: no specific force and no motion capture, so that up is unknown"
        raise InitializationError(what, ms)
    level = pin.Quaternion.FromTwoVectors(up / np.linalg.norm(up), UPWARDS).toRotationMatrix()
    if previous_state is None:
        return level
    previous = pin.Quaternion(previous_state[3:7].copy()).toRotationMatrix()
    heading = _heading(previous) - _heading(level)
    return pin.exp3(np.array([0.0, 0.0, heading])) @ level


def _heading(R: np.ndarray) -> float:
    """Direction of the first axis around the vertical [rad]."""
    return float(np.arctan2(R[1, 0], R[0, 0]))


def _mocap_offset(ms: list[Measurement], xs: list[np.ndarray]) -> np.ndarray | None:
    offsets = [pose.position_world - x[:3] for m, x in zip(ms, xs) for pose in m.mocap]
    return np.mean(offsets, axis=0) if offsets else None


def _nearest_rotation(matrix: np.ndarray) -> np.ndarray:
    u, _, vt = np.linalg.svd(matrix)
    return u @ np.diag([1.0, 1.0, np.linalg.det(u @ vt)]) @ vt
