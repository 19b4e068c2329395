# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""What a narrow prior holds back is what a wide one would have given."""

from __future__ import annotations

import numpy as np
import pytest

from prime_estimation.config.parameters import Config
from prime_estimation.estimator import Estimator
from prime_estimation.mhe.joint_hold import JointHold, carriers
from prime_estimation.mhe.joint_parameters import joint_blocks
from prime_estimation.robot import Robot

KINDS = "armature,dry_friction"


def posterior(prior_mean, prior_covariance, J, z):
    """Of p in z = J p + unit noise."""
    covariance = np.linalg.inv(np.linalg.inv(prior_covariance) + J.T @ J)
    gradient = np.linalg.solve(prior_covariance, prior_mean) + J.T @ z
    return covariance @ gradient, covariance


def test_the_estimate_without_the_hold_and_the_fall_of_the_cost(rng=np.random.default_rng(3)):
    hold = JointHold(joint_blocks(Robot.load("go2"), KINDS), possible=True)
    n = len(hold.mean)
    J = rng.standard_normal((40, n)) / hold.stddev
    z = J @ (hold.mean + 0.5 * hold.stddev) + rng.standard_normal(40)
    narrow, own = np.diag((hold.share * hold.stddev) ** 2), np.diag(hold.stddev**2)
    mean, covariance = posterior(hold.mean, narrow, J, z)
    expected, _ = posterior(hold.mean, own, J, z)
    estimate, fall = hold.estimate(mean, covariance)
    assert estimate == pytest.approx(expected, rel=1e-6)

    def cost(p):
        prior = (p - hold.mean) / hold.stddev
        return 0.5 * (prior @ prior + (z - J @ p) @ (z - J @ p))

    assert fall == pytest.approx(cost(hold.mean) - cost(expected), rel=1e-3)


def test_nothing_is_held_where_it_is_asked_for():
    hold = JointHold(joint_blocks(Robot.load("go2"), KINDS), possible=False)
    assert not hold.held and hold.share == 1.0
    assert not JointHold([], possible=True).held


def test_an_arm_with_feet_on_its_base_alone():
    """None of its joints lies between them and an estimated link: no parameter is held."""
    assert joint_blocks(Robot.load("go2"), "losses,stribeck,gains,offsets,delay,zeros", []) == []
    pad = {"contacts": [{"name": "pad", "frame": "ladder"}], "estimated_links": []}
    config = Config.load("ricmonk").updated({"robot": pad})
    assert config.estimator.adapt_joints
    assert not Estimator(Robot(config.robot), config, mocap=False).problem.joints


def test_joints_between_feet_and_the_estimated_link():
    robot = Robot(Config.load("g1").robot)
    names = carriers(robot)
    assert len(names) == 15 and all("waist" in n or "shoulder" not in n for n in names)
    block = joint_blocks(robot, "armature", names)[0]
    assert sorted(set(block.group)) == [-1, *range(9)]
    others = [n not in names for n in robot.joint_names]
    twice = block.declaration.coordinate(2.0 * block.values(block.mean)[0])
    values = block.per_joint(twice)
    assert values[others] == pytest.approx(block.nominal[others])
    assert values[~np.array(others)] == pytest.approx(2.0 * block.nominal[~np.array(others)])
