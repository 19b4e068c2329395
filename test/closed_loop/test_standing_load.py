# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""A heavy load on a robot that stands is learned wherever it lies: no ground is wrong."""

import pytest

pytest.importorskip("mujoco")

from prime_estimation.closed_loop.scenario import Scenario, play
from prime_estimation.simulate.payload import Payload

ON, OFF, END, LEARNED = 2.5, 3.5, 4.5, 0.4  # s


@pytest.mark.slow
@pytest.mark.parametrize(
    ("robot", "mass", "place"),
    [
        ("go1", 7.2, (-0.1, 0.0, 0.1)),  # the robot itself: 13 kg
        ("go1", 7.2, (0.0, 0.05, 0.1)),
        ("go1", 7.2, (-0.1, 0.06, 0.1)),
        ("go2", 8.0, (0.0, 0.05, 0.1)),
    ],
)
def test_a_load_on_a_standing_robot_is_learned_and_forgotten(robot, mass, place):
    load = Payload(mass, place)
    scenario = Scenario(robot, "stand", duration=END, load=load, load_on=ON, load_off=OFF)
    run = play(scenario)
    t, known = run.trace.t, run.trace.mass
    before = known[(t > ON - 0.5) & (t < ON)].mean()
    assert not run.fell
    assert known[(t > ON + LEARNED) & (t < OFF)] == pytest.approx(before + mass, rel=0.05)
    assert known[t > OFF + LEARNED] == pytest.approx(before, rel=0.05)
