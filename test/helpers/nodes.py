# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Running nodes with random readings of every sensor, at random states."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pinocchio as pin

from helpers.differences import jacobian
from helpers.models import problem, random_point
from prime_estimation import _core
from prime_estimation.mhe.contact_model import contact_model as contacts_of
from prime_estimation.mhe.measurement_model import ZEROED, MeasurementModel
from prime_estimation.mhe.problem import Problem


def exact_dynamics(problem: Problem, tolerance: float = 1e-12) -> "_core.ContactDynamics":
    """The dynamics of a problem, solved to round-off: what differences of solutions need."""
    return contacts_of(problem.robot, problem.config, problem.joints, tolerance).dynamics


def exact_node(problem: Problem) -> "_core.ActionMeasurement":
    """A node with all sensors of a problem, on `exact_dynamics`."""
    zeros, mounts = problem.measurements.zeros, bool(problem.mount_holds)
    dynamics = exact_dynamics(problem)
    model = MeasurementModel(dynamics, problem.mount, problem.sensors, zeros, mounts)
    inverse = problem.config.estimator.form == "inverse"
    return _core.ActionMeasurement(problem.state, model.core, inverse)


@dataclass
class Node:
    """A node with its input, and a point (x, u)."""

    problem: Problem
    model: "_core.ActionMeasurement"
    x: np.ndarray
    u: np.ndarray

    def calc(self, x, u, data=None):
        """Data of the node at (x, u), with derivatives."""
        data = data or self.model.createData()
        self.model.calc(data, x, u)
        self.model.calcDiff(data, x, u)
        return data


