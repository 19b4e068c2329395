# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Fixtures of the window's tests."""

from __future__ import annotations

import pytest
from helpers.choreography import POSTURE, perform, standing_pose

from prime_estimation.config.parameters import Config
from prime_estimation.estimator import Estimator
from prime_estimation.robot import Robot


@pytest.fixture
def standing():
    """Estimator of a robot that stands, and the measurement that comes next."""
    config = Config.load("go2")
    robot = Robot(config.robot)
    estimator, q = Estimator(robot, config, mocap=True), standing_pose(robot, POSTURE)
    *measurements, last = perform(config, lambda t: q, lambda t: 1.0, 0.8)
    for m in measurements:
        estimator.update(m)
    return estimator, last
