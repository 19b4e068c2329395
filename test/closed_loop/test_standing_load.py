# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""A heavy load behind the middle of a robot that stands is learned: no ground is wrong."""

import pytest

pytest.importorskip("mujoco")

from prime_estimation.closed_loop.scenario import Scenario, play
from prime_estimation.simulate.payload import Payload

ON, LEARNED = 2.5, 0.6  # s
MASS = 7.2  # kg, on a Go1 of 13 kg


def test_a_load_behind_the_middle_of_a_standing_robot_is_learned():
    load = Payload(MASS, (-0.1, 0.0, 0.1))
    trace = play(Scenario("go1", "stand", duration=4.0, load=load, load_on=ON)).trace
    before = trace.mass[(trace.t > ON - 0.5) & (trace.t < ON)].mean()
    after = trace.mass[trace.t > ON + LEARNED]
    assert after == pytest.approx(before + MASS, rel=0.05)
