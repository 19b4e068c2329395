# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The payload detector by itself.

How long a force that nobody measured must last to be taken for a payload, in windows of any length.
"""

from types import SimpleNamespace

import numpy as np
import pytest

from prime_estimation.config.parameters import Config
from prime_estimation.mhe.problem import Problem
from prime_estimation.mhe.situation import ON_ITS_FEET
from prime_estimation.monitors.leg_weight import LegWeight
from prime_estimation.monitors.payload_change import PayloadDetector
from prime_estimation.robot import Robot

NODES, BEGINS = 600, 200
MODELS = "smoothed", "rigid"


@pytest.fixture(scope="module")
def problems():
    config = Config.load("go2")
    made = {model: config.updated({"estimator": {"contact_model": model}}) for model in MODELS}
    return {model: Problem(Robot(config.robot), changed) for model, changed in made.items()}


def alarms(problem, disturbance, size: int = 10) -> list[int]:
    """Heads at which a window of `size` nodes makes the alarm go off.

    `disturbance(k)`: whitened vertical force at node k.
    """
    detector = PayloadDetector(problem, LegWeight(problem))
    seen, level = [], problem.first.neutral()
    stddev = problem.config.noise.base_force
    for head in range(size, NODES):
        forces = [[0.0, 0.0, disturbance(k)] for k in range(head - size, head)]
        # a vector of a window of one node, as of the core
        rows = np.squeeze(np.array(forces)[:, :3])
        solver = SimpleNamespace(first_residuals=lambda n, rows=rows: rows)
        window = SimpleNamespace(
            creeping=False,
            kept=None,
            weighed=lambda k: False,  # nothing to ask the legs for
            xs=[level],
            solver=solver,
            unexplained=lambda nodes, forces=forces: stddev * np.array(forces)[nodes],
            problem=problem,
            arrival=SimpleNamespace(inflate_covariance=lambda _, head=head: seen.append(head)),
        )
        assert detector.judge(window, ON_ITS_FEET) == ""
    assert detector.alarms == len(seen)
    return seen


def test_a_load_of_which_the_base_feels_little_is_told_once_it_has_lasted(problems):
    """A standard deviation of a node: what a heavy robot's joints leave of a load of 5 %."""
    begins = 200
    found = alarms(problems["smoothed"], lambda k: 1.0 if k >= begins else 0.0)
    assert begins + 40 < found[0] < begins + 100
    # one that comes and goes with the steps, and one that is over
    assert not alarms(problems["smoothed"], lambda k: 1.0 if k % 50 < 25 else -1.0)
    assert not alarms(problems["smoothed"], lambda k: 1.0 if begins <= k < begins + 40 else 0.0)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("size", [1, 4, 9, 10, 30])
def test_windows_shorter_and_longer_than_the_spans(problems, model, size):
    assert len(alarms(problems[model], lambda k: 2.0, size)) >= 2
    assert not alarms(problems[model], lambda k: 2.0 * (-1) ** k, size)


@pytest.mark.parametrize("model, soon", [("smoothed", 20), ("rigid", 35)])
def test_what_lasts_is_noticed(problems, model, soon):
    assert BEGINS < alarms(problems[model], lambda k: 1.5 * (k >= BEGINS))[0] <= BEGINS + soon


def test_a_force_that_grows_is_no_load(problems):
    """A robot that is lifted feels more and more; a load feels the same from its first node on."""
    seen = alarms(problems["smoothed"], lambda k: 2.0 * max(0, min(k - BEGINS, 40)))
    assert not [k for k in seen if k < BEGINS + 40]


@pytest.mark.parametrize("force", [-20.0, 3.0])
def test_a_force_that_has_ended_is_no_load(problems, force):
    """Nine nodes of it are in the sum of the last twenty, and none in the newest six."""
    seen = alarms(problems["smoothed"], lambda k: force * (BEGINS <= k < BEGINS + 9))
    assert not [k for k in seen if k >= BEGINS + 9 + 6]


def test_more_than_the_robot_carries_is_not_taken_off(problems):
    """5 N more than 5 % of its weight lift it; put on, the same is a load."""
    force = (0.05 * 9.81 * 16.085 + 5.0) / 2.0
    assert not alarms(problems["smoothed"], lambda k: force * (k >= BEGINS))
    assert alarms(problems["smoothed"], lambda k: -force * (k >= BEGINS))


@pytest.mark.parametrize("model, lasts", [("smoothed", 5), ("rigid", 25)])
def test_what_passes_is_not(problems, model, lasts):
    assert not alarms(problems[model], lambda k: 1.5 * (BEGINS <= k < BEGINS + lasts))
