# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Robots that come with the package load, are symmetric, and weigh what their builders say."""

import numpy as np
import pinocchio as pin
import pytest

from prime_estimation.commands.suitability import hints
from prime_estimation.config.files import built_in_robots
from prime_estimation.config.parameters import Config
from prime_estimation.robot import Robot

MASS = {"a1": 13.741, "b1": 55.689, "h1": 59.338, "mini_cheetah": 8.912, "ricmonk": 3.256}
LEGGED = [name for name in built_in_robots() if Config.load(name).robot.floating_base]


def contact_points(robot: Robot) -> dict[str, np.ndarray]:
    """Contacts in the axes of the base, all joints at zero."""
    model, data = robot.model, robot.model.createData()
    pin.framesForwardKinematics(model, data, pin.neutral(model))
    return {
        c.name: data.oMf[model.getFrameId(c.frame)].act(np.array(c.position, float))
        for c in robot.contacts
    }


@pytest.mark.parametrize("name", MASS)
def test_mass(name):
    assert Robot.load(name).total_mass == pytest.approx(MASS[name], abs=1e-3)


@pytest.mark.parametrize("name", LEGGED)
def test_settings_suit_the_size(name):
    config = Config.load(name)
    assert list(hints(Robot(config.robot), config)) == []


@pytest.mark.parametrize("name", LEGGED)
def test_left_and_right_are_mirror_images(name):
    points = contact_points(Robot.load(name))
    mirrored = np.array([p * [1.0, -1.0, 1.0] for p in points.values()])
    for point in points.values():
        assert np.linalg.norm(mirrored - point, axis=1).min() < 2e-3


def test_mini_cheetah_is_mits():
    """Links 0.062, 0.209 and 0.195 m; hips at 0.19 and 0.049 m; knee offset 0.004 m."""
    robot = Robot.load("mini_cheetah")
    foot = contact_points(robot)["toe_fl"]
    assert foot == pytest.approx([0.19, 0.049 + 0.062 + 0.004, -0.209 - 0.195 + 0.015])
    # hip and knee turn about -y: a positive hip swings the leg forwards
    q = pin.neutral(robot.model)
    q[7 + robot.joint_names.index("abduct_fl_to_thigh_fl_j")] = 0.3
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, q)
    assert data.oMf[robot.model.getFrameId("toe_fl")].translation[0] > 0.19 + 0.1
