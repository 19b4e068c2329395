# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""A node ends at once, also in the middle of a batch that is not going to converge."""

import time
from dataclasses import replace

import numpy as np
import pytest
from helpers.waiting import wait

from prime_estimation._core import Interrupted
from prime_estimation.config.parameters import Config
from prime_estimation.estimator import Estimator
from prime_estimation.nodes.solver_thread import SolverThread
from prime_estimation.recordings.pipeline import Node
from prime_estimation.recordings.samples import measurements
from prime_estimation.robot import Robot


@pytest.fixture(scope="module")
def hopeless(recorded_runs):
    """Measurements of a G1 that fit no motion: a search that takes many seconds."""
    rng = np.random.default_rng(0)
    config = Config.load("g1")
    robot = Robot(config.robot)
    bag, step = recorded_runs / "g1_walk_nominal", config.estimator.step
    nodes = measurements(bag, robot, step, span=(0.0, 60 * step))
    noisy = [replace(m, position=m.position + rng.normal(0.0, 0.5, robot.nj)) for m in nodes]
    return robot, config, noisy


def test_stop_interrupts_the_search_for_a_start(hopeless):
    robot, config, nodes = hopeless
    failures = []
    estimator = Estimator(robot, config)
    thread = SolverThread(estimator, publish=lambda _: None, failed=failures.append)
    thread.start()
    for m in nodes:
        thread.put(Node(m))
    assert wait(lambda: thread.pending and estimator.window is None)
    time.sleep(0.2)  # the batch is being solved
    assert thread.pending
    began = time.monotonic()
    thread.stop()
    assert time.monotonic() - began < 1.0
    assert not failures


def test_an_interrupted_estimator_stays_ended(hopeless):
    robot, config, nodes = hopeless
    estimator = Estimator(robot, config)
    estimator.interrupt()
    with pytest.raises(Interrupted):
        for m in nodes:
            estimator.update(m)
