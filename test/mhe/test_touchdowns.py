# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Touch-downs foot by foot against the same in arrays of all feet, and by known answers."""

import numpy as np

from prime_estimation.config.policies import GROUND
from prime_estimation.contact.detection import LoadHysteresis
from prime_estimation.mhe.touchdowns import Touchdowns

DT, ON, OFF, NODES = 0.01, 20.0, 8.0, 3


class Arrays:
    """The readable twin: all feet at once."""

    def __init__(self, feet):
        self.loaded, self.arriving = np.zeros((2, feet), bool)
        self.below, self.resting = np.zeros((2, feet), int)

    def judge(self, above, lowest, rates, normal, weighed, gate, caution):
        rate = rates[:, 2]
        load = np.where(rate < GROUND.rest, normal, 0.0)
        touchdown = ~self.loaded & (load > caution * ON)
        self.below = (self.below + 1) * (load < OFF)
        self.loaded = (self.loaded | touchdown) & (self.below < NODES)
        rests = np.zeros_like(self.loaded)
        if weighed:
            still = (rates * rates).sum(axis=1) < GROUND.still**2
            self.resting = (self.resting + 1) * (still & (normal > caution * OFF))
            rests = self.resting >= GROUND.still_nodes
        touchdown |= rests & ~self.loaded
        self.loaded |= rests
        settled = self.arriving & (np.abs(rate) < GROUND.rest)
        self.arriving = (self.arriving | touchdown) & self.loaded & ~settled
        reach = np.where(settled, 0.0, DT * np.maximum(-rate, 0.0))
        arrived = self.loaded & ~self.arriving
        stands = arrived & (normal > ON) & (rate < GROUND.rest)
        wrong = (touchdown | stands) & (above > gate + reach)
        wrong |= rests & (above > gate)
        wrong |= (touchdown | arrived | ~self.loaded) & (above < lowest - gate)
        return touchdown | settled, wrong


def test_foot_by_foot_is_all_feet_at_once():
    rng, feet = np.random.default_rng(3), 4
    stance = LoadHysteresis(feet, ON, OFF, NODES)
    ours, twin = Touchdowns(stance, DT), Arrays(feet)
    seen = np.zeros(3, int)
    for k in range(2000):
        above, lowest = rng.normal(0.0, 0.03, feet), -np.abs(rng.normal(0.0, 0.01, feet))
        speed, least = ((1e-3, 1.0), (0.5, 0.0), (3.0, 0.0))[k // 60 % 3]
        rates = speed * rng.normal(size=(feet, 3))
        normal = rng.choice([5.0 + 5.0 * least, 15.0, 60.0], feet) * np.maximum(
            rng.random(feet), least
        )
        gate = GROUND.gate if k % 7 else GROUND.gate_by_motion
        at = above, lowest, rates, normal, bool(k % 7), gate, rng.choice([1.0, 3.0])
        for one, other in zip(ours.judge(*at), twin.judge(*at)):
            np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(stance.loaded, twin.loaded)
        np.testing.assert_array_equal(ours.arriving, twin.arriving)
        seen += twin.loaded.any(), twin.arriving.any(), (twin.resting >= GROUND.still_nodes).any()
    assert (seen > 20).all()


def test_a_foot_that_comes_down_lands_and_settles():
    stance = LoadHysteresis(1, ON, OFF, NODES)
    touchdowns = Touchdowns(stance, DT)
    zero, down = np.zeros(1), np.array([[0.0, 0.0, -2.0]])
    load, how = np.array([50.0]), (True, GROUND.gate, 1.0)
    landed, wrong = touchdowns.judge(np.array([0.015]), zero, down, load, *how)
    assert landed.all() and touchdowns.arriving.all() and not wrong.any()  # within its reach
    at_rest = np.zeros((1, 3))
    landed, wrong = touchdowns.judge(np.array([0.03]), zero, at_rest, load, *how)
    assert landed.all() and wrong.all() and not touchdowns.arriving.any()
