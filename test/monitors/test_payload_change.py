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
from prime_estimation.mhe.process_model import ON_ITS_FEET
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
    detector, seen, level = PayloadDetector(problem), [], np.zeros(problem.nq + problem.nv)
    level[6] = 1.0
    for head in range(size, NODES):
        forces = [[0.0, 0.0, disturbance(k)] for k in range(head - size, head)]
        solver = SimpleNamespace(first_residuals=lambda n, forces=forces: np.array(forces)[:, :n])
        window = SimpleNamespace(
            xs=[level], solver=solver, release_inertia=lambda _, head=head: seen.append(head)
        )
        assert detector.judge(window, ON_ITS_FEET) == ""
    assert detector.alarms == len(seen)
    return seen


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("size", [1, 4, 9, 10, 30])
def test_windows_shorter_and_longer_than_the_spans(problems, model, size):
    assert len(alarms(problems[model], lambda k: 2.0, size)) >= 2
    assert not alarms(problems[model], lambda k: 2.0 * (-1) ** k, size)


@pytest.mark.parametrize("model, soon", [("smoothed", 20), ("rigid", 35)])
def test_what_lasts_is_noticed(problems, model, soon):
    assert BEGINS < alarms(problems[model], lambda k: 1.5 * (k >= BEGINS))[0] <= BEGINS + soon


@pytest.mark.parametrize("model, lasts", [("smoothed", 5), ("rigid", 25)])
def test_what_passes_is_not(problems, model, lasts):
    assert not alarms(problems[model], lambda k: 1.5 * (BEGINS <= k < BEGINS + lasts))
