# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Contact forces that contradict the legs' torques: said, and nothing is learned from them."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.choreography import POSTURE, perform, standing_pose

from prime_estimation.config.parameters import Config
from prime_estimation.config.policies import AGREEMENT
from prime_estimation.estimator import Estimator
from prime_estimation.io.inertia_messages import may_be_used
from prime_estimation.robot import Robot

WRONG = range(60, 60 + 2 * AGREEMENT.nodes)  # nodes at which the ground is kept away from a foot


@pytest.fixture(scope="module")
def estimates():
    """By node, of a robot that stands; the ground is taken from under a foot again and again."""
    config = Config.load("go2")
    robot = Robot(config.robot)
    estimator, q, out = Estimator(robot, config), standing_pose(robot, POSTURE), {}
    for k, m in enumerate(perform(config, lambda t: q, lambda t: 1.0, 1.6)):
        if k in WRONG:
            ground = estimator.horizon.ground
            ground._place(estimator.window, np.array([1]), np.array([0.0, -0.03, 0.0, 0.0]))
        if (estimate := estimator.update(m)) is not None:
            out[k] = estimate
    return out


def said(estimate) -> list[str]:
    return [s.message for s in estimate.status.sensors if s.name == "contacts"]


def test_it_is_said_which_foot(estimates):
    assert not any(said(e) for k, e in estimates.items() if k < WRONG[0])
    (reason,) = said(estimates[WRONG[-1]])
    assert reason.startswith("FR_foot: torques say") and "inertia is not estimated" in reason


def test_the_inertia_is_not_for_use_and_stays(estimates):
    wrong = estimates[WRONG[-1]]
    assert not wrong.bodies[0].observable and not may_be_used(wrong, np.inf)
    held = estimates[WRONG[AGREEMENT.nodes]].total_mass
    assert wrong.total_mass == pytest.approx(held, abs=1e-6)


def test_it_is_over_once_the_contacts_are_right(estimates):
    last = estimates[max(estimates)]
    assert not said(last)
