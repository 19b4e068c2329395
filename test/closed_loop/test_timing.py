# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Lockstep: what is due at which step of physics, and what the controller is told."""

from collections import deque
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.estimates import make_estimate
from helpers.models import robot

pytest.importorskip("mujoco")

from prime_estimation.closed_loop.lockstep import Lockstep, Timing
from prime_estimation.control.motion_types import VelocityCommand
from prime_estimation.types import ImuSample, JointSample

TICK_NS = 1_000_000


class Loop(Lockstep):
    """A loop whose robot, estimator and controller write down what is asked of them."""

    def __init__(self, timing=Timing(), every_solve: int = 20, samples=(), update: bool = True):
        self.notes: list[tuple[int, str, object]] = []
        self.simulated = SimpleNamespace(
            now_ns=0, world=SimpleNamespace(dt=1e-3), advance=self._advance, obey=self._note("obey")
        )
        told = ("on_odometry", "on_joints", "on_contacts", "on_velocity", "follow")
        self.controller = SimpleNamespace(
            **{name: self._note(name) for name in told},
            solve=lambda now: self._note("solve")(now) or f"plan of {now // TICK_NS}",
            command=lambda now: self._note("command")(now) or f"command of {now // TICK_NS}",
            mpc=SimpleNamespace(solve_time=0.004),
            gate=SimpleNamespace(offer=self._note("offer")),
        )
        self.pipeline = SimpleNamespace(push=self._estimates, predict=self._predict)
        messages = [("odometry", "pose"), ("inertial_parameters", "inertia")]
        self._outputs = SimpleNamespace(messages=lambda estimate: messages)
        self._samples, self._update, self._timing = samples, update, timing
        self._inertia_period_ns, self._inertia_ns = 100 * TICK_NS, 0
        self._names = [c.name for c in robot("go2").contacts]
        self.estimate, self.solve_times, self._tick = None, [], 0
        self._plans, self._commands = deque(), deque()
        self._every_feedback, self._every_solve = round(timing.feedback / 1e-3), every_solve

    def _note(self, name: str):
        return lambda *told: self.notes.append((self.simulated.now_ns // TICK_NS, name, told))

    def _advance(self):
        self.simulated.now_ns += TICK_NS
        return self._samples

    def _estimates(self, sample):
        return [make_estimate(robot("go2"), sample.stamp_ns)] * isinstance(sample, JointSample)

    def _predict(self, sample):
        return make_estimate(robot("go2"), sample.stamp_ns, seed=1) if sample.stamp_ns else None

    def when(self, name: str) -> list[int]:
        """Ticks at which something was asked for."""
        return [tick for tick, what, _ in self.notes if what == name]


def test_a_plan_is_followed_once_it_takes_to_be_made():
    loop = Loop(Timing(solve=0.007))
    loop.run(0.1, lambda t: VelocityCommand(vx=t))
    assert loop.when("solve") == loop.when("on_velocity") == [20, 40, 60, 80, 100]
    follows = [(tick, told[0]) for tick, what, told in loop.notes if what == "follow"]
    assert follows == [(t + 7, f"plan of {t}") for t in (20, 40, 60, 80)]
    assert loop.solve_times == [0.004] * 5
    wishes = [told[1].vx for _, what, told in loop.notes if what == "on_velocity"]
    assert wishes == pytest.approx([0.019, 0.039, 0.059, 0.079, 0.099])


@pytest.mark.parametrize("feedback, delay", [(2, 1), (2, 0), (4, 3)])
def test_the_motors_obey_a_command_when_it_has_reached_them(feedback, delay):
    loop = Loop(Timing(feedback=1e-3 * feedback, command=1e-3 * delay))
    loop.run(0.02)
    assert loop.when("command") == list(range(feedback, 21, feedback))
    obeyed = [(tick, told[0]) for tick, what, told in loop.notes if what == "obey"]
    sent = [t for t in range(feedback, 21, feedback) if t + delay <= 20]
    assert obeyed == [(t + delay, f"command of {t}") for t in sent]


def test_the_controller_hears_estimates_and_predictions_in_between():
    zero, joints = np.zeros(3), np.zeros(12)
    loop = Loop(
        samples=[JointSample(7, joints), ImuSample(9, zero, zero), ImuSample(0, zero, zero)]
    )
    loop.step(VelocityCommand())
    told = [told for _, what, told in loop.notes if what == "on_odometry"]
    assert [stamp for stamp, *_ in told] == [7, 9]  # of the third sample nothing is predicted
    estimate, (_, pose, twist) = loop.estimate, told[0]
    assert estimate.stamp_ns == 7
    np.testing.assert_array_equal(pose, [*estimate.position_world, *estimate.quat_world_base])
    linear, angular = estimate.linear_velocity_base, estimate.angular_velocity_base
    np.testing.assert_array_equal(twist, [*linear, *angular])


def test_forces_are_told_by_the_names_of_the_contacts():
    loop, estimate = Loop(), make_estimate(robot("go2"))
    names = [c.name for c in estimate.contacts]
    loop._names = names[::-1]
    heights = dict(zip(names, (10.0, 20.0, 30.0, 40.0)))
    for contact in estimate.contacts:
        contact.force_world.setflags(write=True)
        contact.force_world[2] = heights[contact.name]
    loop.hear(estimate)
    ((_, _, (stamp, normal)),) = [note for note in loop.notes if note[1] == "on_contacts"]
    assert normal.tolist() == [40.0, 30.0, 20.0, 10.0] and stamp == estimate.contacts_stamp_ns


@pytest.mark.parametrize("update, number", [(True, 5), (False, 0)])
def test_inertia_is_told_at_its_rate_and_only_where_it_may(update, number):
    """Of half a second of estimates, ten a second."""
    loop = Loop(update=update)
    for k in range(1, 51):
        loop.hear(make_estimate(robot("go2"), 10 * k * TICK_NS))
    offered = [told for _, what, told in loop.notes if what == "offer"]
    assert offered == [("inertia",)] * number


def test_who_looks_on_may_end_it():
    loop, seen = Loop(), []
    assert loop.run(0.01, observe=lambda t: seen.append(t))  # None is no end
    assert not loop.run(0.01, observe=lambda t: t < 0.0145)
    assert loop._tick == 15 and seen == pytest.approx(1e-3 * np.arange(1, 11))
