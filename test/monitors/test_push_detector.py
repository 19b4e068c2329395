# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The push detector by itself: how much force for how long is a push, and when it is over."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest
from helpers.models import problem

from prime_estimation.config.policies import PUSH, SMOOTHED
from prime_estimation.mhe.situation import Situation
from prime_estimation.monitors.push import PushDetector
from prime_estimation.robot import GRAVITY

SIZE = 10  # nodes of a window


class Watched:
    """The detector of a Go2 whose base leans, and forces as somebody makes them up."""

    def __init__(self):
        self.problem = problem("go2")
        self.weight = GRAVITY * self.problem.robot.total_mass
        self.push, self.forces = PushDetector(self.problem), [np.zeros(3)] * SIZE
        self.state, self.turn = self.problem.first.neutral(), pin.exp3(np.array([0.3, -0.5, 1.0]))
        self.state[3:7] = pin.Quaternion(self.turn).coeffs()

    def see(self, force, nodes=1, weighed=True, **situation) -> PushDetector:
        """After so many nodes with a force (3,) on the base [N], world axes."""
        for _ in range(nodes):
            self.forces = [*self.forces[1:], self.turn.T @ np.array(force, float)]
            window = SimpleNamespace(
                xs=[self.state],
                size=SIZE,
                weighed=lambda: weighed,
                unexplained=lambda nodes: np.array(self.forces)[nodes],
            )
            assert self.push.judge(window, Situation(**situation)) == ""
        return self.push


def test_it_begins_at_more_than_it_ends_with_and_one_impact_is_none():
    it = Watched()
    between = [0.0, 0.5 * (PUSH.found + PUSH.gone) * it.weight, 0.0]
    found = [0.0, 1.1 * PUSH.found * it.weight, 0.0]
    assert not it.see(between, PUSH.nodes).pushed
    assert not it.see(found, PUSH.nodes // 2).pushed
    assert it.see(found).pushed
    (said,) = it.push.health(Situation())
    assert not said.ok and f"pushed by {found[1]:.0f} N" in said.message
    assert it.see(between, PUSH.nodes).pushed
    assert not it.see([0.0, 0.9 * PUSH.gone * it.weight, 0.0], PUSH.nodes).pushed


def test_what_acts_up_or_down_is_no_push():
    it = Watched()
    push = it.see([0.0, 0.0, -it.weight], 2 * PUSH.lasting)
    assert not push.pushed and not push.leaning and not push.health(Situation())


LATE = (
    PUSH.lasting + SMOOTHED.nodes
)  # a force is looked at where measurements on both sides tell it


@pytest.mark.parametrize("robot_is", ["light", "heavy"])
def test_a_weak_force_is_told_by_its_duration(robot_is):
    """Of a light robot once it is certain; of a heavy one once it is not over already."""
    it = Watched()
    certain = PUSH.certain * it.problem.config.noise.base_force / np.sqrt(PUSH.lasting)
    it.push._weight = it.weight = certain / PUSH.over * (0.7 if robot_is == "light" else 1.4)
    over = PUSH.over * it.weight
    begins = max(certain, over)
    assert begins < PUSH.gone * it.weight
    assert not it.see([0.9 * begins, 0.0, 0.0], 2 * LATE).leaning
    assert it.see([1.1 * begins, 0.0, 0.0], 2 * LATE).leaning
    (said,) = it.push.health(Situation())
    assert said.ok and "pushed for a while" in said.message
    assert it.see([1.05 * over, 0.0, 0.0], 2 * LATE).leaning
    assert not it.see([0.95 * over, 0.0, 0.0], 2 * LATE).leaning


@pytest.mark.parametrize("share", [0.012, 0.016, 0.019, 0.021, 0.03])
def test_a_weak_force_that_stays_the_same_is_said_or_not(share):
    """While pushed by 1.4 to 2 % of its weight a Go2 was leaning in every other node."""
    it = Watched()
    it.see([share * it.weight, 0.0, 0.0], 2 * LATE)
    assert len({it.see([share * it.weight, 0.0, 0.0]).leaning for _ in range(10)}) == 1


@pytest.mark.parametrize(
    "how", [dict(weighed=False), dict(contradicted=True), dict(suspended_since_ns=0)], ids=str
)
def test_where_the_feet_do_not_tell_nothing_pushes(how):
    it = Watched()
    force = [0.0, 1.1 * PUSH.found * it.weight, 0.0]
    assert it.see(force, 2 * PUSH.lasting).pushed and it.push.leaning
    push = it.see(force, **how)
    assert not push.pushed and not push.leaning
    assert not it.see([0.0, 0.0, 0.0], PUSH.lasting - 1).leaning  # what was before counts no more
