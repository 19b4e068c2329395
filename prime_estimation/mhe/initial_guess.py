# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Initial guess of a batch: measured joints, base from gyro, specific force, standing feet."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from ..contact.leg_forces import CLEARANCE, LegForces
from ..robot import GRAVITY
from ..types import Measurement
from .batch_attitude import first_attitude, imu_motion
from .batch_ground import LIFTED, SKEW, Stance, all_stances, footholds_of, is_floor, slope_of
from .batch_velocity import ANY_LOAD, FeetOfBatch, mean_velocity, stance_velocity
from .first_state import CREDIBLE, inertia_deviation
from .problem import Problem
from .situation import ON_ITS_FEET, Situation
from .start_batch import Batch

# against what is felt: less may be the accelerometer's, and poses tell the vertical better [rad]
LEANS = 2.0 * SKEW
STOOD = 0.2  # share of its part of the weight that a foot must have carried to tell its ground


def guess_states(
    problem: Problem,
    ms: list[Measurement],
    previous_state: np.ndarray | None,
    situation: Situation = ON_ITS_FEET,
    floor: bool = True,
) -> tuple[list[np.ndarray], np.ndarray | None]:
    """States of all nodes, and the footholds (n, nf, 3) [m] of ground that is no level floor.

    Where each foot stands at each node, has stood or will stand next; the height of the states is
    that of the last ones. None on a floor, and where feet do not step beside motion capture, which
    tells tilt and height then. A joint reading that is missing is held, rates are differences.

    Args:
        problem: models, priors.
        ms: measurements of the nodes.
        previous_state: of an estimate that goes on in this batch, or None.
        situation: who carries the robot.
        floor: without motion capture, feet that nearly lie on a floor stand on one; those that do
            not step always do.

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
    if not problem.floating:
        return xs, None
    imu, legs = imu_motion(problem, ms, xs), LegForces(problem.robot)
    batch = Batch(problem, ms, xs, imu, legs, previous_state)
    if not situation.suspended:
        return xs, _guess_standing_base(batch, floor)
    _guess_suspended_base(batch)
    return xs, None


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
    deviation = [inertia_deviation(problem, x)]
    noise = problem.config.noise
    stddev = {"gyro_bias": noise.gyro_bias, "accelerometer_bias": noise.accelerometer_bias}
    deviation += [problem.parameter(x, name) / std for name, std in stddev.items()]
    return bool(np.abs(np.concatenate(deviation)).max(initial=0.0) < CREDIBLE)


def _guess_standing_base(batch: Batch, floor: bool) -> np.ndarray | None:
    """Attitude, velocity, position, ground of a robot on its feet; footholds: `guess_states`."""
    problem, footholds = batch.problem, None
    loads, soles, felt = _follow_feet(batch)
    # without torque the lowest feet are thought to carry: of a floor
    weighed = any(m.torque is not None for m in batch.ms)
    stances = _stances_off_floor(batch, loads, soles, felt, floor) if weighed else None
    if stances and felt is not None and np.linalg.norm(pin.log3(felt)) > LEANS:
        loads, soles, _ = _follow_feet(batch, felt)
        stances = all_stances(loads, soles)
    heights, offset = _heights(batch, loads, soles[:, :, 2])
    if stances and "slope" in problem.layout:
        slope = slope_of(stances)
        footholds = np.stack([footholds_of(own, len(soles)) for own in stances], axis=1) + offset
        problem.move_anchors(np.ones(len(stances), bool), footholds[-1])
        heights = footholds[-1, :, 2] - offset[2]
    elif not batch.located:
        heights[:] = np.average(soles[:, :, 2], weights=loads)
    points = soles[-1] + offset
    sloping = problem.parameter(batch.xs[0], "slope").any()
    if footholds is None and sloping and np.isfinite(points).all():
        # slopes that were known before are those of the ground here
        problem.move_anchors(np.ones(len(points), bool), points)
    for x in batch.xs:
        problem.parameter(x, "position")[:] += offset
        problem.parameter(x, "height")[:] = heights + offset[2]
        if footholds is not None:
            problem.parameter(x, "slope")[:] = np.tile(slope.mean, len(stances))
    return footholds


def _stances_off_floor(
    batch: Batch, loads: np.ndarray, soles: np.ndarray, felt: np.ndarray | None, floor: bool
) -> list[list[Stance]] | None:
    """Stances of all feet on ground that is no level floor; None on a floor.

    Beside motion capture also where no foot steps, each of which then has one height. Poses of a
    tracked body that leans let a floor slope, and those of one that is elsewhere let it wave: what
    is felt tells a floor, too.

    Args:
        batch: its base follows the feet.
        loads: (n, nf) of the feet that stand.
        soles: (n, nf, 3) [m].
        felt: (3, 3), after which the specific force is upwards; None where nothing is felt.
        floor: as of `guess_states`.
    """
    if not batch.located:
        stances = all_stances(loads, soles)
        stands = floor or np.ptp(soles, axis=0).max() < LIFTED
        return None if stands and slope_of(stances).level else stances
    told = soles.copy()
    told[:, :, 2] -= batch.rise()[:, None]
    if batch.problem.one_ground or np.ptp(told, axis=0).max() < LIFTED:
        return None
    stances = all_stances(loads, told)
    if is_floor(stances) or felt is not None and is_floor(all_stances(loads, soles @ felt.T), SKEW):
        return None
    return stances


def _follow_feet(
    batch: Batch, turn: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Motion of the base over feet that stand, from the origin.

    Args:
        batch: whose base is moved.
        turn: (3, 3) of the attitude that poses tell; None: none.

    Returns:
        Loads (n, nf) of the feet that stand, soles (n, nf, 3) [m], and the rotation (3, 3) after
        which the specific force is upwards; None where it is so already, or is not felt.
    """
    imu, dt, felt = batch.imu, batch.problem.dt, None
    R0 = first_attitude(batch.ms, imu, batch.previous_state)
    R0 = R0 if turn is None else turn @ R0
    feet = _feet(batch, R0)
    gained = imu.gained(R0, batch.ms, batch.problem)
    if gained is None:
        velocity, loads = mean_velocity(feet), feet.loads
    else:
        times = dt * np.arange(len(batch.xs))
        velocity, excess, loads = stance_velocity(feet, gained, times)
        # R f + g is too much by excess: phi x (-g) = excess
        tilt = pin.exp3(np.array([-excess[1], excess[0], 0.0]) / GRAVITY)
        if batch.located:
            felt = tilt
        else:
            R0, velocity, feet = tilt @ R0, velocity @ tilt.T, feet.turned(tilt)
    places = batch.move_base(R0, velocity, np.zeros(3))
    return loads + ANY_LOAD, places[:, None, :] + feet.points, felt


