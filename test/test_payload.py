# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The payload detector by itself: a lasting vertical disturbance raises the alarm, in windows of any length."""

from types import SimpleNamespace

import numpy as np
import pytest

from prime_estimation.config import Config
from prime_estimation.payload import REST, SPANS, PayloadDetector
from prime_estimation.problem import Problem
from prime_estimation.robot import Robot


@pytest.fixture(scope="module")
def problem():
    config = Config.load("go2")
    return Problem(Robot(config.robot), config, False)


def windows(problem, size: int, disturbance):
    """Windows of `size` nodes one after the other; `disturbance(k)` is the whitened vertical force at node k."""
    released = []
    level = np.zeros(problem.nq + problem.nv)
    level[6] = 1.0
    for k in range(2 * REST + 3 * SPANS[-1]):
        data = [SimpleNamespace(r=np.array([0.0, 0.0, disturbance(k + i)])) for i in range(size)]
        yield SimpleNamespace(xs=[level], data=data, release_inertia=released.append)


@pytest.mark.parametrize("size", [1, 4, SPANS[0] - 1, SPANS[0], 30])
def test_windows_shorter_and_longer_than_the_spans(problem, size):
    detector, quiet = PayloadDetector(problem), PayloadDetector(problem)
    for loaded, empty in zip(windows(problem, size, lambda k: 2.0), windows(problem, size, lambda k: 2.0 * (-1) ** k)):
        detector.update(loaded, False)
        quiet.update(empty, False)
    assert detector.alarms >= 2 and quiet.alarms == 0
