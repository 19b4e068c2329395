# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Flat feet tell the slope of the ground that they lie on, and none when they stand on an edge."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest
from helpers.windows import GivenWindow

from prime_estimation import Config, Estimator, Robot
from prime_estimation.config.policies import SOLE
from prime_estimation.mhe.problem import Problem
from prime_estimation.mhe.soles import Soles, plane_slope
from prime_estimation.recordings.samples import measurements
from prime_estimation.robot import GRAVITY

SLOPE = np.array([0.03, -0.02])
FOOT, BELOW = 0, -1.0  # ground that no sole presses [m]


@pytest.fixture(scope="module")
def problem():
    config = Config.load("g1")
    return Problem(Robot(config.robot), config)


class Arrival:
    """Takes what is said of the slope."""

    def __init__(self, reference: np.ndarray):
        self.reference, self.told = reference, []

    def replace_prior(self, columns, rows, stddev, change) -> None:
        self.told.append((columns, rows, stddev, change))


def standing(problem: Problem, slope: np.ndarray, pressure: np.ndarray):
    """A window of a robot that stands on its left sole, which slopes, with its load at a place.

    Args:
        slope: (2,) of the sole, world axes.
        pressure: (2,) centre of pressure, axes of the foot [m].
    """
    robot, x = problem.robot, problem.first.neutral()
    model, data = robot.model, robot.model.createData()
    normal = np.array([*-slope, 1.0]) / np.sqrt(1.0 + slope @ slope)
    q = problem.layout.q(x)
    q[3:7] = pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), normal).coeffs()
    joint = model.getJointId("left_ankle_roll_joint")
    tau = pin.rnea(model, data, q, np.zeros(model.nv), np.zeros(model.nv))
    pin.computeJointJacobians(model, data, q)
    J = pin.getJointJacobian(model, data, joint, pin.LOCAL_WORLD_ALIGNED)
    arm = data.oMi[joint].rotation @ np.array([*pressure, -0.035])
    force = np.array([0.0, 0.0, GRAVITY * robot.total_mass])
    tau -= J.T @ np.r_[force, np.cross(arm, force)]
    problem.parameter(x, "height")[:] = BELOW
    window = GivenWindow(problem, [x.copy(), x.copy(), x], tau[-robot.nj :])
    window.arrival = Arrival(x.copy())
    return window


def tilted(problem: Problem, slope, pressure=(0.03, 0.0)) -> tuple[Soles, object, bool]:
    """What soles make of a robot that stands for a few nodes."""
    problem.dynamics.anchor = np.zeros((2, 2))
    soles, window = Soles(problem), standing(problem, np.array(slope), np.array(pressure))
    normal = np.array([GRAVITY * problem.robot.total_mass, 0.0])
    for _ in range(SOLE.nodes):
        soles.look(window)
        turned = soles.tilt(window, normal, np.array([True, False]))
    return soles, window, bool(turned[FOOT])


def test_ground_slopes_as_the_sole_that_lies_on_it(problem):
    soles, window, turned = tilted(problem, SLOPE)
    assert turned and soles.slopes[FOOT] == pytest.approx(SLOPE, abs=1e-6)
    assert problem.parameter(window.xs[-1], "slope")[:2] == pytest.approx(SLOPE, abs=1e-6)
    assert problem.dynamics.anchor[FOOT] == pytest.approx(soles.centres[FOOT, :2])


def test_its_slope_is_as_uncertain_as_the_tilt_of_the_base(problem):
    """A base that is tilted by a little more stands on ground that slopes by as much more."""
    _, window, _ = tilted(problem, SLOPE)
    ((columns, rows, stddev, _),) = window.arrival.told
    assert columns == [problem.columns("slope").start + i for i in (0, 1)]
    assert stddev == pytest.approx([SOLE.stddev] * 2)
    rotation, dphi = problem.layout.tangent["rotation"], np.array([2e-4, -3e-4, 0.0])
    x = window.xs[-1].copy()
    dx = np.zeros(problem.ndx)
    dx[rotation] = dphi
    for y in window.xs:
        y[:] = problem.state.integrate(x, dx)
    soles = Soles(problem)
    before, _, _ = tilted(problem, SLOPE)
    soles.look(window)
    change = soles.slopes[FOOT] - before.slopes[FOOT]
    assert change == pytest.approx(rows[:, rotation] @ dphi, abs=1e-5)


