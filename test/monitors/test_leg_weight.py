# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""A load that is put on shows in the torques of the legs; a pull that grows is none."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest
from helpers.windows import GivenWindow

from prime_estimation import Config, Estimator, Robot
from prime_estimation.config.policies import LEG_WEIGHT, SMOOTHED
from prime_estimation.contact.points import contact_points
from prime_estimation.mhe.problem import Problem
from prime_estimation.monitors.leg_weight import NORMAL, LegWeight
from prime_estimation.recordings.samples import measurements
from prime_estimation.robot import GRAVITY

BEFORE, AFTER = LEG_WEIGHT.before, 2 * LEG_WEIGHT.now


@pytest.fixture(scope="module", params=["g1", "go2"])
def problem(request):
    config = Config.load(request.param)
    return Problem(Robot(config.robot), config)


def standing(problem: Problem, carried: float, noise: np.ndarray):
    """A window of a robot that stands on bent legs whose torques carry this much [N]."""
    robot, x, size = problem.robot, problem.first.neutral(), SMOOTHED.nodes + 1
    q, model, data = problem.layout.q(x), robot.model, robot.model.createData()
    for name in robot.joint_names:
        bend = {"knee": 0.8, "calf": -1.6, "hip_pitch": -0.4, "thigh": 0.8}
        index = model.joints[model.getJointId(name)].idx_q
        q[index] = next((angle for part, angle in bend.items() if part in name), 0.0)
    tau = pin.rnea(model, data, q, np.zeros(model.nv), np.zeros(model.nv))
    pin.computeJointJacobians(model, data, q)
    spheres = contact_points(robot)
    for sphere in spheres:
        J = pin.getJointJacobian(model, data, sphere.joint, pin.LOCAL_WORLD_ALIGNED)
        arm = pin.skew(data.oMi[sphere.joint].rotation @ sphere.position)
        tau -= (J[:3] - arm @ J[3:]).T @ [0.0, 0.0, carried / len(spheres)]
    return GivenWindow(problem, [x] * (size + 1), tau[-robot.nj :] + noise)


def judged(problem: Problem, masses, noise: float) -> tuple[LegWeight, list[float]]:
    """Leg weight after a course of masses [kg] that legs carry, and the load told at each [kg].

    `noise`: standard deviation of the torques [Nm].
    """
    legs, rng, out = LegWeight(problem), np.random.default_rng(0), []
    for mass in masses:
        carried = GRAVITY * (problem.robot.total_mass + mass)
        legs.judge(standing(problem, carried, rng.normal(0.0, noise, problem.robot.nj)))
        out.append(legs.added)
    return legs, out


def added(problem: Problem, masses, noise: float = 0.1) -> list[float]:
    """Load [kg] that is told node by node of a robot whose legs carry a course of masses [kg]."""
    return judged(problem, masses, noise)[1]


def test_a_load_that_is_put_on_is_told_within_its_span(problem):
    load = 0.15 * problem.robot.total_mass
    told = added(problem, np.repeat([0.0, load], [BEFORE, AFTER]))
    assert not any(told[:BEFORE]) and told[BEFORE + LEG_WEIGHT.now] == pytest.approx(load, rel=0.1)


def test_legs_that_are_always_off_carry_no_load(problem):
    assert not any(added(problem, np.full(BEFORE, 0.2 * problem.robot.total_mass)))


def course(problem: Problem, scatter: float, seed: int) -> np.ndarray:
    """Masses [kg] that legs seem to carry beside their own, by the weight, which scatter.

    They stay for `LEG_WEIGHT.now` nodes each, as in motions to which wrong gains are a weight.
    """
    rng, own = np.random.default_rng(seed), problem.robot.total_mass
    means = rng.permutation(np.linspace(-1.0, 1.0, LEG_WEIGHT.least))
    return np.repeat(scatter * own * means, LEG_WEIGHT.now)


def test_how_far_what_legs_carry_scatters(problem):
    masses = course(problem, 0.05, seed=1)
    legs, _ = judged(problem, np.r_[masses, np.zeros(LEG_WEIGHT.now)], 0.0)
    told = masses[:: LEG_WEIGHT.now] / problem.robot.total_mass
    deviation = NORMAL * np.median(np.abs(told))
    assert legs.scatter == pytest.approx(deviation, rel=0.1)
    assert legs.usual
    legs.reset()
    assert legs.scatter == pytest.approx(deviation, rel=0.1) and not legs.usual


def test_a_hand_that_lifts_for_a_moment_is_no_scatter(problem):
    lifted = np.r_[course(problem, 0.01, seed=1), np.full(30, -0.4 * problem.robot.total_mass)]
    legs, _ = judged(problem, np.r_[lifted, np.zeros(LEG_WEIGHT.now)], 0.0)
    assert legs.scatter < 0.02


def test_legs_that_always_scatter_by_as_much_carry_no_load(problem):
    """On a Mini Cheetah they do by 5 % of the weight: 12 % are a load on other machines."""
    step = np.zeros(3 * LEG_WEIGHT.now)
    step[LEG_WEIGHT.now :] = 0.12 * problem.robot.total_mass
    quiet, loose = (course(problem, scatter, seed=2) for scatter in (0.0, 0.07))
    assert any(added(problem, np.r_[quiet, step], 0.0))
    assert not any(added(problem, np.r_[loose, step], 0.0))


def test_what_grows_is_no_load(problem):
    pull = np.linspace(0.0, 2.0 * problem.robot.total_mass, AFTER)
    assert not any(added(problem, np.r_[np.zeros(LEG_WEIGHT.fewest + LEG_WEIGHT.now), pull])[-30:])


def test_load_on_a_recorded_humanoid(recorded_runs):
    config = Config.load("g1")
    robot, on = Robot(config.robot), 6.0
    estimator = Estimator(robot, config)
    first, masses = None, []
    run, step = recorded_runs / "g1_load5_online", config.estimator.step
    for m in measurements(run, robot, step, span=(4.4, on + 0.7)):
        first = first or m.stamp_ns
        if (estimate := estimator.update(m)) is not None:
            masses.append((4.4 + 1e-9 * (m.stamp_ns - first), estimate.total_mass))
    before = [mass for t, mass in masses if t < on]
    after = [mass for t, mass in masses if t > on + 0.4]
    assert estimator.monitors.payload.alarms == 1
    assert max(before) < robot.total_mass + 0.5
    assert after == pytest.approx([robot.total_mass + 5.0] * len(after), abs=1.2)


def told(carried, felt=None) -> np.ndarray:
    """What is told at each node of legs that carry shares of 20 kg, felt at these accelerations."""
    robot = SimpleNamespace(total_mass=20.0)
    given = SimpleNamespace(legs=(), robot=robot, total_mass=lambda x: 20.0)
    weight, out = LegWeight(given), []
    for share, g in zip(carried, np.full(len(carried), GRAVITY) if felt is None else felt):
        legs = None, None, np.full(4, share * 20.0 * GRAVITY / 4), g
        window = SimpleNamespace(xs=[None], weighed=lambda k: True, legs=lambda k, legs=legs: legs)
        weight.judge(window)
        out.append(weight.added)
    return np.array(out)


def test_what_is_lifted_faster_and_faster_carries_no_load():
    rises = 1.0 + 0.2 * (np.arange(BEFORE + AFTER) >= BEFORE)
    assert not told(rises, GRAVITY * rises).any()
    assert told(rises)[-1] == pytest.approx(0.2 * 20.0)


def test_a_pull_that_has_ended_is_no_load():
    assert not told(1.0 - 0.2 * (np.arange(BEFORE + AFTER) < BEFORE)).any()
