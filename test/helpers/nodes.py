# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Running nodes with random readings of every sensor, at random states."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from reference.node import Pose

from helpers.models import problem, random_point
from prime_estimation import _core
from prime_estimation.mhe.problem import Problem, contact_dynamics


def exact_dynamics(problem: Problem, tolerance: float = 1e-12) -> "_core.ContactDynamics":
    """The dynamics of a problem, solved to round-off: what differences of solutions need."""
    return contact_dynamics(problem.robot, problem.config, tolerance)


@dataclass
class Node:
    """A node with its input, and a point (x, u)."""

    problem: Problem
    model: "_core.ActionMeasurement"
    poses: list
    x: np.ndarray
    u: np.ndarray

    def calc(self, x, u, data=None):
        """Data of the node at (x, u), with derivatives."""
        data = data or self.model.createData()
        self.model.calc(data, x, u)
        self.model.calcDiff(data, x, u)
        return data


def random_node(
    name: str, form: str, cone: str, situation: str, seed: int, contact_model: str = "smoothed"
) -> Node:
    """All sensors present, weights between 0.5 and 2, so that every row of the residual counts alike; random flags of rigid contacts."""
    rng = np.random.default_rng(seed)
    of = problem(name, form, cone, contact_model=contact_model)
    p = random_point(of, rng, situation)
    x = np.concatenate([p.q, p.v, np.zeros(of.np)])
    shift = of.nq - of.nv
    for block, value in (
        ("theta", p.theta),
        ("height", p.height),
        ("friction", [np.log(p.friction)]),
    ):
        columns = of.columns(block)
        x[columns.start + shift : columns.stop + shift] = (
            value if columns.stop > columns.start else []
        )
    for block in ("gyro_bias", "accelerometer_bias", "mocap"):
        columns = of.columns(block)
        x[columns.start + shift : columns.stop + shift] = 0.1 * rng.normal(
            size=columns.stop - columns.start
        )
    first = p.force if form == "forward" else p.v + 0.3 * rng.normal(size=of.nv)
    dynamics = exact_dynamics(of)
    model = _core.ActionMeasurement(
        of.state, dynamics, of.layout, of.mount.core, of.nominal, form == "inverse"
    )
    poses = _random_readings(model.input, of, rng, p.q)
    return Node(of, model, poses, x, np.concatenate([first, p.xi]))


def _random_readings(given, of: Problem, rng: np.random.Generator, q: np.ndarray) -> list:
    def weights(n):
        return rng.uniform(0.5, 2.0, n)

    given.position = pin.integrate(of.robot.model, q, 0.2 * rng.normal(size=of.nv))
    given.velocity, given.torque = rng.normal(size=of.nj), rng.normal(size=of.nj)
    given.weight_position, given.weight_velocity = weights(of.nj), weights(of.nj)
    given.weight_force, given.weight_xi = weights(of.nv), weights(of.dynamics.nxi)
    if of.dynamics.ncone:
        given.weight_cone = 0.1
        given.stance = [
            (_core.Stance.landing, _core.Stance.closed, _core.Stance.open)[i % 3]
            for i in range(of.dynamics.nfeet)
        ]
    if not of.floating:
        return []
    given.base_wrench = 5.0 * rng.normal(size=6)
    given.gyro, given.accelerometer = rng.normal(size=3), 9.81 * rng.normal(size=3)
    given.weight_gyro, given.weight_accelerometer, (given.weight_tilt,) = (
        weights(3),
        weights(3),
        weights(1),
    )
    R = pin.Quaternion(q[3:7]).toRotationMatrix()
    given.orientation = R @ pin.exp3(0.3 * rng.normal(size=3))
    poses = [
        Pose(age, q[:3] + rng.normal(size=3), R @ pin.exp3(rng.normal(size=3)), *weights(2))
        for age in (0.0021, 0.0083)
    ]
    for slot, pose in enumerate(poses):
        given.set_pose(
            slot, pose.age, pose.position, pose.rotation, pose.weight_position, pose.weight_rotation
        )
    return poses