def by_point(problem: Problem, data, by_z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Derivatives in x and u of what depends on z = (xi, v+, q, v, p); `data` of the same node."""
    nv, nxi = problem.nv, problem.dynamics.nxi
    by_xi, by_next, by_x = np.split(by_z, [nxi, nxi + nv], axis=1)
    by_u = by_next @ data.Fu[nv : 2 * nv]
    by_u[:, nv:] += by_xi
    return by_x + by_next @ data.Fx[nv : 2 * nv], by_u


def random_node(
    name: str,
    form: str,
    cone: str,
    situation: str,
    seed: int,
    contact_model: str = "smoothed",
    joints: str = "",
    holds: bool = False,
) -> Node:
    """All sensors present, weights between 0.5 and 2, so that every row of the residual counts
    alike; random flags of rigid contacts."""
    rng = np.random.default_rng(seed)
    options = {"joint_parameters": joints} if joints else {}
    of = problem(name, form, cone, holds=holds, contact_model=contact_model, **options)
    p = random_point(of, rng, situation)
    x = np.concatenate([p.q, p.v, np.zeros(of.np)])
    of.layout.p(x)[: len(p.parameters)] = p.parameters
    for block in ("gyro_bias", "accelerometer_bias", "mocap"):
        part = of.parameter(x, block)
        part[:] = 0.1 * rng.normal(size=len(part))
    for hold in of.mount_holds:
        of.parameter(x, hold.names[0])[:] = hold.stddev * rng.normal(size=len(hold.mean))
    for block in of.joints:
        part = of.parameter(x, block.name)
        part[:] = block.mean + block.stddev * rng.normal(size=len(part))
    first = p.force if form == "forward" else p.v + 0.3 * rng.normal(size=of.nv)
    model = exact_node(of)
    _random_readings(model.input, of, rng, p.q)
    return Node(of, model, x, np.concatenate([first, p.xi]))


def _random_readings(given, of: Problem, rng: np.random.Generator, q: np.ndarray) -> None:
    def weights(n):
        return rng.uniform(0.5, 2.0, n)

    position = pin.integrate(of.robot.model, q, 0.2 * rng.normal(size=of.nv))
    given.set("encoders", position, weights(of.nj))
    given.set("rates", rng.normal(size=of.nj), weights(of.nj))
    given.torque = rng.normal(size=of.nj)
    given.torque_change = 50.0 * rng.normal(size=of.nj)
    given.weight_force, given.weight_xi = weights(of.nv), weights(of.dynamics.nxi)
    if of.dynamics.ncone:
        given.set("wrench_cone", np.zeros(0), np.full(of.dynamics.ncone, 0.1))
        given.stance = [
            (_core.Stance.landing, _core.Stance.closed, _core.Stance.open)[i % 3]
            for i in range(of.dynamics.nfeet)
        ]
    if of.measurements.zeros:
        given.set(ZEROED, position, weights(of.nj))
    if not of.floating:
        return
    given.base_wrench = 5.0 * rng.normal(size=6)
    for name in dict.fromkeys(of.sensors.residuals):
        for slot in range(of.sensors.residuals.count(name)):
            value, age = random_reading(name, rng, q, len(of.robot.feet))
            given.set(name, value, weights(len(given.weight(name, slot))), age, slot)


def random_reading(
    name: str, rng: np.random.Generator, q: np.ndarray, feet: int
) -> tuple[np.ndarray, float]:
    """What a sensor could say of a configuration, and how long before the node it was taken [s]."""
    R = pin.Quaternion(q[3:7]).toRotationMatrix()

    def pose(position: np.ndarray, R: np.ndarray) -> np.ndarray:
        return np.concatenate([position + rng.normal(size=3), turned(R)])

    def turned(R: np.ndarray, by: float = 1.0) -> np.ndarray:
        return pin.Quaternion(R @ pin.exp3(by * rng.normal(size=3))).coeffs()

    def age() -> float:
        return float(rng.uniform(0.001, 0.009))

    readings = {
        "gyro": lambda: (rng.normal(size=3), 0.0),
        "tilt": lambda: ((R @ pin.exp3(0.3 * rng.normal(size=3)))[2], 0.0),
        "heading": lambda: (rng.normal(size=4), 0.0),
        "orientation": lambda: (np.concatenate([turned(np.eye(3), 0.3), turned(R)]), 0.0),
        "held": lambda: (rng.normal(size=3), 0.0),
        "accelerometer": lambda: (9.81 * rng.normal(size=3), 0.0),
        "mocap": lambda: (pose(q[:3], R), age()),
        "external_odometry": lambda: (
            np.concatenate([pose(q[:3], R), pose(np.zeros(3), np.eye(3)), rng.normal(size=3)]),
            age(),
        ),
        "foot_force": lambda: (50.0 * rng.normal(size=feet), 0.0),
        "wrench_cone": lambda: (np.zeros(0), 0.0),
        "zeroed_encoders": lambda: (np.r_[q[:7], q[7:] + rng.normal(size=len(q) - 7)], 0.0),
    }
    return readings[name]()


def adjoint(state, x, dx):
    """Change from the tangent at x to the one at x (+) dx under which motions of the world stay
    what they are."""

    def J(u):
        moved = state.integrate(x, u)
        return jacobian(lambda h: state.diff(moved, state.integrate(x, u + h)), state.ndx)

    return J(dx) @ np.linalg.inv(J(-dx))


def covariance(of) -> np.ndarray:
    """The prior of a start batch."""
    root = of.first.root(True)
    return root @ root.T


def turning_disturbance(node, d):
    """The node's linearization in a contact disturbance that turns with the base around the
    vertical, where it costs nothing to turn."""
    of, (Rx, Ru, Fx, Fu) = node.problem, (np.array(m) for m in (d.Rx, d.Ru, d.Fx, d.Fu))
    if of.floating:
        xi, turn = node.u[of.nv :], np.zeros((of.nu, of.ndx))
        turn[of.nv :, 3:6] = np.outer(
            np.cross([0.0, 0.0, 1.0], xi.reshape(-1, 3)),
            pin.Quaternion(node.x[3:7]).toRotationMatrix()[2],
        )
        Rx, Fx = Rx + Ru @ turn, Fx + Fu @ turn
        Rx[of.nv : of.nu] = 0.0
    return SimpleNamespace(r=np.array(d.r), Rx=Rx, Ru=Ru, Fx=Fx, Fu=Fu)
