# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Residuals and Jacobians of a Furuta pendulum: against Pinocchio, and against differences."""

from __future__ import annotations

import furuta
import numpy as np
import pinocchio as pin
import pytest
from helpers.differences import relative_error

from prime_estimation import _core
from prime_estimation.config.parameters import Config
from prime_estimation.fixed_base import (
    JointRecording,
    Leapfrog,
    Machine,
    Payload,
    Spline,
    Weights,
)
from prime_estimation.fixed_base.friction import FRICTION, friction
from prime_estimation.fixed_base.segment import Segment
from prime_estimation.joint_friction import JointLosses
from prime_estimation.robot import Robot

# a machine with everything that there is
CHANGES = {
    "tilt_x": 0.02,
    "tilt_y": -0.03,
    "tilt_z": 0.1,
    "delay": 0.004,
    "hinge1.dry": 0.1,
    "hinge2.stribeck": 0.2,
    "hinge2.stribeck_velocity": 2.0,
    "hinge2.viscous": 0.01,
    "hinge1.stiffness": 0.3,
    "hinge1.gain": 1.3,
    "hinge1.gear_loss": 0.2,
    "hinge2.offset": 0.01,
    "bob.mass": 0.2,
    "bob.along": -0.05,
    "hinge1.zero": 0.05,
    "hinge2.zero": -0.1,
}
EPSILON = 1e-6


@pytest.fixture(scope="module")
def machine():
    bob = [
        Payload("bob", "B", (0.01, 0.02, -0.1), 0.7, (0.1, 0.2, 1.0)),
        Payload("bob", "A", (0.1, 0.0, 0.0), 0.3),
    ]
    return Machine(furuta.furuta(), payloads=bob)


@pytest.fixture(scope="module")
def recording():
    t = np.arange(0.0, 0.5, 1e-3)
    position = np.column_stack([np.sin(7.0 * t), 2.0 + np.cos(11.0 * t)])
    torque = np.column_stack([np.sin(9.0 * t), 0.1 * np.cos(4.0 * t)])
    rate = np.column_stack([7.0 * np.cos(7.0 * t), np.full_like(t, np.nan)])
    return JointRecording(t, position, torque, rate)


@pytest.fixture(scope="module", params=[Spline, Leapfrog])
def segment(request, machine, recording):
    basis = request.param.over(0.0, recording.time[-1], 0.02)
    weights = Weights(
        np.full(2, 1e-3), np.array([0.01, 0.02]), np.array([0.1, 0.2]), torque_time=0.03
    )
    return Segment(machine, recording, basis, weights)


def test_inverse_dynamics_is_pinocchios():
    model = furuta.furuta().model.copy()
    model.armature[:] = 0.0
    pi = np.concatenate([model.inertias[j].toDynamicParameters() for j in (1, 2)])
    q, v, a = np.random.default_rng(0).normal(size=(3, 5, 2))
    gravity = np.array([1.0, -2.0, -9.0])
    dynamics = _core.InverseDynamics(model)
    dynamics.evaluate(pi, gravity, q, v, a)
    model.gravity.linear, data = gravity, model.createData()
    for k in range(5):
        at = pin.integrate(model, pin.neutral(model), q[k])
        np.testing.assert_allclose(dynamics.torque[k], pin.rnea(model, data, at, v[k], a[k]))
    rows = dynamics.by_inertia.reshape(5, 2, 20) @ pi
    np.testing.assert_allclose(rows, dynamics.torque, atol=1e-12)


def test_inverse_dynamics_refuses():
    model = furuta.furuta().model
    dynamics, row = _core.InverseDynamics(model), np.zeros((3, 2))
    with pytest.raises(ValueError, match="10 numbers per body"):
        dynamics.evaluate(np.ones(10), np.zeros(3), row, row, row)
    with pytest.raises(ValueError, match="one row per instant"):
        dynamics.evaluate(np.ones(20), np.zeros(3), row, row, np.zeros((2, 2)))


