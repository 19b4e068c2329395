# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The push detector by itself: how much force for how long is a push, and when it is over."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest
from helpers.models import problem

from prime_estimation import _core
from prime_estimation.config.policies import PUSH, SMOOTHED
from prime_estimation.mhe.situation import Situation
from prime_estimation.monitors.push import PushDetector
from prime_estimation.robot import GRAVITY

SIZE = 10  # nodes of a window
ERROR = 0.15  # m/s2, of an accelerometer


class Watched:
    """The detector of a Go2 whose base leans, and forces as somebody makes them up."""

    def __init__(self):
        self.problem = problem("go2")
        self.weight = GRAVITY * self.problem.robot.total_mass
        self.push, self.forces = PushDetector(self.problem), [np.zeros(3)] * SIZE
        self.state, self.turn = self.problem.first.neutral(), pin.exp3(np.array([0.3, -0.5, 1.0]))
        self.state[3:7] = pin.Quaternion(self.turn).coeffs()
        self.arrival = _core.ActionArrival(self.problem.state, self.state, self._covariance())
        self.nodes, self.inputs = 0, [self._input() for _ in range(SIZE + 1)]
        self.errors = [np.zeros(3)] * SIZE

    def _covariance(self) -> np.ndarray:
        return 1e-4 * np.eye(self.problem.ndx)

    def _input(self):
        given = _core.NodeInput(self.problem.measurements.core)
        self.problem.process.unmeasured(given)
        given.set("accelerometer", np.zeros(3), np.full(3, 1.0 / ERROR))
        return given

    def see(
        self, force, nodes=1, weighed=True, beside=(0.0, 0.0, 0.0), **situation
    ) -> PushDetector:
        """The detector after so many nodes with a force (3,) on the base [N], world axes.

        And with one `beside` it (3,) that the accelerometer takes for its error.
        """
        mass = self.problem.robot.total_mass
        for _ in range(nodes):
            self.forces = [*self.forces[1:], self.turn.T @ np.array(force, float)]
            error = -self.turn.T @ np.array(beside, float) / mass / ERROR
            self.errors = [*self.errors[1:], error]
            self.inputs = [*self.inputs[1:], self._input()]
            self.nodes += 1
            window = SimpleNamespace(
                problem=self.problem,
                xs=[self.state] * (SIZE + 1),
                size=SIZE,
                inputs=self.inputs,
                stamps=[(self.nodes + k) * 10_000_000 for k in range(SIZE + 1)],
                arrival=self.arrival,
                weighed=lambda: weighed,
                unexplained=lambda nodes: np.array(self.forces)[nodes],
                reading=lambda k, name: self.errors[k],
            )
            assert self.push.judge(window, Situation(**situation)) == ""
        return self.push

    def expecting(self, share: float) -> list[bool]:
        """Which complete nodes expect a horizontal force of this share of the weight."""
        stddev = [1.0 / given.nominal_force[0] for given in self.inputs[:-1]]
        return np.isclose(stddev, share * self.weight).tolist()


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


def test_most_of_what_pushes_a_heavy_robot_is_taken_for_an_error_of_its_accelerometer():
    """A G1 that was pushed by 4.6 % of its weight leant by 30 mrad before that was told."""
    it = Watched()
    certain = PUSH.certain * it.problem.config.noise.base_force / np.sqrt(PUSH.lasting)
    it.push._weight = it.weight = 1.2 * certain / PUSH.over
    force, beside = [1.1 * certain, 0.0, 0.0], [2.0 * certain, 0.0, 0.0]
    assert not it.see(force, 2 * LATE).leaning
    assert it.see(force, LATE, beside=beside).leaning
    (said,) = it.push.health(Situation())
    assert f"by {3.1 * certain:.0f} N" in said.message


def test_what_an_accelerometer_takes_for_its_error_alone_is_no_push():
    it = Watched()
    assert not it.see([0.0, 0.0, 0.0], 2 * LATE, beside=[0.2 * it.weight, 0.0, 0.0]).leaning


def test_nodes_since_the_begin_of_a_push_expect_it():
    it = Watched()
    weak = [0.0, 0.06 * it.weight, 0.0]
    while not it.see(weak).leaning:
        assert not any(it.expecting(PUSH.weak))
    assert all(it.expecting(PUSH.weak))
    assert not it.expecting(PUSH.weak + 0.01)[-1]

    it = Watched()
    it.see([0.0, 0.0, 0.0], LATE)
    strong, nodes = [0.5 * it.weight, 0.0, 0.0], 1
    while not it.see(strong).pushed:
        nodes += 1
    assert it.expecting(PUSH.stddev) == [k >= SIZE - nodes - PUSH.early for k in range(SIZE)]


def test_what_the_arrival_cost_has_learned_of_a_weak_push_is_taken_back():
    it, learned = Watched(), 1e-2
    share = 1.15 * PUSH.over
    push = [0.0, share * it.weight, 0.0]
    assert not it.see([0.0, 0.0, 0.0], LATE).leaning and not it.see(push, SIZE).leaning
    before = it.arrival.covariance
    bias, velocity = (it.problem.columns(c) for c in ("accelerometer_bias", "velocity"))
    it.arrival.mean = learned * np.eye(it.problem.ndx)[bias.start]
    it.arrival.L = 0.5 * it.arrival.L
    while not it.see(push).leaning:
        assert it.arrival.mean[bias.start] == learned
    np.testing.assert_allclose(it.arrival.mean, 0.0, atol=1e-9)
    after = it.arrival.covariance
    np.testing.assert_allclose(after[bias, bias], before[bias, bias], atol=1e-12)
    moved = it.turn @ (after - 0.25 * before)[velocity, velocity] @ it.turn.T
    seen = it.problem.dt * share * GRAVITY * PUSH.lasting  # the velocity of its impulse
    assert np.sqrt(moved[1, 1]) == pytest.approx(seen, rel=0.2)
    np.testing.assert_allclose(np.delete(moved, 4), 0.0, atol=1e-9)
