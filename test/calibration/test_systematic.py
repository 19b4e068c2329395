# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Systematic causes, against residuals of recordings that have them."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.swaying_robot import bent, go2_on_points, shipped_noise, sway, swaying

from prime_estimation.calibration import systematic
from prime_estimation.calibration.problem import KinematicProblem
from prime_estimation.calibration.rotations import exp


@pytest.fixture(scope="module", params=["go2", "g1"])
def case(request):
    robot, noise = swaying(request.param), shipped_noise(request.param)
    return KinematicProblem(robot, sway(robot, bent(robot), 60), bent(robot), noise)


def change(problem, recording):
    """Of each residual, by name, where the recording is another one."""
    x, o, before = problem.origin, problem.nominal, problem.recording
    known = {f.name: f.residual for f in problem.factors(x, o)}
    try:
        problem.recording, problem._terms = recording, None
        return {f.name: f.residual - known[f.name] for f in problem.factors(x, o)}
    finally:
        problem.recording, problem._terms = before, None


def assert_same(cause, found, share=0.02):
    """To a share of the largest, away from the ends, where derivatives are one-sided."""
    for name, added in cause.items():
        for i in range(0, added.shape[1], 3):
            expected, there = added[5:-5, i : i + 3], found[name][5:-5, i : i + 3]
            np.testing.assert_allclose(
                there, expected, rtol=0.0, atol=share * np.abs(expected).max() + 1e-12
            )


def test_creep_of_a_foot():
    """Joints that carry a foot on, over a base that stays, and the foothold that goes with it."""
    robot = go2_on_points()
    problem = KinematicProblem(robot, sway(robot, bent(robot), 60), bent(robot), shipped_noise())
    x, o, r = problem.origin, problem.nominal, problem.recording
    creep, leg = np.array([0.0, systematic.CREEP, 0.0]), problem.legs[1]
    joints = np.array(leg.joints)
    motion = leg.motion(r.angle[:, joints] - o.joints[joints], r.rate[:, joints], o.feet[1])
    rate = r.rate.copy()
    rate[:, joints] += np.linalg.solve(o.imu_rotation.T @ motion.jacobian, creep[:, None])[..., 0]
    cause = systematic._creep(problem, x, (1,), creep)
    assert set(cause) == {"leg_1", "foothold_1"}
    found = change(problem, replace(r, rate=rate))
    np.testing.assert_allclose(found["leg_1"], cause["leg_1"], atol=1e-9)
    moved, known = replace(x, feet=x.feet.copy()), problem.factors(x, o)
    steps = r.step * (x.rotation[:-1] @ creep)
    moved.feet[1:, 1] += np.cumsum(steps, axis=0)
    before = {f.name: f.residual for f in known}["foothold_1"]
    after = {f.name: f.residual for f in problem.factors(moved, o)}["foothold_1"]
    np.testing.assert_allclose(after - before, cause["foothold_1"], atol=1e-12)


def test_feet_creep_one_by_one_and_together(case):
    causes = list(systematic._causes(case, case.origin, case.nominal))
    count = len(case.legs)
    together = {f"{kind}_{i}" for i in range(count) for kind in ("leg", "foothold")}
    assert [set(c) == together for c in causes].count(True) == 3
    assert len(causes) == 3 * (count + 1) + 3 + 3


def test_late_joints(case):
    r = case.recording
    rate = r.rate - systematic.LATE * np.gradient(r.rate, r.step, axis=0)
    late = replace(r, angle=r.angle - systematic.LATE * r.rate, rate=rate)
    assert_same(systematic._late_joints(case, case.origin, case.nominal), change(case, late))


def test_late_gyro(case):
    r = case.recording
    late = systematic.LATE * np.gradient(r.gyro, r.step, axis=0)
    turn = exp(-systematic.LATE * np.diff(r.gyro, axis=0))
    imu = replace(r.imu, rotation=r.imu.rotation @ turn)
    found = change(case, replace(r, gyro=r.gyro - late, imu=imu))
    assert_same(systematic._late_gyro(case, case.origin, case.nominal), found)


def test_late_mocap(case):
    r, x, o = case.recording, case.origin, case.nominal
    at = x.base_position(o) + np.einsum("nij,j->ni", x.base_rotation(o), o.mocap_position)
    velocity = np.gradient(at, r.step, axis=0)
    rate = r.gyro @ (o.imu_rotation.T @ o.mocap_rotation)
    poses = replace(
        r.mocap,
        position=r.mocap.position - systematic.LATE * velocity,
        rotation=r.mocap.rotation @ exp(-systematic.LATE * rate),
    )
    found = change(case, replace(r, mocap=poses))
    assert_same(systematic._late_mocap(case, x, o), found, 0.05)


@pytest.mark.parametrize("axis", range(3))
def test_scale_of_the_accelerometer(case, axis):
    r = case.recording
    larger = np.ones(3)
    larger[axis] += systematic.SCALE
    imu = replace(r.imu, velocity=r.imu.velocity * larger, position=r.imu.position * larger)
    assert_same(systematic._scale(case, axis), change(case, replace(r, imu=imu)), 1e-6)
