# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Parameters that are put elsewhere from outside.

Window and arrival cost must agree on where that is.
"""

from __future__ import annotations

import numpy as np
import pytest
from helpers.choreography import POSTURE, perform, standing_pose

from prime_estimation.config.parameters import Config
from prime_estimation.config.policies import GROUND
from prime_estimation.estimator import Estimator
from prime_estimation.mhe.ground import Ground
from prime_estimation.robot import Robot


@pytest.fixture
def moved():
    """Ground and window of a robot that stands, whose head has moved away from the arrival cost's
    reference."""
    config = Config.load("go2")
    robot = Robot(config.robot)
    estimator, q = Estimator(robot, config, mocap=True), standing_pose(Robot(config.robot), POSTURE)
    for m in perform(config, lambda t: q, lambda t: 1.0, 0.7):
        estimator.update(m)
    w = estimator.window
    dx = np.zeros(w.problem.ndx)
    dx[2] = 0.003
    for name, change in (("height", 0.007), ("friction", 0.05)):
        dx[w.problem.columns(name)] = change
    w.xs = [w.problem.state.integrate(x, dx) for x in w.xs]
    return Ground(estimator.problem), w


def test_friction_is_put_to_its_bound(moved):
    ground, window = moved
    bound = np.log(GROUND.most_friction)
    window.set_parameter("friction", np.array([bound + 0.2]))
    ground._bound_friction(window)
    prior = window.problem.state.integrate(window.arrival.reference, window.arrival.mean)
    for x in (*window.xs, prior):
        assert window.problem.parameter(x, "friction")[0] == pytest.approx(bound, abs=1e-12)


def test_ground_is_put_under_the_foot_of_head_and_arrival_cost(moved):
    """The height of the ground is that of the base plus what the leg says.

    The two states differ in it by what they differ in the base.
    """
    ground, window = moved
    first, shift = window.problem.columns("height").start, window.problem.nq - window.problem.nv
    before = [x.copy() for x in window.xs]
    ground._place(window, np.array([1, 2]), np.array([0.0, 0.02, -0.01, 0.0]))
    head, reference = window.xs[0], window.arrival.reference
    for foot, above in ((1, 0.02), (2, -0.01)):
        column = first + shift + foot
        assert head[column] - reference[column] == pytest.approx(head[2] - reference[2], abs=1e-12)
        assert all(
            x[column] == pytest.approx(was[column] + above, abs=1e-12)
            for x, was in zip(window.xs, before)
        )
