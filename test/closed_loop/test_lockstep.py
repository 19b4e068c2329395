# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""A Go2 that walks on its own estimate: velocities, a load that is put on, repeatable runs."""

import numpy as np
import pytest

pytest.importorskip("mujoco")

from prime_estimation.closed_loop.scenario import Push, Run, Scenario, play
from prime_estimation.control.motion_types import VelocityCommand
from prime_estimation.errors import ConfigError
from prime_estimation.simulate.ground import Ground
from prime_estimation.simulate.payload import Payload

LOAD, ON, END = 4.6, 3.2, 5.4  # kg, s, s


def forwards(_t: float) -> VelocityCommand:
    return VelocityCommand(vx=0.5)


def loaded(update: str) -> Run:
    load = Payload(LOAD, (0.0, 0.05, 0.1))
    return play(Scenario("go2", "trot", forwards, END, load=load, load_on=ON, update=update))


@pytest.fixture(scope="module")
def with_update() -> Run:
    return loaded("on")


@pytest.mark.slow
def test_trots_at_the_commanded_velocity(with_update):
    run = with_update
    assert not run.fell and not run.stopped
    scores = run.trace.scores(2.7, ON)
    assert scores.velocity < 0.08 and scores.height < 0.003 and scores.apex < 0.01
    assert max(scores.roll, scores.pitch) < np.radians(1.0)


def test_load_is_known_and_carried(with_update):
    trace = with_update.trace
    before = trace.mass[(trace.t > ON - 0.5) & (trace.t < ON)].mean()
    after = trace.mass[trace.t > ON + 0.4]
    assert np.abs(after - before - LOAD).max() < 0.05 * (before + LOAD)
    assert trace.model_mass[-1] == pytest.approx(trace.mass[-1], rel=0.02)
    scores = trace.scores(ON + 1.0, END)
    assert scores.height < 0.005 and max(scores.roll, scores.pitch) < np.radians(1.0)


@pytest.mark.slow
def test_without_the_update_the_trunk_sags(with_update):
    on = with_update.trace.scores(ON + 1.0, END)
    off = loaded("off").trace.scores(ON + 1.0, END)
    assert off.height > 3.0 * on.height and off.roll > 3.0 * on.roll


@pytest.mark.slow
def test_pushed_on_bumps_and_turning():
    ground, push = Ground(bump_height=0.03), Push((0.0, 40.0, 0.0), 2.6, 0.2)
    run = play(
        Scenario(
            "go1",
            "trot",
            lambda t: VelocityCommand(vx=0.4, yaw_rate=0.5),
            4.0,
            ground,
            pushes=(push,),
        )
    )
    assert not run.fell and not run.stopped
    assert run.trace.yaw[-1] - run.trace.yaw[0] > 0.4


def test_runs_repeat():
    runs = [play(Scenario("go2", "stand", duration=0.6, seed=7)) for _ in range(2)]
    assert not any(run.fell or run.stopped for run in runs)
    first, second = (run.trace for run in runs)
    assert np.array_equal(first.height, second.height)
    assert np.array_equal(first.torque, second.torque)


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (dict(update="maybe"), "off, on, true"),
        (dict(duration=0.0), "duration must be 0.1 s or more"),
        (dict(duration=float("nan")), "duration must be 0.1 s or more"),
        (dict(duration="5"), "duration must be 0.1 s or more, .* got '5'"),
        (dict(duration=1e12), "3600 s at most, whose trace finds room in memory"),
        (dict(load=3), "a load must be a Payload, or None, got 3"),
        (dict(ground=3), "ground must be a Ground, got 3"),
        (dict(pushes=Push((1.0, 0.0, 0.0), 0.0, 1.0)), "pushes must be a tuple of Push"),
        (dict(command=VelocityCommand(0.3)), "command must be a function of the time"),
        (dict(load=Payload(3.0), load_on=None), "load_on must be a time"),
        (dict(load=Payload(3.0), load_off="3"), "load_off must be a time"),
        (dict(seed="a"), "a seed must be a whole number, got 'a'"),
        (dict(gait="gallop"), "gait must be one of"),
        (dict(load=Payload(3.0, stiffness=260.0), load_on=3.0), "neither slides"),
        (dict(load=Payload(3.0, t_on=3.0)), "nor has times of its own"),
    ],
)
def test_scenarios_that_cannot_be_are_refused_before_it_walks(told, words):
    with pytest.raises(ConfigError, match=words):
        play(Scenario("go2", **told), watch=pytest.fail)


def test_pushes_add_up_and_act_at_the_base():
    pushes = Push((20.0, 0.0, 0.0), 0.02, 0.1), Push((0.0, 0.0, -9.0), 0.05, 0.1)
    seen = []
    play(
        Scenario("go2", "stand", duration=0.1, pushes=pushes),
        watch=lambda loop, t: seen.append(loop.simulated.step.external),
    )
    assert seen[10].tolist() == [0.0] * 6
    assert seen[30][:3].tolist() == [20.0, 0.0, 0.0]
    assert seen[80][:3].tolist() == [20.0, 0.0, -9.0]
    assert np.abs(np.array(seen)[:, 3:]).max() < 1e-3