def test_by_trajectory(machine, segment):
    draw = np.random.default_rng(1)
    values, x = machine.values(CHANGES), segment.start()
    x = x + draw.normal(0.0, 0.01, x.shape)
    rows, direction = segment.rows(values, x), draw.normal(size=x.shape)
    ahead, behind = (segment.rows(values, x + e * direction).residual for e in (EPSILON, -EPSILON))
    difference = (ahead - behind) / (2.0 * EPSILON)
    assert relative_error(rows.by_trajectory @ direction, difference) < 1e-6
    assert segment.cost(values, x) == pytest.approx(rows.residual @ rows.residual)


def test_by_parameters(machine, segment):
    values, x = machine.values(CHANGES), segment.start()
    rows = segment.rows(values, x)
    for i, name in enumerate(machine.names):
        ahead, behind = values.copy(), values.copy()
        ahead[i], behind[i] = values[i] + EPSILON, values[i] - EPSILON
        difference = segment.rows(ahead, x).residual - segment.rows(behind, x).residual
        difference /= 2.0 * EPSILON
        error = np.abs(difference - rows.by_parameters[:, i]).max()
        assert error < 1e-5 * max(1.0, np.abs(difference).max()), name


def test_a_gain_of_zero_has_a_derivative(machine):
    """A motor that does nothing, as its box may say; by its gain the torque is the control."""
    values, control = machine.values({"hinge1.gain": 0.0}), np.array([[2.0, 3.0]])
    motors = machine.motors(values, control, np.zeros((1, 2)), np.ones((1, 2)))
    assert motors.by_parameters[0, 0, machine.index("hinge1.gain")] == 2.0
    assert np.isfinite(motors.by_parameters).all()


def test_friction_at_known_rates():
    of = {"viscous": 0.5, "dry": 2.0, "stribeck": 1.0, "stribeck_velocity": 0.1}
    of = {kind: np.array([of[kind]]) for kind in FRICTION}
    loss = friction(of, np.array([[0.0], [1e3], [-1e3], [0.1]]), 1e-6)
    expected = [0.0, 502.0, -502.0, 0.05 + 2.0 + np.exp(-1.0)]
    np.testing.assert_allclose(loss.torque[:, 0], expected, rtol=1e-6, atol=1e-12)


MOTORS = {
    "armature": 0.02,
    "joint_friction": 0.3,
    "joint_damping": 0.1,
    "gear_loss": 0.1,
    "stribeck": 0.2,
    "stribeck_velocity": 0.7,
    "torque_scale": 1.25,
    "torque_offset": 0.4,
    "torque_delay": -0.01,
    "joint_zeros": {"elbow": 0.05},
}
ARM = """<robot name="arm"><link name="stand"/><link name="arm"><inertial>
<origin xyz="0 0 -0.2"/><mass value="1"/>
<inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.001"/></inertial></link>
<joint name="elbow" type="revolute"><parent link="stand"/><child link="arm"/>
<limit lower="-3" upper="3" effort="9" velocity="9"/><axis xyz="0 1 0"/></joint></robot>"""


def test_losses_and_motors_are_those_of_the_yaml(tmp_path):
    """The torque that moves a robot of which all is known, by what its sensors read."""
    urdf = tmp_path / "arm.urdf"
    urdf.write_text(ARM)
    settings = {"name": "arm", "urdf": str(urdf), "floating_base": False, **MOTORS}
    robot = Robot(Config().updated({"robot": settings}).robot)
    machine, reading = Machine(robot), np.array([[6.0]])
    q, v, a = (np.array([[x]]) for x in (0.3, 1.5, 4.0))
    loads = machine.loads(machine.nominal, q + robot.joint_zeros, v, a)
    motors = machine.motors(machine.nominal, reading, np.zeros((1, 1)), v)
    needed = pin.rnea(robot.model, robot.model.createData(), q[0], v[0], a[0])
    passed = JointLosses.of(robot).passed(robot.motor_torque(reading), v, a)
    # gears lose a share of the torque with its offset, there
    np.testing.assert_allclose(loads.torque - motors.torque, needed - passed, atol=0.05)
    assert machine.delay(machine.nominal) == 0.01
