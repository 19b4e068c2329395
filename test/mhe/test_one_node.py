# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""A window of one node, the shortest that the configuration allows: all there is works on it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from helpers.choreography import POSTURE, perform, standing_pose

from prime_estimation.config.parameters import Config
from prime_estimation.estimator import Estimator
from prime_estimation.robot import Robot
from prime_estimation.sensors.sensor import Aligned

SENSORS = "contact_flags", "foot_force"


@pytest.mark.parametrize("torque", [True, False])
@pytest.mark.parametrize("sensors", [(), SENSORS])
def test_a_robot_stands(torque, sensors):
    config = Config.load("go2").updated({"estimator": {"window": 1}})
    robot = Robot(config.robot)
    pose, stands = standing_pose(robot, POSTURE), Aligned(np.ones(4), 5.0)
    estimator, last = Estimator(robot, config, mocap=False, sensors=sensors), None
    for m in perform(config, lambda t: pose, lambda t: 1.0, 1.0):
        m = replace(m, readings=dict.fromkeys(sensors, stands))
        last = estimator.update(m if torque else replace(m, torque=None)) or last
    assert last.status.window_nodes == 1 and last.status.restarts == 0
    assert np.linalg.norm(last.linear_velocity_base) < 0.02
    assert last.position_world[2] == pytest.approx(pose[2], abs=0.1)