def _feet(batch: Batch, R0: np.ndarray) -> FeetOfBatch:
    """Feet of the batch with attitude R0 (3, 3) at the first node, whose base stays there."""
    part, torques = batch.problem.layout.part, [m.torque for m in batch.ms[1:]] + [None]
    loads, points, rates = [], [], []
    for x, turn, rate, torque in zip(batch.xs, batch.imu.turns, batch.imu.rates, torques):
        R, joints = R0 @ turn, (part(x, "joints"), part(x, "joint_rates"))
        load, foot, moves = batch.legs.kinematics(R, *joints, torque)
        loads.append(load)
        points.append(foot)
        rates.append(moves + np.cross(R @ rate, foot))
    return FeetOfBatch(*map(np.array, (loads, points, rates)))


def _heights(batch: Batch, loads: np.ndarray, heights: np.ndarray):
    """Height of the ground under each foot (nf,), and by how much all is shifted then (3,)."""
    ground = np.average(heights, axis=0, weights=loads)
    # a foot that never stood in the batch takes the common height
    common = np.average(heights, weights=loads)
    ground[loads.max(axis=0) < STOOD] = common
    offset = batch.mocap_offset()
    if offset is None:
        offset = np.array([0.0, 0.0, -common])
        if batch.previous_state is not None:
            part, x = batch.problem.parameter, batch.previous_state
            offset += [*part(x, "position")[:2], np.mean(part(x, "height"))]
    return ground, offset


def _guess_suspended_base(batch: Batch) -> None:
    """Motion by the IMU, from the state before the robot was lifted or fell.

    Without one it hangs at rest, off the ground.
    """
    R0 = _follow_imu(batch)
    part, offset, x0 = batch.problem.layout.part, batch.mocap_offset(), batch.xs[0]
    soles = batch.legs.kinematics(R0, part(x0, "joints"), np.zeros(batch.problem.nj), None)[1]
    for x in batch.xs:
        part(x, "position")[:] += np.zeros(3) if offset is None else offset
        if batch.previous_state is None:
            part(x, "height")[:] = part(x0, "position")[2] + soles[:, 2].min() - CLEARANCE


def _follow_imu(batch: Batch) -> np.ndarray:
    """Attitude, velocity and position by the IMU alone; returns the first attitude (3, 3)."""
    previous, imu, part = batch.previous_state, batch.imu, batch.problem.layout.part
    if previous is None:
        R0, velocity, position = first_attitude(batch.ms, imu, None), np.zeros(3), np.zeros(3)
    else:
        R0 = pin.Quaternion(part(previous, "rotation").copy()).toRotationMatrix()
        position = part(previous, "position").copy()
        velocity = R0 @ part(previous, "velocity")
    batch.move_base(R0, velocity + imu.felt(R0, batch.ms, batch.problem), position)
    return R0
