# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
import numpy as np
import pinocchio as pin
import pytest

from prime_estimation.calibration.leg_kinematics import Leg
from prime_estimation.errors import RobotError
from prime_estimation.robot import Robot


@pytest.mark.parametrize("name", ["go1", "go2", "b1"])
def test_motion_is_that_of_pinocchio(name):
    robot, rng = Robot.load(name), np.random.default_rng(0)
    model, data = robot.model, robot.model.createData()
    q, v = rng.normal(size=(4, robot.nj)), rng.normal(size=(4, robot.nj))
    offset = np.array([0.01, -0.02, 0.03])
    for foot in robot.feet:
        leg = Leg(robot, foot)
        m = leg.motion(q[:, leg.joints], v[:, leg.joints], offset)
        joint = model.frames[model.getFrameId(foot)].parentJoint
        for n in range(4):
            pin.forwardKinematics(
                model, data, np.r_[np.zeros(6), 1.0, q[n]], np.r_[np.zeros(6), v[n]]
            )
            place, twist = data.oMi[joint], data.oMi[joint].act(data.v[joint])
            np.testing.assert_allclose(m.position[n], place.act(leg.tip + offset), atol=1e-12)
            np.testing.assert_allclose(m.rotation[n], place.rotation, atol=1e-12)
            np.testing.assert_allclose(m.rate[n], twist.angular, atol=1e-12)
            speed = twist.linear + np.cross(twist.angular, m.position[n])
            np.testing.assert_allclose(m.velocity[n], speed, atol=1e-12)


def test_derivatives_by_the_joints():
    robot, rng, h = Robot.load("go2"), np.random.default_rng(1), 1e-30
    leg = Leg(robot, "RR_foot")
    q, v, offset = rng.normal(size=(5, 3)), rng.normal(size=(5, 3)), rng.normal(size=3)
    m = leg.motion(q, v, offset)
    for k in range(3):
        step = q.astype(complex)
        step[:, k] += 1j * h
        moved = leg.motion(step, v, offset)
        pairs = (
            (moved.position, m.jacobian),
            (moved.velocity, m.velocity_jacobian),
            (moved.rate, m.rate_jacobian),
        )
        for value, jacobian in pairs:
            np.testing.assert_allclose(value.imag / h, jacobian[:, :, k], atol=1e-12)


def test_a_flat_foot_is_refused():
    robot = Robot.load("g1")
    with pytest.raises(RobotError, match="flat feet"):
        Leg(robot, robot.feet[0])
