# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""What the core is handed and cannot compute with is an error: no crash, no number from nowhere."""

from __future__ import annotations

import crocoddyl
import numpy as np
import pinocchio as pin
import pytest
from core.test_window_solver import NODES, random_window
from helpers.models import robot
from helpers.nodes import random_node

from prime_estimation import _core

FEW, MANY = np.zeros(3), 10**6


def refused(call, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def contact(joint: int, foot: int = 0) -> "_core.ContactPoint":
    point = _core.ContactPoint()
    point.name, point.joint, point.foot, point.radius = "tip", joint, foot, 0.02
    point.position = point.lever = np.zeros(3)
    return point


def test_data_of_another_node(node, arrival):
    """Of another kind, of another robot, or none: they are read as this node's own."""
    arm = random_node("kinova", "forward", "coulomb", "stance", 14)
    model, x, u = node.model, node.x, node.u
    own = model.createData()
    for data in (arrival.createData(), arm.model.createData(), None):
        for ask in (
            lambda d: model.calc(d, x, u),
            lambda d: model.calc(d, x),
            lambda d: model.calcDiff(d, x, u),
            lambda d: model.linearize(d, x),
            lambda d: model.reweight(d, u, 5.0, 5.0),
            lambda d: model.expect_velocity(d, np.zeros(node.problem.nv)),
            model.contact_force,
            model.contact_forces,
            model.contact_kinematics,
            model.residual_jacobian,
            model.unmodelled_force,
            model.unmodelled_covariance,
            lambda d: arrival.marginalize(model, d, x, u, x, np.zeros((node.problem.ndx, 1))),
        ):
            refused(lambda: ask(data), "not of such a node")
    refused(lambda: model.expect_velocity(own, u[:18], arrival.createData()), "not of such a node")


def test_derivatives_before_a_calc(node):
    for ask in (node.model.linearize, lambda d, x: node.model.calcDiff(d, x, node.u)):
        with pytest.raises(RuntimeError, match="calc, which is missing"):
            ask(node.model.createData(), node.x)


def test_sizes_of_a_node(node):
    model, data = node.model, node.calc(node.x, node.u)
    refused(lambda: model.linearize(data, FEW), "x has 3 entries")
    refused(lambda: model.reweight(data, FEW, 5.0, 5.0), "u has 3 entries")
    refused(lambda: node.problem.state.integrate(node.x, FEW), "dx has 3 entries")
    refused(lambda: node.problem.state.diff(FEW, node.x), "x0 has 3 entries")
    narrow = _core.StateParameters(node.problem.robot.model, 2)
    refused(lambda: _core.ActionMeasurement(narrow, node.problem.measurements.core), "q, v, p")


def test_input_of_another_model(node):
    arm = random_node("kinova", "forward", "coulomb", "stance", 14)
    refused(lambda: setattr(node.model, "input", arm.model.input), "another measurement model")
    refused(lambda: setattr(node.model, "input", None), "input: not None")


def test_nothing_where_something_is_needed(node):
    of = node.problem
    core, state, P = of.measurements.core, of.state, np.eye(of.ndx)
    refused(lambda: _core.NodeInput(None), "measurement model: not None")
    refused(lambda: _core.MeasurementModel(None, of.mount.core, []), "dynamics: not None")
    refused(lambda: _core.ActionMeasurement(None, core), "state: not None")
    refused(lambda: _core.ActionMeasurement(state, None), "measurement model: not None")
    refused(lambda: _core.ActionArrival(None, state.zero(), P), "state: not None")
    refused(lambda: _core.ActionLinear(None, P, P, FEW, P, P, FEW), "state: not None")


def test_forces_at_the_feet_of_a_fixed_base():
    """The base's disturbances would be read where there are none."""
    of = random_node("kinova", "forward", "coulomb", "stance", 14).problem
    core = _core.MeasurementModel(of.dynamics, of.mount.core, [])
    refused(
        lambda: core.look_for_forces([[1, 2, 3]], 10.0, -3.0, 3.0, 0.1, 0.01), "base that is free"
    )


def test_sizes_of_the_arrival_cost(node, arrival):
    """Everything is checked before anything changes."""
    state, ndx, model = node.problem.state, node.problem.ndx, node.model
    data, none = model.createData(), np.zeros((ndx, 1))
    refused(lambda: _core.ActionArrival(state, FEW, np.eye(ndx)), "reference has 3")
    for name in ("reference", "mean"):
        refused(lambda: setattr(arrival, name, FEW), f"arrival: {name} has 3")
    refused(lambda: arrival.correction(FEW), "x has 3")
    refused(lambda: arrival.strain(FEW), "x has 3")
    refused(lambda: arrival.inflate_covariance(np.ones((2, 2))), "noise has 2")
    refused(lambda: arrival.restore(np.ones((3, 3))), "motion of the world has 3")
    motions, axes = np.ones((ndx, 3)), np.ones((6, 3))
    refused(lambda: arrival.release(motions[:3], axes, np.eye(3), 0.1), "motion of the world has 3")
    refused(lambda: arrival.release(motions, axes[:2], np.eye(3), 0.1), "axis has 2")
    for name, wrong in {
        "x0": (FEW, node.u, node.x, none),
        "u0": (node.x, FEW, node.x, none),
        "next x": (node.x, node.u, FEW, none),
        "noise": (node.x, node.u, node.x, np.ones((3, 2))),
    }.items():
        refused(lambda: arrival.marginalize(model, data, *wrong), f"{name} has 3")
    np.testing.assert_array_equal(arrival.covariance, np.eye(ndx))


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_covariance_that_is_not_finite(node, value):
    """Eigen factorizes it without a word."""
    state, ndx = node.problem.state, node.problem.ndx
    P = np.eye(ndx)
    P[2, 2] = value
    refused(lambda: _core.ActionArrival(state, state.zero(), P), "positive definite")
    arrival = _core.ActionArrival(state, state.zero(), np.eye(ndx))
    for L in (P, 0.0 * np.eye(ndx), -np.eye(ndx)):
        refused(lambda: setattr(arrival, "L", L), "positive")


@pytest.mark.parametrize("manifold", ["log_cholesky", "exponential_eigenvalue"])
@pytest.mark.parametrize("at", [0, 1, 4, 9])
def test_inertia_that_is_not_finite(manifold, at):
    pi = np.array([1.0, 0, 0, 0, 0.1, 0, 0.1, 0, 0, 0.1])
    pi[at] = np.nan
    refused(
        lambda: _core.theta_from_inertia(pi, getattr(_core.InertiaManifold, manifold)),
        "physically consistent",
    )


def test_sizes_of_a_window():
    window = random_window("go2", "forward", 3)
    solver, ndx = window.solver, window.problem.ndx
    refused(lambda: solver.improve(np.zeros((NODES + 1, 3)), np.array(window.us), 1, 5, 5, 5), "x ")
    refused(lambda: setattr(solver, "interruption", None), "not None")
    xs, us = [window.xs[0], *window.xs], [np.zeros(ndx), *window.us]
    solver.direction(xs, us)
    solver.compute_posterior()
    rows = np.zeros((2, 3))
    refused(lambda: solver.newest(rows), f"row of a Jacobian has 3 entries, not {ndx}")
    refused(lambda: solver.covariance_at(2, rows, rows), "row of a Jacobian has 3")
    refused(lambda: solver.covariance_of(2, rows), "row of a Jacobian has 3")
    refused(lambda: solver.variance_of(2, rows), "row of a Jacobian has 3")
    for size in (MANY, -1):
        refused(lambda: solver.first_residuals(size), f"rows, not {size}")
    refused(lambda: solver.slack([FEW] * NODES), "control has 3")
    refused(lambda: solver.slack(window.us * 3), "control per node")


def test_joints_that_a_model_does_not_have(node):
    of, options = node.problem.robot, _core.DynamicsOptions()
    joints = _core.JointModel(np.zeros(of.nj), np.zeros(of.nj))

    def dynamics(contacts, links=()):
        arguments = of.model, contacts, list(links), joints, True, options
        _core.SmoothedDynamics(*arguments)
        _core.RigidDynamics(*arguments, _core.RigidOptions())

    dynamics([contact(3)], [1])
    refused(lambda: dynamics([contact(MANY)]), f"no joint {MANY}, which carries contact 'tip'")
    refused(lambda: dynamics([contact(3, MANY)]), f"of foot {MANY}")
    refused(lambda: dynamics([contact(3, 1), contact(4, 1)]), "every foot has contacts")
    for link in (0, MANY):
        refused(lambda: dynamics([contact(3)], [link]), f"no joint {link}")
    for points, columns in (([contact(3)], [[MANY]]), ([contact(MANY)], [[6, 7, 8]])):
        refused(lambda: _core.LegForces(of.model, points, columns, 0.1), "does not have")


def test_sizes_of_a_step(node):
    dynamics, nq, nv = node.problem.dynamics, node.problem.nq, node.problem.nv
    point = (
        node.x[:nq],
        node.x[nq : nq + nv],
        np.zeros(nv),
        np.zeros(dynamics.nxi),
        np.zeros(dynamics.nparameters),
    )
    refused(lambda: dynamics.step(*point, FEW), "guess has 3")
    refused(lambda: dynamics.residual(*point, FEW), r"v\+ has 3")


def test_sizes_of_the_imu(node):
    mount, none = (
        _core.ImuMount(node.problem.robot.model, 3, pin.SE3.Identity()),
        pin.SE3.Identity(),
    )
    refused(lambda: mount.pose(FEW, FEW), "whole robot")
    refused(
        lambda: _core.velocity_at_end(FEW, FEW, FEW, none, FEW, FEW, FEW, 0.01), "quaternion has 3"
    )
    refused(
        lambda: _core.Strapdown().start_on_base(FEW, FEW, FEW, FEW, none, pin.Motion.Zero()),
        "quaternion has 3",
    )


def test_whole_body_control():
    model = robot("go2").model
    state, nj = crocoddyl.StateMultibody(model), model.nv - 6
    body = _core.WholeBody(model, [3], np.zeros((1, 3)), np.array([0.02]), 1e-6)
    weights = _core.WholeBodyWeights(nj)
    refused(lambda: setattr(weights, "torque", FEW), "weights: torque has 3")
    refused(
        lambda: _core.ActionWholeBody(state, body, _core.WholeBodyWeights(2), 0.02), "has 2 entries"
    )
    node = _core.ActionWholeBody(state, body, weights, 0.02)
    data, x, u = node.createData(), state.zero(), np.zeros(nj)
    node.calc(data, x, u)
    refused(lambda: node.calc(data, x, FEW), "u has 3")
    refused(lambda: node.calcDiff(data, FEW, u), "x has 3")
    for other in (None, crocoddyl.ActionModelUnicycle().createData()):
        refused(lambda: node.calc(other, x, u), "not of such a node")
        refused(lambda: node.forces(other), "not of such a node")
        refused(lambda: node.points(other), "not of such a node")


def test_whole_body_control_of_continuous_joints():
    """They have two coordinates, which the costs would take for positions of two joints."""
    model = pin.Model()
    base = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
    leg = model.addJoint(base, pin.JointModelRUBX(), pin.SE3.Identity(), "leg")
    for joint in (base, leg):
        model.appendBodyToJoint(joint, pin.Inertia.FromSphere(1.0, 0.1), pin.SE3.Identity())
    refused(
        lambda: _core.WholeBody(model, [leg], np.zeros((1, 3)), np.array([0.02]), 1e-6),
        "one coordinate",
    )
