# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Joint orders of training frameworks: against the tables that deployed policies carry."""

import numpy as np
import pytest

from prime_estimation import Robot
from prime_estimation.errors import ConfigError
from prime_estimation.policy.joint_order import FRAMEWORKS, JointArrays, joint_order

# motor number of each joint of a policy trained in Isaac Lab, `joint_ids_map` of its deployment
ISAAC_LAB_TO_MOTORS = {
    "go2": [3, 0, 9, 6, 4, 1, 10, 7, 5, 2, 11, 8],
    "g1": [0, 6, 12, 1, 7, 13, 2, 8, 14, 3, 9, 15, 22, 4, 10, 16, 23]
    + [5, 11, 17, 24, 18, 25, 19, 26, 20, 27, 21, 28],
}
# the same of Newton and Isaac Gym
DEPTH_FIRST_TO_MOTORS = {"go2": [3, 4, 5, 0, 1, 2, 9, 10, 11, 6, 7, 8], "g1": list(range(29))}


@pytest.mark.parametrize("name", ["go2", "g1"])
def test_maps_of_deployed_policies(name):
    robot = Robot.load(name)
    motors = joint_order(robot, "unitree")
    lab = [motors.index(joint) for joint in joint_order(robot, "isaac_lab")]
    assert lab == ISAAC_LAB_TO_MOTORS[name]
    for framework in ("isaac_gym", "newton", "mujoco", "pinocchio"):
        found = [motors.index(joint) for joint in joint_order(robot, framework)]
        assert found == DEPTH_FIRST_TO_MOTORS[name]


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_there_and_back(framework):
    robot = Robot.load("g1")
    order, values = JointArrays(robot, framework), np.arange(29.0)
    by_name = dict(zip(robot.joint_names, values))
    own = order.from_robot(values)
    assert [by_name[name] for name in order.names] == own.tolist()
    np.testing.assert_array_equal(order.to_robot(own), values)


def test_locked_joints_have_no_motor():
    from prime_estimation import Config

    locked = {"locked_joints": {"waist_roll_joint": 0.0, "waist_pitch_joint": 0.0}}
    robot = Robot(Config.load("g1").updated({"robot": locked}).robot)
    assert len(joint_order(robot, "unitree")) == 27


def test_wrong_orders_are_refused():
    robot = Robot.load("go2")
    with pytest.raises(ConfigError, match="no joint order 'gazebo'; there are pinocchio"):
        JointArrays(robot, "gazebo")
    with pytest.raises(ConfigError, match="each of its 12 joints once; it differs in RR_calf"):
        JointArrays(robot, robot.joint_names[:-1])
    with pytest.raises(ConfigError, match="it differs in a joint that is named twice"):
        JointArrays(robot, [*robot.joint_names, "FL_hip_joint"])
    with pytest.raises(ConfigError, match=r"must have the shape \(12,\), has \(11,\)"):
        JointArrays(robot).to_robot(np.zeros(11))
