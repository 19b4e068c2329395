# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""A load in the hands is not on the torso, and what says so is quiet about loads that are."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from helpers.windows import GivenWindow

from prime_estimation.config.parameters import Config
from prime_estimation.config.policies import LOAD_PLACE
from prime_estimation.inertia import to_theta
from prime_estimation.mhe.problem import Problem
from prime_estimation.mhe.situation import ON_ITS_FEET, Situation
from prime_estimation.monitors.load_place import LoadPlace
from prime_estimation.robot import Robot


@pytest.fixture(scope="module", params=["g1", "go2"])
def problem(request):
    config = Config.load(request.param)
    return Problem(Robot(config.robot), config)


def loaded(problem, mass: float, place) -> GivenWindow:
    """A window whose head has a point mass at a place of the first estimated link."""
    robot = problem.robot
    inertia = robot.model.inertias[robot.link_joint(robot.estimated_links[0])].copy()
    inertia += pin.Inertia(mass, np.array(place, float), 1e-3 * mass * np.eye(3))
    state = problem.first.neutral()
    manifold = problem.config.estimator.manifold
    problem.parameter(state, "theta")[:10] = to_theta(inertia.toDynamicParameters(), manifold)
    return GivenWindow(problem, [state])  # too short to ask limbs


def said(problem, mass: float, place, situation: Situation = ON_ITS_FEET) -> list[str]:
    monitor = LoadPlace(problem)
    for _ in range(LOAD_PLACE.nodes):
        assert not monitor.health(situation)
        assert monitor.judge(loaded(problem, mass, place), situation) == ""
    return [s.message for s in monitor.health(situation)]


def middle(problem) -> np.ndarray:
    robot = problem.robot
    return robot.model.inertias[robot.link_joint(robot.estimated_links[0])].lever


def test_a_load_outside_of_the_link_is_doubted(problem):
    link = problem.robot.estimated_links[0]
    words = said(problem, 3.0, middle(problem) + [0.05, 0.0, -0.35])
    assert len(words) == 1 and words[0].startswith("3.0 kg would be at")
    assert f"if {link} carried them" in words[0] and "0.35 m from its middle" in words[0]


@pytest.mark.parametrize("offset", [(0.05, 0.02, 0.1), (-0.12, 0.0, 0.02), (0.0, 0.1, 0.0)])
def test_a_load_on_the_link_is_not(problem, offset):
    assert said(problem, 3.0, middle(problem) + offset) == []


def test_little_load_has_no_place(problem):
    assert said(problem, 0.2, middle(problem) + [0.0, 0.0, 1.0]) == []


def test_an_inertia_that_is_held_says_nothing(problem):
    held = Situation(inertia_held=True)
    assert said(problem, 3.0, middle(problem) + [0.0, 0.0, 1.0], held) == []


def test_it_must_be_there_all_the_time(problem):
    """A load that is gone for a node has been elsewhere for none."""
    monitor, there = LoadPlace(problem), middle(problem) + [0.0, 0.0, 1.0]
    for nodes in (LOAD_PLACE.nodes - 1, LOAD_PLACE.nodes - 1):
        for _ in range(nodes):
            monitor.judge(loaded(problem, 3.0, there), ON_ITS_FEET)
        monitor.judge(loaded(problem, 0.1, there), ON_ITS_FEET)
        assert monitor.places[0] is None
        monitor.judge(loaded(problem, 3.0, there), ON_ITS_FEET)
        assert not monitor.doubted and not monitor.health(ON_ITS_FEET)
