# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""What is said about a model that does not fit, and that it is taken back."""

from types import SimpleNamespace

import numpy as np
import pytest

from prime_estimation.config.parameters import Config
from prime_estimation.config.policies import CONSISTENCY
from prime_estimation.mhe.problem import Problem
from prime_estimation.mhe.residual_rows import LOST_RATIO, rows_by_sensor
from prime_estimation.mhe.situation import ON_ITS_FEET
from prime_estimation.monitors.consistency import ConsistencyMonitor
from prime_estimation.robot import Robot

CONFIG = Config.load("go2")
PROBLEM = Problem(Robot(CONFIG.robot), CONFIG)
MASS = dict(mass=16.0, stddev=0.2, nominal=16.0)


def window(model: float, felt: float = 1.0):
    """One node whose model residuals have this mean square; others are consistent.

    Those of the accelerometer have `felt`; 0: there are none.
    """
    solver = SimpleNamespace(refused=0)
    it = SimpleNamespace(problem=PROBLEM, xs=[PROBLEM.first.neutral()], solver=solver)
    rows = rows_by_sensor(it)
    r = np.ones(sum(map(len, rows.values())))
    r[rows["model"]], r[rows["accelerometer"]] = np.sqrt(model), np.sqrt(felt)
    solver.residual_squares = lambda: np.stack([r**2, r != 0.0], axis=1)
    return it


def test_doubt_comes_and_goes_within_seconds():
    monitor = ConsistencyMonitor()
    for _ in range(CONSISTENCY.doubt_nodes):
        monitor.judge(window(5000.0), ON_ITS_FEET)
    assert "fits its model badly" in monitor.doubt(**MASS)
    for _ in range(4 * CONSISTENCY.doubt_nodes):
        monitor.judge(window(0.8), ON_ITS_FEET)
    assert monitor.doubt(**MASS) == ""


def test_an_estimate_that_fits_nothing_for_long_is_lost():
    """A few bad nodes are not enough, and good ones between them begin the count anew."""
    monitor, bad = ConsistencyMonitor(), 200.0 * LOST_RATIO
    for _ in range(3):
        for _ in range(CONSISTENCY.lost_nodes - 1):
            assert monitor.judge(window(bad), ON_ITS_FEET) == ""
        assert monitor.judge(window(1.0), ON_ITS_FEET) == ""
    said = [monitor.judge(window(bad), ON_ITS_FEET) for _ in range(CONSISTENCY.lost_nodes)]
    assert said[-1] == "the residuals do not fit the model" and not any(said[:-1])
    monitor.restarted(said[-1])
    assert (monitor.restarts, monitor.reason) == (1, said[-1])
    assert monitor.judge(window(bad), ON_ITS_FEET) == ""


@pytest.mark.parametrize("rate", [np.nan, 2.0 * CONSISTENCY.fastest, -2.0 * CONSISTENCY.fastest])
def test_a_state_that_no_robot_has_is_lost_at_once(rate):
    it = window(1.0)
    PROBLEM.layout.v(it.xs[-1])[7] = rate
    assert ConsistencyMonitor().judge(it, ON_ITS_FEET) == "the state is not that of a robot"


def test_a_sensor_that_is_gone_is_not_doubted_for_what_it_said():
    monitor = ConsistencyMonitor()
    for _ in range(CONSISTENCY.doubt_nodes):
        monitor.judge(window(1.0, 5000.0), ON_ITS_FEET)
    assert "fits its model badly" in monitor.doubt(**MASS)
    for _ in range(4 * CONSISTENCY.doubt_nodes):
        monitor.judge(window(1.0, 0.0), ON_ITS_FEET)
    assert "accelerometer" not in monitor.present and monitor.doubt(**MASS) == ""


@pytest.mark.parametrize(
    "mass, stddev, doubted",
    [
        (14.0, 0.2, True),
        (15.5, 0.02, False),  # known well, and hardly lighter
        (14.0, 0.5, False),  # not known well
        (20.0, 0.2, False),  # a load
    ],
)
def test_a_robot_that_is_lighter_than_its_model_may_be_another(mass, stddev, doubted):
    monitor = ConsistencyMonitor()
    said = [monitor.doubt(mass, stddev, 16.0)]
    for _ in range(CONSISTENCY.doubt_nodes):
        monitor.judge(window(1.0), ON_ITS_FEET)
    said.append(monitor.doubt(mass, stddev, 16.0))
    assert said[0] == "" and ("is it this robot?" in said[1]) == doubted


def test_steps_that_the_solver_refused_are_counted():
    monitor, it = ConsistencyMonitor(), window(1.0)
    it.solver.refused = 2
    for _ in range(3):
        monitor.judge(it, ON_ITS_FEET)
    monitor.reset()
    assert monitor.refused == 6