@pytest.mark.parametrize("pressure", [(-0.05, 0.0), (0.12, 0.0), (0.03, 0.026)])
def test_a_foot_on_its_edge_tells_nothing(problem, pressure):
    assert not tilted(problem, SLOPE, pressure)[2]


def test_a_sole_that_rolls_below_its_ground_rolls_on(problem):
    soles = Soles(problem)
    window = standing(problem, np.array([0.04, 0.0]), np.array([-0.05, 0.0]))
    soles.look(window)
    for x in window.xs:
        problem.parameter(x, "height")[:] = soles.centres[FOOT, 2]
        problem.layout.v(x)[4] = -0.5
    problem.dynamics.anchor = np.tile(soles.centres[FOOT, :2], (2, 1))
    soles.look(window)
    turned = soles.tilt(window, np.array([300.0, 20.0]), np.array([True, False]))
    assert turned.tolist() == [True, False]
    slope = [0.04 + 0.5 * SOLE.ahead, 0.0]
    assert problem.parameter(window.xs[-1], "slope")[:2] == pytest.approx(slope, abs=1e-3)


def test_a_level_floor_stays_one(problem):
    assert not tilted(problem, 0.2 * SLOPE)[2]


def test_a_sole_keeps_its_slope_until_no_node_stands_on_it(problem):
    soles, window = Soles(problem), SimpleNamespace(size=3)
    soles.tilted[:] = [True, False]
    air, ground = np.array([False, True]), np.ones(2, bool)
    gone = [soles.lifted(window, loaded).any() for loaded in (air, air, ground, air, air, air)]
    assert not any(gone) and soles.tilted[0]
    np.testing.assert_array_equal(soles.lifted(window, air), [True, False])
    assert not soles.tilted.any()


def test_a_sole_rests_that_has_not_turned_for_a_while(problem):
    still = [0.5] * SOLE.nodes
    soles, turning = Soles(problem), [*still[1:], 1.5, *still]
    rested = []
    for turn in turning:
        soles._turning[0] = turn * SOLE.still
        rested.append(soles._has_rested(0, True))
    assert rested == [False] * (len(turning) - 1) + [True]
    assert not soles._has_rested(0, False)


def test_a_quadruped_has_no_soles():
    config = Config.load("go2")
    assert not Soles(Problem(Robot(config.robot), config)).flat.any()


def test_a_recorded_humanoid_on_bumps(recorded_runs):
    """Mass and ground of a robot whose soles stand tilted; on a floor they never do."""
    config = Config.load("g1")
    robot = Robot(config.robot)
    for name, tilts in (("g1_bumps_payload29", True), ("g1_walk_payload29", False)):
        estimator = Estimator(robot, config)
        run, step = recorded_runs / name, config.estimator.step
        seen, masses = False, []
        for m in measurements(run, robot, step, span=(0.0, 4.5)):
            if (estimate := estimator.update(m)) is not None:
                seen |= bool(estimator.horizon.ground._soles.tilted.any())
                masses.append(estimate.total_mass)
        assert seen == tilts
        assert masses[-1] == pytest.approx(robot.total_mass + 2.9, abs=0.12)


def test_plane_of_a_sole_is_the_least_squares_one():
    rng = np.random.default_rng(1)
    for _ in range(50):
        R = pin.exp3(rng.normal(0.0, 0.6, 3))
        points = rng.normal(0.0, 0.05, (4, 3)) * [2.0, 1.0, 0.1] @ R.T
        away = points - points.mean(axis=0)
        expected = np.linalg.lstsq(away[:, :2], away[:, 2], rcond=None)[0]
        assert plane_slope(away) == pytest.approx(expected, rel=1e-8, abs=1e-10)
    line = np.array([[-1.0, -0.5, 0.1], [1.0, 0.5, -0.1], [0.0, 0.0, 0.0]])  # seen from above
    assert plane_slope(line) == pytest.approx([-0.08, -0.04])
