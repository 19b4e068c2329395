# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Support: contact forces that do not carry what the robot is said to weigh."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.choreography import perform, standing_pose

from prime_estimation.config.parameters import Config
from prime_estimation.config.policies import SUPPORT
from prime_estimation.estimator import Estimator
from prime_estimation.mhe.problem import Problem
from prime_estimation.mhe.situation import Situation
from prime_estimation.monitors.stance_motion import MOTION
from prime_estimation.monitors.support import Support
from prime_estimation.robot import Robot
from prime_estimation.types import Measurement

POSTURE = {
    f"{leg}_{joint}_joint": value
    for leg in ("FL", "FR", "RL", "RR")
    for joint, value in (("thigh", 0.8), ("calf", -1.6))
}


@pytest.mark.parametrize("share, doubted", [(1.0, False), (0.8, True)])
def test_a_mass_that_is_not_carried_is_not_observable(share, doubted):
    """Standing still with its inertia frozen; a rope takes a fifth of the weight."""
    config = Config.load("go2").updated({"estimator": {"payload_threshold": 50.0}})
    robot = Robot(config.robot)
    pose = standing_pose(robot, POSTURE)
    estimator, last = Estimator(robot, config, mocap=False), None

    def carried(t: float) -> float:
        return 1.0 if t < 0.8 else share

    for k, m in enumerate(perform(config, lambda t: pose, carried, 3.6)):
        last = estimator.update(m) or last
        if k == 70:
            estimator.freeze(True)
    said = [h.message for h in last.status.sensors if h.name == "weight"]
    assert bool(said) == doubted
    assert estimator.monitors.support.unexplained == pytest.approx(1.0 - share, abs=0.05)
    if doubted:
        assert not last.bodies[0].observable


@pytest.mark.parametrize("felt, flies", [(9.81, True), (1.0, False)])
def test_an_estimate_that_flies_is_given_up(felt, flies):
    """No contact carries a robot that feels its weight; one in free fall feels none."""
    config = Config.load("go2")
    problem = Problem(Robot(config.robot), config)
    agreement = SimpleNamespace(carried=math.nan)
    support, given = Support(problem, agreement), SimpleNamespace(ground_depth=0.0)
    window = SimpleNamespace(inputs=[given] * 2, foot_forces=lambda: np.zeros(4))
    joints, feels = np.zeros(12), np.array([0.0, 0.0, felt])
    m = Measurement(0, joints, joints, np.zeros(3), accelerometer=feels)
    lost, said = [], []
    for _ in range(SUPPORT.flying_nodes):
        support.assess(m, None, Situation())
        lost.append(support.judge(window, Situation()))
        said += [h.name for h in support.health(Situation())]
    assert not any(lost[:-1]) and lost[-1].startswith("no contact carries") == flies
    assert set(said) == ({MOTION} if flies else set())
    assert len(said) == flies * (SUPPORT.flying_nodes - SUPPORT.said_nodes)
