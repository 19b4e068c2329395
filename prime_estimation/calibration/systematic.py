# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""What systematic errors of sensors and ground do to the offsets; more data do not reduce it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .offsets import Offsets
from .problem import KinematicProblem, add_gradient
from .rotations import rotate, skew, transpose
from .smoother import Smoothed
from .trajectory import Trajectory

CREEP = 0.001  # m/s, of a standing foot: soft ground and rubber give way under load
SCALE = 0.005  # of an accelerometer's axis: MEMS, and vibrations that its samples fold down
NOISE = 0.3  # of what the readings' own noise adds to the gradient: it is not quite white
LATE = 0.0005  # s, filter of a gyro, clocks of joints and of motion capture

Cause = dict[str, np.ndarray]  # what is added to the residuals (m, r) of factors, by name


def systematic_shifts(problem: KinematicProblem, result: Smoothed) -> np.ndarray:
    """Shifts (s, k) of the free offsets under each cause, to first order, one standard deviation.

    Creep of each foot and of all feet together along each axis of the IMU, scale of each axis of
    the accelerometer, gyro, joints and motion capture late; noise of the readings.
    """
    x, o = result.trajectory, result.offsets
    factorization, found = problem.equations(x, o).factorized(), problem.factors(x, o)
    still, free = np.zeros((len(x), x.width)), problem.free
    shifts = [factorization.solve(still, NOISE * problem.noise_gradient[free])[1]]
    for cause in _causes(problem, x, o):
        g, gp = np.zeros((len(x), x.width)), np.zeros(o.size)
        for f in found:
            if f.name in cause:
                weighted = rotate(problem.information[f.name], cause[f.name])
                add_gradient(f, weighted, g, gp)
        shifts.append(factorization.solve(g, gp[free])[1])
    return np.array(shifts)


def _causes(problem: KinematicProblem, x: Trajectory, o: Offsets) -> Iterator[Cause]:
    feet = range(len(problem.legs))
    for group in [(foot,) for foot in feet] + [tuple(feet)]:
        for axis in np.eye(3):
            yield _creep(problem, x, group, CREEP * axis)
    for axis in range(3):
        yield _scale(problem, axis)
    yield _late_gyro(problem, x, o)
    yield _late_joints(problem, x, o)
    yield _late_mocap(problem, x, o)


def _creep(
    problem: KinematicProblem, x: Trajectory, feet: tuple[int, ...], creep: np.ndarray
) -> Cause:
    """Standing feet move at a constant velocity (3,), IMU axes."""
    step = problem.recording.step * rotate(x.rotation[:-1], creep)
    out = {}
    for foot in feet:
        velocity = np.zeros((len(x), problem.legs[foot].rows))
        velocity[:, 3:6] = creep
        out |= {f"leg_{foot}": velocity, f"foothold_{foot}": step}
    return out


def _scale(problem: KinematicProblem, axis: int) -> Cause:
    """Specific force along an axis of the IMU is read too large."""
    imu = problem.recording.imu
    out = np.zeros((len(imu.velocity), 9))
    out[:, 3 + axis] = -SCALE * imu.velocity[:, axis]
    out[:, 6 + axis] = -SCALE * imu.position[:, axis]
    return {"imu": out}


def _late_gyro(problem: KinematicProblem, x: Trajectory, o: Offsets) -> Cause:
    """Angular rates are those of a time before their stamp."""
    recording = problem.recording
    change = np.gradient(recording.gyro, recording.step, axis=0)
    turn = np.zeros((len(recording) - 1, 9))
    turn[:, :3] = LATE * np.diff(recording.gyro, axis=0)
    out = {"imu": turn}
    for i, (leg, terms) in enumerate(zip(problem.legs, problem.leg_terms(o))):
        point = terms.point
        speed = np.cross(change, point - leg.radius * x.rotation[:, 2])
        parts = [np.zeros_like(point), speed, change]
        out[f"leg_{i}"] = -LATE * np.concatenate(parts, axis=1)[:, : leg.rows]
    return out


def _late_joints(problem: KinematicProblem, x: Trajectory, o: Offsets) -> Cause:
    """Angles and rates are those of a time before their stamp."""
    out, dt = {}, problem.recording.step
    for i, (leg, t) in enumerate(zip(problem.legs, problem.leg_terms(o))):
        faster, turning = (np.gradient(a, dt, axis=0) for a in (t.velocity, t.rate))
        carried = np.cross(problem.recording.gyro - x.gyro_bias, t.velocity)
        speed = faster + carried - leg.radius * np.cross(turning, x.rotation[:, 2])
        parts = [-t.velocity, speed, turning]
        out[f"leg_{i}"] = -LATE * np.concatenate(parts, axis=1)[:, : leg.rows]
    return out


def _late_mocap(problem: KinematicProblem, x: Trajectory, o: Offsets) -> Cause:
    """Poses are those of a time before their stamp."""
    at, C = problem.recording.mocap.node, o.imu_rotation.T
    rate = (problem.recording.gyro - x.gyro_bias)[at]
    arm = C @ (o.mocap_position - o.imu_position)
    moved = x.velocity[at] + rotate(x.rotation[at] @ skew(rate), arm)
    turned = rotate(transpose(C @ o.mocap_rotation), rate)
    return {"mocap": LATE * np.concatenate([moved, turned], axis=1)}
