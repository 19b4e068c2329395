# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Resumption with messages of known content, and no recording."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from helpers.estimates import make_estimate

from prime_estimation.config.parameters import Config
from prime_estimation.inertia import InertiaBelief
from prime_estimation.io import inertia_messages
from prime_estimation.nodes.estimator import EstimatorNode
from prime_estimation.nodes.inertia_keeper import KEPT, InertiaKeeperNode
from prime_estimation.nodes.inertia_listener import TOPIC, TYPE, InertiaListenerNode
from prime_estimation.nodes.resumption import Resumption, belief_of, joints_of
from prime_estimation.robot import Robot
from prime_estimation.transport.base import Qos
from prime_estimation.transport.inprocess import Bus, InProcessTransport

STAMP = 1_700_000_000_000_000_000  # ns
SECOND = 1_000_000_000  # ns


@pytest.fixture
def go2():
    return Robot.load("go2")


def inertia(robot: Robot, valid: bool = True, stamp_ns: int = STAMP):
    """InertialParameters of the robot."""
    make = InProcessTransport(Bus(), "any").make
    estimate = make_estimate(robot, stamp_ns)
    return inertia_messages.inertial_parameters(make, estimate, "odom", 1, valid)


def test_what_another_robot_learned_is_not_taken_up(go2):
    """Links of many robots are called `base`: what is not estimated tells them apart."""
    assert belief_of(inertia(go2), go2, STAMP, 10.0) is not None
    for name in ("go1", "a1"):
        assert Robot.load(name).estimated_links == go2.estimated_links
        assert belief_of(inertia(Robot.load(name)), go2, STAMP, 10.0) is None


@pytest.mark.parametrize("part", ("inertia", "covariance", "total mass"))
def test_what_is_not_finite_is_not_taken_up(go2, part):
    kept = inertia(go2)
    if part == "inertia":
        kept.bodies[0].inertia.ixx = np.nan
    elif part == "covariance":
        kept.bodies[0].covariance[3] = np.inf
    else:
        kept.total_mass = np.nan
    assert belief_of(kept, go2, STAMP, 10.0) is None


class Restarted:
    """Resumption of a node beside a keeper; `posted` is what its estimator was told."""

    def __init__(self, robot: Robot, now_ns: int = STAMP + SECOND, **node):
        config = Config.load("go2").updated({"node": node})
        self.now_ns, self.posted = now_ns, []
        bus = Bus()
        keeper = InProcessTransport(bus, "inertia_keeper")
        self.keep = keeper.publish(f"/prime/{KEPT}", TYPE, Qos.LATCHED)
        transport = InProcessTransport(bus, "prime", clock=lambda: self.now_ns)
        self.resumption = Resumption(transport, robot, config, self._post)

    def _post(self, action) -> None:
        action(SimpleNamespace(resume=self.posted.append))

    def taken_up(self) -> list:
        """What an estimator that has forgotten everything is told."""
        told: list = []
        self.resumption.take_up(SimpleNamespace(resume=told.append))
        return told


def test_what_was_kept_is_taken_up_until_there_is_an_estimate(go2):
    node = Restarted(go2)
    node.keep(inertia(go2))
    (belief,) = node.posted
    assert isinstance(belief, InertiaBelief) and belief.age == pytest.approx(1.0)
    assert node.taken_up() == [belief]
    node.resumption.over = True
    node.keep(inertia(go2))  # which may be what it has said itself
    assert node.posted == [belief] and not node.taken_up()


def test_what_was_kept_waits_for_the_time(go2):
    node = Restarted(go2, now_ns=0)
    node.keep(inertia(go2))
    assert not node.posted
    node.now_ns = STAMP + 2 * SECOND
    node.resumption.judge()
    node.resumption.judge()
    assert [belief.age for belief in node.posted] == pytest.approx([2.0])


def test_who_wants_nothing_kept_gets_nothing(go2):
    node = Restarted(go2, resume_age=0.0)
    node.keep(inertia(go2, stamp_ns=STAMP + SECOND))
    assert not node.posted


@pytest.mark.parametrize(("age_s", "taken"), [(-0.1, 0), (0.0, 1), (9.9, 1), (10.1, 0)])
def test_age_of_what_was_kept(age_s, taken, go2):
    now = STAMP + round(age_s * SECOND)
    found = belief_of(inertia(go2), go2, now, 10.0)
    assert (found is not None) == bool(taken) and (not taken or found.age == pytest.approx(age_s))


@pytest.mark.parametrize(
    ("name", "valid", "said"),
    [("go2", False, "is not valid"), ("g1", True, "is of other bodies (base)")],
)
def test_why_what_was_kept_is_not_taken_up(name, valid, said, go2, caplog):
    caplog.set_level("INFO", "prime.estimator")
    assert belief_of(inertia(go2, valid), Robot.load(name), STAMP, 10.0) is None
    assert caplog.messages == [f"kept inertia {said}: not taken up"]


def test_joint_parameters_that_are_none_are_passed_over():
    """Of a kind that was not told no deviation is finite; the age goes with the others."""
    stamp = SimpleNamespace(sec=STAMP // SECOND, nanosec=0)
    message = SimpleNamespace(
        header=SimpleNamespace(stamp=stamp),
        kinds=["armature"] * 4,
        names=["a", "b", "c", "d"],
        values=[0.1, np.nan, 0.3, 0.4],
        stddevs=[0.01, 0.01, 0.0, np.inf],
        observable=[True] * 4,
    )
    found = joints_of(message, STAMP + 3 * SECOND, 10.0)
    assert [p.name for p in found.told] == ["a"] and found.age == pytest.approx(3.0)


def test_the_keeper_keeps_the_newest_that_is_valid(go2):
    bus, heard = Bus(), []
    InertiaKeeperNode(InProcessTransport(bus, "inertia_keeper"))
    me = InProcessTransport(bus, "me")
    send = me.publish(TOPIC, TYPE, Qos.LATCHED)
    for message in (inertia(go2), inertia(go2, valid=False)):
        send(message)
    me.subscribe(f"prime/{KEPT}", TYPE, lambda m, _: heard.append(m.valid), Qos.LATCHED)
    assert heard == [True]


def test_the_listener_says_what_it_refused_and_why(go2, caplog):
    bus = Bus()
    InertiaListenerNode(InProcessTransport(bus, "inertia_listener"), go2)
    send = InProcessTransport(bus, "me").publish(TOPIC, TYPE, Qos.LATCHED)
    send(inertia(go2, valid=False))  # as while it is learned: no news
    assert not caplog.messages
    wrong = inertia(go2)
    wrong.bodies[0].link = "wheel"
    send(wrong)
    assert caplog.messages == ["refused inertia 1: unknown link: wheel"]


def test_what_was_asked_to_be_forgotten_is_not_taken_up_again(go2):
    node = EstimatorNode(InProcessTransport(Bus(), "prime"), go2, Config.load("go2"))
    assert not node._resumption.over
    node._begin_anew(node.estimator)
    assert node._resumption.over


def test_inertia_is_said_at_its_rate_after_time_has_gone_back_too(go2):
    config = Config.load("go2").updated({"node": {"inertia_rate": 10.0}})
    node = EstimatorNode(InProcessTransport(Bus(), "prime"), go2, config)
    stamps = [STAMP, STAMP + 90_000_000, STAMP + 100_000_000, STAMP - SECOND]
    assert [node._inertia_due(t) for t in stamps] == [True, False, True, True]
