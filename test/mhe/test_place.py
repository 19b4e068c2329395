# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Motions of the world: no residual changes where nothing measures place and heading."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from helpers.models import config, random_point, robot
from helpers.nodes import exact_dynamics, random_reading

from prime_estimation import _core
from prime_estimation.contact.points import contact_points
from prime_estimation.mhe.measurement_model import MeasurementModel
from prime_estimation.mhe.place import Place
from prime_estimation.mhe.problem import Problem

STEP = 1e-6
SENSORS = ("external_odometry", "imu_orientation", "foot_force")


def feet_at(of, x) -> np.ndarray:
    """(nf, 2) places of the feet [m]."""
    model = of.robot.model
    data = model.createData()
    pin.forwardKinematics(model, data, of.layout.q(x))
    return np.array([data.oMi[p.joint].act(p.position)[:2] for p in contact_points(of.robot)])


def stood(seed: int):
    """A node on slopes, with a reading of every sensor; its problem, state and control."""
    rng, of = np.random.default_rng(seed), Problem(robot("go2"), config("go2"), SENSORS)
    p = random_point(of, rng, "stance")
    x = np.concatenate([p.q, p.v, np.zeros(of.np)])
    of.layout.p(x)[: len(p.parameters)] = p.parameters
    of.parameter(x, "slope")[:] = 0.3 * rng.normal(size=2 * of.dynamics.nfeet)
    for frame in of.measurements.frames:
        of.parameter(x, frame.block)[:] = 0.2 * rng.normal(size=of.parameter(x, frame.block).size)
    dynamics = exact_dynamics(of)
    dynamics.anchor = of.dynamics.anchor = feet_at(of, x)
    core = MeasurementModel(dynamics, of.mount, of.sensors, of.measurements.zeros).core
    node = _core.ActionMeasurement(of.state, core, False)
    for name in dict.fromkeys(of.sensors.residuals):
        value, age = random_reading(name, rng, p.q, len(of.robot.feet))
        node.input.set(name, value, np.ones(len(node.input.weight(name))), age)
    given = node.input
    given.weight_force, given.weight_xi = np.ones(of.nv), np.ones(of.dynamics.nxi)
    odometry = of.measurements.trackers["external_odometry"]
    odometry._nominal = pin.SE3(np.eye(3), given.value("external_odometry")[:3])
    return of, node, x, np.concatenate([rng.normal(size=of.nv), np.zeros(of.dynamics.nxi)])


@pytest.mark.parametrize("seed", range(4))
def test_no_residual_tells_a_motion_of_the_world(seed):
    of, node, x, u = stood(seed)
    assert {frame.block for frame in of.measurements.frames} == {
        "orientation_frame",
        "odometry_frame",
    }
    motions, data = Place(of, False).motions(x), node.createData()
    node.calc(data, x, u)
    world = np.array(data.r)
    turned = np.zeros((3, len(world)))
    for name in ("external_odometry", "orientation"):  # errors in axes of the world, which turn
        row = of.measurements.rows[name][0].start
        turned[2, row : row + 3] = np.cross([0.0, 0.0, 1.0], world[row : row + 3])
    for motion, expected in zip(motions.T, turned):
        ends = []
        for step in (STEP * motion, -STEP * motion):
            node.calc(data, of.state.integrate(x, step), u)
            ends.append((np.array(data.r), np.array(data.xnext)))
        (r, after), (r_back, before) = ends
        np.testing.assert_allclose((r - r_back) / (2.0 * STEP), expected, atol=1e-5)
        moved = of.state.diff(before, after)[of.nv : 2 * of.nv] / (2.0 * STEP)
        np.testing.assert_allclose(moved, 0.0, atol=1e-5)  # velocities are those of the base


def test_axes_undo_the_motions():
    of, _, x, _ = stood(5)
    motions = Place(of, False).motions(x)[:6]
    np.testing.assert_allclose(motions.T @ motions, np.eye(3), atol=1e-12)
