# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""What is said about a model that does not fit, and that it is taken back."""

from types import SimpleNamespace

import numpy as np

from prime_estimation.config.parameters import Config
from prime_estimation.config.policies import CONSISTENCY
from prime_estimation.mhe.problem import Problem
from prime_estimation.mhe.residual_rows import rows_by_sensor
from prime_estimation.mhe.situation import ON_ITS_FEET
from prime_estimation.monitors.consistency import ConsistencyMonitor
from prime_estimation.robot import Robot

CONFIG = Config.load("go2")
PROBLEM = Problem(Robot(CONFIG.robot), CONFIG)
MASS = dict(mass=16.0, stddev=0.2, nominal=16.0)


def window(model: float):
    """One node whose model residuals have this mean square; the others are consistent."""
    solver = SimpleNamespace(refused=0)
    it = SimpleNamespace(problem=PROBLEM, xs=[PROBLEM.first.neutral()], solver=solver)
    rows = rows_by_sensor(it)
    r = np.ones(sum(map(len, rows.values())))
    r[rows["model"]] = np.sqrt(model)
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
