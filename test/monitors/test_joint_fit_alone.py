# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Held joint parameters and what data say of them: a Gaussian whose answer is known."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.models import config, robot
from helpers.windows import GivenWindow

from prime_estimation import _core
from prime_estimation.config.policies import JOINT_FIT
from prime_estimation.mhe.problem import Problem
from prime_estimation.mhe.situation import Situation
from prime_estimation.monitors.joint_fit import JointFit, Steps
from prime_estimation.robot import GRAVITY

WRONG = 3  # the parameter of the losses that the data contradict


@dataclass
class Case:
    """Joint fit of a Go2 and a window whose arrival cost says what data have told."""

    problem: Problem
    fit: JointFit
    window: GivenWindow

    @property
    def losses(self):
        return self.problem.joint_holds[0]

    def found(self) -> np.ndarray:
        """(n,) the losses that the window has."""
        x, names = self.window.xs[0], self.losses.names
        return np.concatenate([self.problem.parameter(x, name) for name in names])

    def tell(self, looks: int, fall: float, away: float, **measured) -> None:
        """Nodes that want a parameter `away` from the YAML, in deviations of its prior.

        Args:
            looks: of how many looks.
            fall: of the cost by each node, without a prior.
            away: where the data alone would have the parameter.
            measured: of the measurements.
        """
        hold, given = self.losses, {"joints_seldom": False, "torque_commanded": False, **measured}
        columns = self.problem.layout.components(hold.names)
        wish = np.zeros(len(hold.mean))
        wish[WRONG] = away * hold.stddev[WRONG]
        for node in range(1, looks * JOINT_FIT.every + 1):
            self.fit.assess(SimpleNamespace(**given), None, Situation())
            if hold.held:
                data = np.zeros((len(wish), len(wish)))
                data[WRONG, WRONG] = 2.0 * fall * node / wish[WRONG] ** 2
                own = np.diag((hold.share * hold.stddev) ** -2.0)
                covariance, mean = np.eye(self.problem.ndx), np.zeros(self.problem.ndx)
                covariance[np.ix_(columns, columns)] = np.linalg.inv(own + data)
                mean[columns] = np.linalg.solve(own + data, data @ wish)
                state = self.problem.state
                reference = self.problem.first.neutral()
                self.window.arrival = _core.ActionArrival(state, reference, covariance)
                self.window.arrival.mean = mean
            assert self.fit.judge(self.window, Situation()) == ""


@pytest.fixture
def case() -> Case:
    problem = Problem(robot("go2"), config("go2"), holds=True)
    x = problem.first.neutral()
    window = GivenWindow(problem, [x.copy(), x.copy()])
    window.kept, window._carried = None, np.zeros((1, 4))
    return Case(problem, JointFit(problem), window)


def test_losses_are_let_go_after_as_many_looks_as_it_takes(case):
    """And put where the data and the wide prior would have them."""
    fall, nodes = 3.0 * JOINT_FIT.fall, JOINT_FIT.looks * JOINT_FIT.every
    case.tell(JOINT_FIT.looks, fall, away=2.0)
    assert case.losses.let_go and all(hold.held for hold in case.problem.joint_holds[1:])
    told = 2.0 * fall * nodes / 2.0**2  # information of the data, by that of the prior
    expected = case.losses.mean.copy()
    expected[WRONG] += told / (told + 1.0) * 2.0 * case.losses.stddev[WRONG]
    np.testing.assert_allclose(case.found(), expected, atol=1e-9)
    (said,) = case.fit.health(Situation())
    block, label = [(b, label) for b in case.losses.blocks for label in b.labels][WRONG]
    assert f"do not fit the torques ({block.declaration.label} of {label} " in said.message
    assert said.ok and said.normalized_innovation > 1.0


def test_fewer_looks_let_nothing_go(case):
    case.tell(JOINT_FIT.looks - 1, 3.0 * JOINT_FIT.fall, away=2.0)
    assert case.losses.held and not case.fit.health(Situation())
    assert case.found() == pytest.approx(case.losses.mean)


def test_what_is_no_worse_than_unmodelled_effects_stays_held(case):
    case.tell(3 * JOINT_FIT.looks, 0.5 * JOINT_FIT.fall, away=2.0)
    assert case.losses.held and not case.fit.health(Situation())


def test_commanded_torques_need_more(case):
    between = 0.5 * (JOINT_FIT.fall + JOINT_FIT.commanded)
    assert JOINT_FIT.fall < between < JOINT_FIT.commanded
    case.tell(2 * JOINT_FIT.looks, between, away=2.0, torque_commanded=True)
    assert case.losses.held
    case.tell(2 * JOINT_FIT.looks, between, away=2.0)
    assert case.losses.let_go


def test_joints_that_are_read_seldom_tell_nothing(case):
    case.tell(2 * JOINT_FIT.looks, 10.0 * JOINT_FIT.fall, away=2.0, joints_seldom=True)
    assert case.losses.held


def test_a_loss_below_none_is_none(case):
    case.tell(JOINT_FIT.looks, 10.0 * JOINT_FIT.fall, away=-50.0)
    assert case.losses.let_go
    assert case.found()[WRONG] == 0.0


def test_steps():
    """Each foot has been light within so many nodes, or the robot stands on it."""
    problem = Problem(robot("go2"), config("go2"))
    steps, weight = Steps(problem), GRAVITY * problem.robot.total_mass
    stance, light = np.full(4, 0.25 * weight), 0.5 * JOINT_FIT.swings * weight
    for _ in range(JOINT_FIT.stands):
        steps.follow(SimpleNamespace(foot_forces=lambda: stance))
    assert steps.taken
    steps.follow(SimpleNamespace(foot_forces=lambda: stance))
    assert not steps.taken
    for foot in range(4):
        assert not steps.taken
        lifted = np.where(np.arange(4) == foot, light, stance)
        steps.follow(SimpleNamespace(foot_forces=lambda: lifted))
    assert steps.taken
    heavy = np.full(4, 1.5 * JOINT_FIT.swings * weight)  # that is no foot in the air
    for _ in range(JOINT_FIT.stands + 1):
        steps.follow(SimpleNamespace(foot_forces=lambda: heavy))
    assert not steps.taken
    steps.reset()
    assert steps.taken
