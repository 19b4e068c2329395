# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""What an arm holds comes out of the torques of its joints, and nothing where it holds nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from helpers.windows import GivenWindow

from prime_estimation import Config, Estimator, Robot
from prime_estimation.config.policies import LIMB_LOAD, SMOOTHED
from prime_estimation.mhe.problem import Problem
from prime_estimation.mhe.situation import ON_ITS_FEET
from prime_estimation.monitors.limb_load import LimbLoads
from prime_estimation.monitors.load_place import LoadPlace
from prime_estimation.recordings.samples import measurements

HANDS = ["left_wrist_yaw_link", "right_wrist_yaw_link"]
NODES, STEP = 2 * LIMB_LOAD.nodes, 0.01


def problem_of(robot: str, *more: str) -> Problem:
    config = Config.load(robot)
    links = [*Robot(config.robot).estimated_links, *more]
    return Problem(Robot(replace(config.robot, estimated_links=links)), config)


@pytest.fixture(scope="module")
def g1() -> Problem:
    return problem_of("g1")


def windows(problem: Problem, masses: dict[str, float], rng, deviation: float = 0.1):
    """Solved windows of a robot that moves, with the torques [Nm] that these loads [kg] need."""
    model, size = problem.robot.model, SMOOTHED.nodes + 2
    loaded = model.copy()
    for link, mass in masses.items():
        box = pin.Inertia(mass, np.array([0.1, 0.0, 0.0]), 1e-3 * mass * np.eye(3))
        loaded.inertias[problem.robot.link_joint(link)] += box
    data, other = model.createData(), loaded.createData()
    q, v = pin.neutral(model), np.zeros(model.nv)
    for _ in range(NODES):
        a = rng.normal(0.0, 5.0, model.nv) - 5.0 * v
        x, after = problem.first.neutral(), problem.first.neutral()
        problem.layout.q(x)[:], problem.layout.v(x)[:] = q, v
        missing = pin.rnea(model, data, q, v, a) - pin.rnea(loaded, other, q, v, a)
        v = v + STEP * a
        q = pin.integrate(model, q, STEP * v)
        problem.layout.q(after)[:], problem.layout.v(after)[:] = q, v
        missing += rng.normal(0.0, deviation, model.nv)
        window = GivenWindow(problem, [x] * 2 + [after] * (size - 1))
        window.unexplained = lambda nodes, w=missing: w[None]
        yield window


def told(problem: Problem, masses: dict[str, float]) -> dict[str, float]:
    limbs, rng = LimbLoads(problem), np.random.default_rng(0)
    for window in windows(problem, masses, rng):
        limbs.judge(window)
    return {limb.link: limb.mass for limb in limbs.told}


@pytest.mark.parametrize("masses", [{HANDS[0]: 1.5}, {HANDS[0]: 0.7, HANDS[1]: 2.5}])
def test_what_the_hands_hold_is_told(g1, masses):
    assert told(g1, masses) == pytest.approx(masses, rel=0.1)


def test_what_the_torso_carries_is_not(g1):
    assert told(g1, {"torso_link": 10.0}) == {}


def test_empty_hands_hold_nothing(g1):
    assert told(g1, {}) == {}


def test_limbs_lead_to_no_foot_and_no_estimated_link(g1):
    assert [limb.link for limb in LimbLoads(g1).limbs] == HANDS
    assert LimbLoads(problem_of("go2")).limbs == []
    assert [limb.link for limb in LimbLoads(problem_of("g1", HANDS[0])).limbs] == HANDS[1:]


def test_a_limb_of_one_joint():
    """An H1 whose arms branch from its torso."""
    config = Config.load("h1")
    h1 = Problem(Robot(replace(config.robot, estimated_links=["pelvis"])), config)
    assert [limb.link for limb in LimbLoads(h1).limbs] == ["torso_link"]
    assert told(h1, {}) == {}


def test_the_link_that_is_given_the_load_is_doubted_until_the_hands_are_empty(g1):
    place, rng = LoadPlace(g1), np.random.default_rng(1)
    assert place.doubted == frozenset()
    for window in windows(g1, {HANDS[0]: 1.5}, rng):
        place.judge(window, ON_ITS_FEET)
    (said,) = place.health(ON_ITS_FEET)
    assert place.doubted == {0} and said.message.startswith("left_wrist_yaw_link holds 1.")
    assert "given to torso_link" in said.message
    for _ in range(4):  # what was there is forgotten
        for window in windows(g1, {}, rng):
            place.judge(window, ON_ITS_FEET)
    assert place.doubted == frozenset() and place.health(ON_ITS_FEET) == ()


def estimates(run, config: Config):
    robot = Robot(config.robot)
    estimator = Estimator(robot, config)
    for m in measurements(run, robot, config.estimator.step, span=(0.0, 3.0)):
        if (estimate := estimator.update(m)) is not None:
            yield estimate


def test_hands_of_a_recorded_humanoid(recorded_runs):
    config = Config.load("g1")
    *_, last = estimates(recorded_runs / "g1_hands15", config)
    (torso,), nominal = last.bodies, Robot(config.robot)
    own = nominal.model.inertias[nominal.link_joint("torso_link")]
    assert last.total_mass == pytest.approx(36.341, abs=0.15) and last.total_mass_stddev < 0.5
    assert not torso.observable and abs(torso.mass - own.mass) < 1.96 * torso.mass_stddev
    assert np.all(abs(torso.com - own.lever) < 1.96 * torso.com_stddev)
    names = {s.message.split()[0] for s in last.status.sensors if s.name == "load"}
    assert names == set(HANDS)


def test_named_hands_of_a_recorded_humanoid(recorded_runs):
    config = Config.load("g1")
    config = replace(config, robot=replace(config.robot, estimated_links=["torso_link", *HANDS]))
    *_, last = estimates(recorded_runs / "g1_hands15", config)
    _, left, right = last.bodies
    assert [left.mass - 0.2546, right.mass - 0.2546] == pytest.approx([1.5, 1.5], abs=0.2)
    assert all(body.observable for body in last.bodies)
