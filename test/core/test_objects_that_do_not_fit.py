# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Objects of the core that do not fit to each other, and values that nothing can be computed with:
an error, no crash."""

from __future__ import annotations

import crocoddyl
import numpy as np
import pinocchio as pin
import pytest
from core.test_bad_arguments import FEW, MANY, contact, refused
from helpers.models import robot

from prime_estimation import _core


def test_data_of_other_sensors_and_contacts(node):
    """Of the same sizes, but made of other types inside."""
    of = node.problem
    joints = _core.JointModel(np.zeros(of.nj), np.zeros(of.nj))
    bodies = of.robot.model, [contact(4), contact(7, 1)], [], joints, True, _core.DynamicsOptions()
    smoothed = _core.SmoothedDynamics(*bodies)
    rigid = _core.RigidDynamics(*bodies, _core.RigidOptions())
    nodes = []
    for dynamics, sensors in ((smoothed, ["tilt"]), (smoothed, ["held"]), (rigid, ["held"])):
        core = _core.MeasurementModel(dynamics, of.mount.core, sensors)
        state = _core.StateParameters(of.robot.model, core.np)
        nodes.append(_core.ActionMeasurement(state, core))
    for node, other in ((nodes[0], nodes[1]), (nodes[1], nodes[2]), (nodes[2], nodes[1])):
        x, u = node.state.zero(), np.zeros(node.nu)
        node.calc(node.createData(), x, u)
        refused(lambda: node.calc(other.createData(), x, u), "not of such a node")


def test_imu_of_another_robot(node):
    """Its joints would be read behind the end of the state."""
    mount = _core.ImuMount(robot("g1").model, 20, pin.SE3.Identity())
    refused(lambda: _core.MeasurementModel(node.problem.dynamics, mount, ["gyro"]), "IMU is behind")


@pytest.mark.parametrize("joint", [-1, 0, MANY])
def test_forces_at_the_feet_by_joints_that_are_none(node, joint):
    """The limits of a joint are looked up with its index."""
    core = _core.MeasurementModel(node.problem.dynamics, node.problem.mount.core, [])
    legs = [[joint, 3, 4]] * node.problem.dynamics.nc
    refused(lambda: core.look_for_forces(legs, 10.0, -3.0, 3.0, 0.1, 0.01), f"no joint {joint}")


def test_arrival_cost_without_a_base():
    """Its first six rows are no base, or are not there."""
    state, carry = crocoddyl.StateVector(2), np.eye(3)
    arrival = _core.ActionArrival(state, np.zeros(2), np.eye(2))
    refused(lambda: arrival.release(np.ones((2, 3)), np.ones((6, 3)), carry, 0.1), "base")
    np.testing.assert_array_equal(arrival.covariance, np.eye(2))


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_knowledge_that_is_not_finite(node, arrival, value):
    """It would be there for ever: everything is checked before anything changes."""
    ndx, model, zero = node.problem.ndx, node.model, np.zeros(1)
    wrong, rows, bad = np.full((ndx, 1), value), np.zeros((1, ndx)), np.array([value])
    refused(lambda: arrival.inflate_covariance(wrong), "not finite")
    point = node.x, node.u, node.x
    refused(lambda: arrival.marginalize(model, model.createData(), *point, wrong), "not finite")
    for prior in ((wrong.T, zero + 1.0, zero), (rows, bad, zero), (rows, zero + 1.0, bad)):
        refused(lambda: arrival.replace_prior([3], *prior), "not finite")
    np.testing.assert_array_equal(arrival.covariance, np.eye(ndx))


@pytest.mark.parametrize("many", [10001, 2**31])
def test_more_parameters_than_memory_has_room_for(many):
    refused(lambda: _core.StateParameters(pin.buildSampleModelManipulator(), many), "of at most")


def vector_node(np_: int = 0) -> "_core.ActionLinear":
    one, state = np.ones((1, 1)), crocoddyl.StateVector(1)
    return _core.ActionLinear(state, one, one, np.zeros(1), one, one, np.zeros(1), np_)


def vector_arrival() -> "_core.ActionArrival":
    return _core.ActionArrival(crocoddyl.StateVector(1), np.zeros(1), np.eye(1))


def test_nodes_that_estimate_nothing():
    """At once, and not only when they are solved: other calls rely on it, too."""
    plain, node = crocoddyl.ActionModelLQR(1, 1, True), vector_node()
    for models, terminal in (
        ([plain, node], node),
        ([node, plain], node),
        ([node, node], plain),
        ([node, vector_node(1)], node),
    ):
        problem = crocoddyl.ShootingProblem(np.zeros(1), models, terminal)
        refused(lambda: _core.SolverMultipleShooting(problem), "least-squares nodes")


def test_nodes_that_are_exchanged():
    """Another first node, another last one, one with more controls."""
    xs, us, node = [np.zeros(1)] * 3, [np.zeros(1)] * 2, vector_node()

    def solver(first):
        problem = crocoddyl.ShootingProblem(np.zeros(1), [first, node], node)
        return problem, _core.SolverMultipleShooting(problem)

    for first, other in ((vector_arrival(), node), (node, vector_arrival())):
        problem, window = solver(first)
        problem.updateNode(0, other, other.createData())
        refused(lambda: window.solve(xs, us, 1), "with an arrival node")
    problem, window = solver(node)
    problem.terminalModel = crocoddyl.ActionModelLQR(1, 1, True)
    refused(lambda: window.solve(xs, us, 1), "least-squares nodes")
    problem, window = solver(node)
    one, three = np.ones((1, 1)), np.ones((1, 3))
    wide = _core.ActionLinear(node.state, one, three, np.zeros(1), one, three, np.zeros(1))
    problem.updateNode(1, wide, wide.createData())
    assert [len(du) for du in window.direction(xs, [us[0], np.zeros(3)])[1]] == [1, 3]


class StateInPython(crocoddyl.StateAbstract):
    def __init__(self):
        crocoddyl.StateAbstract.__init__(self, 1, 1)

    def diff(self, x0, x1):
        return x1 - x0


class NodeInPython(crocoddyl.ActionModelAbstract):
    """Cost |x|^2/2 + |u|^2/2 of x+ = x + u."""

    def __init__(self):
        crocoddyl.ActionModelAbstract.__init__(self, crocoddyl.StateVector(1), 1)

    def calc(self, data, x, u=None):
        data.xnext = x if u is None else x + u
        data.cost = 0.5 * float(x @ x + (0.0 if u is None else u @ u))

    def calcDiff(self, data, x, u=None):
        data.Fx, data.Fu, data.Lxx, data.Luu = np.ones((4, 1, 1))
        data.Lx, data.Lu = x, np.zeros(1) if u is None else u


def test_what_is_written_in_python():
    """Solvers let other threads run: a state in Python would be called without its lock."""
    state, one = StateInPython(), np.ones((1, 1))
    refused(lambda: _core.ActionArrival(state, np.zeros(1), one), "written in Python")
    matrices = one, one, np.zeros(1), one, one, np.zeros(1)
    refused(lambda: _core.ActionLinear(state, *matrices), "written in Python")
    nodes = [NodeInPython() for _ in range(3)]
    problem = crocoddyl.ShootingProblem(np.ones(1), nodes[:2], nodes[2])
    solver = _core.SolverRecedingHorizon(problem)
    assert solver.improve(np.ones(1), np.ones((1, 3)), np.zeros((1, 2)), 3)
    np.testing.assert_allclose(solver.controls(), [-0.6, -0.2], atol=1e-6)


def test_legs_of_a_model_without_joints():
    refused(lambda: _core.LegForces(pin.Model(), [], [], 0.1), "without any joint")


@pytest.mark.parametrize("wrong", [0.0, -0.01, np.nan])
def test_what_is_divided_by(node, wrong):
    """A contact law without smoothing has no slope where nothing slides, a step of 0 no end."""
    of, none = node.problem.robot, np.zeros(node.problem.nj)

    def dynamics(options):
        joints = _core.JointModel(none, none)
        return _core.SmoothedDynamics(of.model, [contact(3)], [], joints, True, options)

    for name in ("dt", "friction_velocity"):
        options = _core.DynamicsOptions()
        setattr(options, name, wrong)
        refused(lambda: dynamics(options), "must be positive")
    for name in ("compliance", "kappa", "smoothing"):
        options, law = _core.DynamicsOptions(), _core.ContactLaw()
        setattr(law, name, wrong)
        options.law = law
        refused(lambda: dynamics(options), "must be positive")


def test_anchor_of_a_single_foot(node):
    """What eigenpy hands out of it is a vector."""
    of, none = node.problem.robot, np.zeros(node.problem.nj)
    joints, options = _core.JointModel(none, none), _core.DynamicsOptions()
    dynamics = _core.SmoothedDynamics(of.model, [contact(3)], [], joints, True, options)
    for place in (np.array([1.0, 2.0]), np.array([[1.0, 2.0]])):
        dynamics.anchor = place
        dynamics.anchor = dynamics.anchor
        np.testing.assert_array_equal(np.ravel(dynamics.anchor), [1.0, 2.0])
    refused(lambda: setattr(dynamics, "anchor", FEW), "one place")


def test_encoders_of_no_joint():
    none = np.zeros(0)
    rest = [], [], _core.JointModel(none, none), False, _core.DynamicsOptions()
    dynamics = _core.SmoothedDynamics(pin.Model(), *rest)
    mount = _core.ImuMount(pin.Model(), 0, pin.SE3.Identity())
    assert _core.MeasurementModel(dynamics, mount, ["zeroed_encoders"]).np == 0
