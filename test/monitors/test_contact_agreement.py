# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Contact forces that contradict the legs' torques: said, and nothing is learned from them."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from helpers.choreography import POSTURE, perform, standing_pose

from prime_estimation.config.parameters import Config
from prime_estimation.config.policies import AGREEMENT, PAYLOAD
from prime_estimation.estimator import Estimator
from prime_estimation.io.inertia_messages import may_be_used
from prime_estimation.mhe.situation import Situation
from prime_estimation.monitors.contact_agreement import ContactAgreement
from prime_estimation.robot import GRAVITY, Robot

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


class Watched:
    """The monitor of a robot of 20 kg with four feet, and nodes as somebody makes them up."""

    def __init__(self):
        robot = SimpleNamespace(total_mass=20.0, feet=["FL", "FR", "RL", "RR"])
        self.weight = SimpleNamespace(added=0.0)
        self.monitor = ContactAgreement(SimpleNamespace(legs=(), robot=robot), self.weight)

    def see(self, told, estimated, nodes=1, weighed=True, **given) -> Situation:
        """The situation after so many nodes with forces of the feet in shares of the weight."""
        given = SimpleNamespace(weighed=weighed, ground_depth=given.get("ground_depth", 0.0))
        told, estimated = (20.0 * GRAVITY * np.array(forces) for forces in (told, estimated))
        window = SimpleNamespace(
            inputs=[given] * 3,
            told=-1,
            legs=lambda k: (None, None, told, 0.0),
            foot_forces=lambda k: estimated,
        )
        for _ in range(nodes):
            situation = self.monitor.assess(None, window, Situation())
        return situation


STANDS, TWO_OFF = (0.25,) * 4, (0.25, 0.45, 0.25, 0.0)


def test_an_impact_may_differ_by_a_share_of_itself():
    it = Watched()
    assert not it.see((1.0, 0, 0, 0), (0.75, 0, 0, 0), 2 * AGREEMENT.nodes).doubted
    assert it.see((1.0, 0, 0, 0), (0.65, 0, 0, 0), 2 * AGREEMENT.nodes).contradicted


def test_the_foot_that_differs_most_is_named():
    it = Watched()
    it.see(STANDS, TWO_OFF, AGREEMENT.nodes)
    (said,) = it.monitor.health(Situation())
    assert said.message.startswith("RR: torques say 49 N, the estimate 0 N")


def test_a_contradiction_ends_later_than_it_begins():
    it = Watched()
    assert not it.see(STANDS, TWO_OFF, AGREEMENT.most).contradicted
    assert it.see(STANDS, TWO_OFF).contradicted
    until = AGREEMENT.nodes - AGREEMENT.fewest - 1
    still = it.see(STANDS, STANDS, until)
    assert still.contradicted and still.doubted
    after = it.see(STANDS, STANDS)
    assert not after.contradicted and not after.doubted


def test_feet_may_differ_for_a_load_until_it_is_learned():
    it = Watched()
    it.see(STANDS, TWO_OFF, AGREEMENT.most)
    it.weight.added = 3.0
    for _ in range(PAYLOAD.agreeing):
        excused = it.see(STANDS, TWO_OFF)
    assert excused.loaded and not excused.contradicted and not excused.doubted
    it.weight.added = 0.0
    assert not it.see(STANDS, TWO_OFF, AGREEMENT.learned - 1).contradicted
    assert it.see(STANDS, TWO_OFF, AGREEMENT.nodes).contradicted


@pytest.mark.parametrize("given", [dict(weighed=False), dict(ground_depth=0.01)])
def test_nodes_that_weigh_nothing_contradict_nothing(given):
    it = Watched()
    assert it.see(STANDS, TWO_OFF, AGREEMENT.nodes).contradicted
    assert not it.see(STANDS, TWO_OFF, **given).contradicted
    assert np.isnan(it.monitor.carried) and not it.monitor.health(Situation())
