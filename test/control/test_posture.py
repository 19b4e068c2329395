# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Robots that are none of the built-in ones stand in the simulation, or are refused in one line."""

import numpy as np
import pinocchio as pin
import pytest

from prime_estimation.config.parameters import Config
from prime_estimation.control.posture import standing_posture
from prime_estimation.errors import RobotError
from prime_estimation.robot import Robot, urdf_path
from prime_estimation.simulate import simulate


def robot(urdf: str, feet: list[str], radius: float = 0.016) -> Robot:
    contacts = [{"name": foot, "frame": foot, "radius": radius} for foot in feet]
    losses = {"armature": 0.0004, "joint_friction": 0.01, "joint_damping": 0.005}
    return Robot(
        Config()
        .updated({"robot": {"name": "mine", "urdf": urdf, "contacts": contacts, **losses}})
        .robot
    )


SOLO = ["FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT"]


def test_a_robot_whose_legs_are_stretched_in_the_middle_of_their_range():
    of = robot("example-robot-data:solo12", SOLO)
    q, data = standing_posture(of), of.model.createData()
    pin.framesForwardKinematics(of.model, data, q)
    soles = [data.oMf[of.model.getFrameId(foot)].translation[2] - 0.016 for foot in SOLO]
    np.testing.assert_allclose(soles, 0.0, atol=1e-3)
    assert q[2] > 0.15 and np.abs(q[7:]).max() < 2.0


def test_feet_of_two_sizes_stand_on_one_ground():
    radii = dict(zip(SOLO, (0.01, 0.01, 0.04, 0.04)))
    contacts = [{"name": foot, "frame": foot, "radius": r} for foot, r in radii.items()]
    settings = {"name": "mine", "urdf": "example-robot-data:solo12", "contacts": contacts}
    of = Robot(Config().updated({"robot": settings}).robot)
    q, data = standing_posture(of), of.model.createData()
    pin.framesForwardKinematics(of.model, data, q)
    soles = [data.oMf[of.model.getFrameId(foot)].translation[2] - radii[foot] for foot in SOLO]
    np.testing.assert_allclose(soles, 0.0, atol=1e-3)


@pytest.mark.parametrize("radius", [0.016, 0.0])
def test_a_light_robot_stands_on_spheres_or_points(radius):
    force = (
        simulate(robot("example-robot-data:solo12", SOLO, radius), "stand", 0.2)
        .contact_force[:, :, 2]
        .sum(axis=1)
    )
    np.testing.assert_allclose(force.mean(), 2.5 * 9.81, rtol=0.02)


def test_limits_that_leave_no_room_are_none():
    free = robot("example-robot-data:go2", ["FL_foot", "FR_foot", "RL_foot", "RR_foot"])
    free.model.lowerPositionLimit[7:] = free.model.upperPositionLimit[7:] = 0.0
    assert standing_posture(free)[2] > 0.2


def test_continuous_joints_are_refused(tmp_path):
    urdf = tmp_path / "mine.urdf"
    urdf.write_text(
        urdf_path(Config.load("go2").robot)
        .read_text()
        .replace('type="revolute"', 'type="continuous"')
    )
    turning = robot(str(urdf), ["FL_foot", "FR_foot", "RL_foot", "RR_foot"])
    with pytest.raises(RobotError, match="continuous joints cannot be simulated"):
        simulate(turning, "stand", 0.2)
    with pytest.raises(RobotError, match="continuous joints has no posture"):
        standing_posture(turning)
