# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Inertia hold: an inertia that runs away is held as it was before."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest
from helpers.models import config, problem, robot
from helpers.runs import measurements

from prime_estimation.config.policies import AGREEMENT, RUNAWAY
from prime_estimation.estimator import Estimator
from prime_estimation.inertia import to_theta
from prime_estimation.mhe.situation import Situation
from prime_estimation.monitors import inertia_hold
from prime_estimation.monitors.inertia_hold import InertiaHold, _spread
from prime_estimation.types import Measurement

SIZE = 5  # nodes of a window
CARRIED = Situation(suspended_since_ns=0)
WEIGHED = Measurement(0, np.zeros(12), np.zeros(12), np.zeros(3), torque=np.ones(12))
UNPOWERED, BLIND = replace(WEIGHED, torque=np.zeros(12)), replace(WEIGHED, torque=None)


def test_spread_of_a_mass():
    """Of a box with edges a, b, c: (a^2 + b^2 + c^2) / 12, wherever it is."""
    edges = np.array([0.4, 0.3, 0.1])
    for place in (np.zeros(3), np.array([1.0, -2.0, 0.5])):
        turning = 0.25 * np.diag((edges**2).sum() - edges**2)  # m / 12
        pi = pin.Inertia(3.0, place, turning).toDynamicParameters()
        assert _spread(pi) == pytest.approx((edges**2).sum() / 12.0)


def test_an_inertia_that_runs_away_is_held(recorded_runs):
    """A moment that nobody knows made the torso of a G1 as wide as a village, and a crash."""
    go2, settings = robot("go2"), config("go2")
    estimator = Estimator(go2, settings, mocap=False)
    ms = measurements(recorded_runs / "go2_nominal", go2, settings, 4.0, mocap=False)
    for m in ms[:200]:
        before = estimator.update(m)
    hold, window = estimator.monitors.hold, estimator.window
    assert not hold.held
    theta = estimator.problem.parameter(window.xs[-1], "theta").copy()
    theta[1:4] += 5.0  # logarithms: e^5 times as wide
    window.set_parameter("theta", theta)
    found = [estimator.update(m) for m in ms[200:]]
    assert hold.held or RUNAWAY.nodes < 200
    for estimate in found[RUNAWAY.nodes // 2 :]:
        assert estimate is not None
        assert abs(estimate.total_mass - before.total_mass) < 0.3
        assert _spread(estimate.bodies[0].parameters) < 0.2


class Watched:
    """The hold of a Go2, and a window that remembers what is done to it."""

    def __init__(self, monkeypatch):
        self.problem = problem("go2")
        self.hold, self.released = InertiaHold(self.problem), []
        no_stillness = dict.fromkeys(("begin", "follow", "hold"), lambda *_: None)
        self.hold._still = SimpleNamespace(**no_stillness)
        self.state = self.problem.first.neutral()
        known = 1e-4 * np.eye(self.problem.ndx)
        self.window = SimpleNamespace(
            size=SIZE,
            xs=[self.state],
            posterior=lambda: None,
            head_covariance=lambda: known,
            set_parameter=lambda name, value: np.copyto(self.theta, value),
        )
        monkeypatch.setattr(inertia_hold, "hold_inertia", lambda window: None)
        monkeypatch.setattr(
            inertia_hold, "release_inertia", lambda window, root: self.released.append(root)
        )

    @property
    def theta(self) -> np.ndarray:
        return self.problem.parameter(self.state, "theta")

    def see(self, m=WEIGHED, nodes=1, situation=Situation(), drift=0.0) -> bool:
        """Whether it holds after so many nodes alike, in each of which the estimate drifts."""
        for _ in range(nodes):
            if not self.hold.held:
                self.theta[:] += drift
            self.hold.assess(m, self.window, situation)
        return self.hold.held


@pytest.fixture
def watched(monkeypatch) -> Watched:
    return Watched(monkeypatch)


@pytest.mark.parametrize(
    "m, situation", [(BLIND, Situation()), (UNPOWERED, Situation()), (WEIGHED, CARRIED)]
)
def test_it_is_held_until_no_node_without_weight_is_left_in_the_window(watched, m, situation):
    """What was known then is known again."""
    assert not watched.see(nodes=3)
    assert watched.see(m, situation=situation) and watched.see(nodes=SIZE - 1)
    assert not watched.see()
    (root,) = watched.released
    np.testing.assert_allclose(root @ root.T, 1e-4 * np.eye(len(watched.theta)), atol=1e-12)


def test_wrong_contacts_take_it_back_to_what_it_was_before(watched):
    watched.see(nodes=AGREEMENT.nodes, drift=1e-3)
    before = watched.theta - 1e-3 * (AGREEMENT.nodes - 1)
    assert watched.see(situation=Situation(contradicted=True))
    np.testing.assert_allclose(watched.theta, before)
    assert watched.see(nodes=SIZE - 1) and not watched.see()


def test_wrong_contacts_that_were_a_load_hold_nothing(watched):
    watched.see(situation=Situation(contradicted=True))
    assert not watched.see(situation=Situation(loaded=True))


@pytest.mark.parametrize("share, held", [(0.5, False), (2.0, True)])
def test_a_link_that_is_wider_than_any_load_is_held_for_a_while(watched, share, held):
    width = share * RUNAWAY.spread
    watched.see()
    before = watched.theta.copy()
    inertia = pin.Inertia(10.0, np.zeros(3), 10.0 * width**2 * 2.0 / 3.0 * np.eye(3))
    manifold = watched.problem.config.estimator.manifold
    watched.theta[:] = to_theta(inertia.toDynamicParameters(), manifold)
    assert watched.see() == held == np.array_equal(watched.theta, before)
    if held:
        assert watched.see(nodes=RUNAWAY.nodes - 1) and not watched.see()


def test_after_a_freeze_it_is_learned_from_the_prior(watched):
    """Whatever else held it before: a payload may have changed."""
    watched.see(BLIND)
    watched.hold.freeze(watched.window, True)
    assert watched.see(nodes=2 * SIZE)
    watched.hold.freeze(watched.window, False)
    assert not watched.hold.held
    np.testing.assert_array_equal(watched.released, [watched.problem.theta_prior_root])


@pytest.mark.parametrize("as_before", [True, False])
def test_over_a_lift_it_is_kept_where_the_feet_carry_as_much_as_before(
    watched, monkeypatch, as_before
):
    kept = []
    first = SimpleNamespace(
        keep_inertia=lambda mean, _: kept.append(mean), forget_inertia=lambda: kept.append(None)
    )
    monkeypatch.setattr(watched.problem, "first", first)
    watched.see(nodes=AGREEMENT.nodes, drift=1e-3)
    before = watched.hold._before[0].copy()
    watched.hold.outlast(watched.window, True, False)
    watched.hold.outlast(None, False, as_before)
    watched.hold.outlast(None, False, as_before)
    (mean,) = kept
    assert (mean is not None) == as_before and (not as_before or np.array_equal(mean, before))


def test_a_first_guess_is_not_kept_over_a_lift(watched, monkeypatch):
    kept = []
    first = SimpleNamespace(keep_inertia=lambda *known: kept.append(known))
    monkeypatch.setattr(watched.problem, "first", first)
    watched.see(nodes=AGREEMENT.nodes - 1)
    watched.hold.outlast(watched.window, True, False)
    watched.hold.outlast(None, False, True)
    assert not kept
