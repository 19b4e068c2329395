# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from prime_estimation.calibration.leg_kinematics import Leg
from prime_estimation.calibration.rotations import skew
from prime_estimation.config.parameters import Config
from prime_estimation.errors import RobotError
from prime_estimation.robot import Robot

OFFSET = np.array([0.01, -0.02, 0.03])


@pytest.mark.parametrize("name", ["go1", "go2", "b1", "g1", "h1"])
def test_motion_is_that_of_pinocchio(name):
    """Where ankles are shifted, of the robot whose joints are."""
    config, rng = Config.load(name), np.random.default_rng(0)
    robot = Robot(config.robot)
    legs = {foot: Leg(robot, foot) for foot in robot.feet}
    ankles = [robot.joint_names[g.joints[g.ankle]] for g in legs.values() if g.flat]
    there = {"robot": {"joint_offsets": {ankle: OFFSET.tolist() for ankle in ankles}}}
    model = Robot(config.updated(there).robot).model
    data, offset = model.createData(), OFFSET
    q, v = rng.normal(size=(4, robot.nj)), rng.normal(size=(4, robot.nj))
    for foot, leg in legs.items():
        tip = leg.tip if leg.flat else leg.tip + offset
        m = leg.motion(q[:, leg.joints], v[:, leg.joints], offset)
        joint = model.frames[model.getFrameId(foot)].parentJoint
        for n in range(4):
            pin.forwardKinematics(
                model, data, np.r_[np.zeros(6), 1.0, q[n]], np.r_[np.zeros(6), v[n]]
            )
            place, twist = data.oMi[joint], data.oMi[joint].act(data.v[joint])
            np.testing.assert_allclose(m.position[n], place.act(tip), atol=1e-12)
            np.testing.assert_allclose(m.rotation[n], place.rotation, atol=1e-12)
            np.testing.assert_allclose(m.rate[n], twist.angular, atol=1e-12)
            speed = twist.linear + np.cross(twist.angular, m.position[n])
            np.testing.assert_allclose(m.velocity[n], speed, atol=1e-12)


@pytest.mark.parametrize(("name", "foot"), [("go2", "RR_foot"), ("g1", "left_ankle_roll_link")])
def test_derivatives_by_joints_and_offset(name, foot):
    robot, rng, h = Robot.load(name), np.random.default_rng(1), 1e-30
    leg = Leg(robot, foot)
    q, v = rng.normal(size=(2, 5, len(leg.joints)))
    offset = rng.normal(size=3)
    m = leg.motion(q, v, offset)
    for k in range(3):
        moved = leg.motion(q, v, offset + 1j * h * np.eye(3)[k])
        by_velocity = skew(m.shifted_rate) @ m.shifted
        np.testing.assert_allclose(moved.position.imag / h, m.shifted[:, :, k], atol=1e-12)
        np.testing.assert_allclose(moved.velocity.imag / h, by_velocity[:, :, k], atol=1e-12)
    for k in range(len(leg.joints)):
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


@pytest.mark.parametrize("foot", ["left_ankle_roll_link", "right_ankle_roll_link"])
def test_the_offset_of_a_flat_foot_is_its_ankle(foot):
    """The joint at the end of the shank, not the one close to it."""
    robot = Robot.load("g1")
    leg = Leg(robot, foot)
    assert leg.flat and leg.radius == 0.0
    assert robot.joint_names[leg.joints[leg.ankle]] == foot.replace("roll_link", "pitch_joint")
    np.testing.assert_allclose(leg.tip, [0.035, 0.0, -0.03])


def test_a_foot_of_two_spheres_is_refused():
    config = Config.load("g1").robot
    heels = [c for c in config.contacts if "heel" in c.name]
    robot = Robot(replace(config, contacts=heels))
    with pytest.raises(RobotError, match="or soles of three at least; left_ankle_roll_link has 2"):
        Leg(robot, robot.feet[0])
