# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Inertia hold: an inertia that runs away is held as it was before."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from helpers.models import config, robot
from helpers.runs import measurements

from prime_estimation.config.policies import RUNAWAY
from prime_estimation.estimator import Estimator
from prime_estimation.monitors.inertia_hold import _spread


def test_spread_of_a_mass():
    """Of a box with edges a, b, c: (a^2 + b^2 + c^2) / 12, wherever it is."""
    edges = np.array([0.4, 0.3, 0.1])
    for place in (np.zeros(3), np.array([1.0, -2.0, 0.5])):
        turning = 0.25 * np.diag((edges**2).sum() - edges**2)  # m / 12
        pi = pin.Inertia(3.0, place, turning).toDynamicParameters()
        assert _spread(pi) == pytest.approx((edges**2).sum() / 12.0)


def test_an_inertia_that_runs_away_is_held(recorded_runs):
    """A moment that nobody knows made the torso of a G1 as wide as a village, and a crash."""
    go2, settings = robot("go2"), config("go2")
    estimator = Estimator(go2, settings, mocap=False)
    ms = measurements(recorded_runs / "go2_nominal", go2, settings, 4.0, mocap=False)
    for m in ms[:200]:
        before = estimator.update(m)
    hold, window = estimator.monitors.hold, estimator.window
    assert not hold.held
    theta = estimator.problem.parameter(window.xs[-1], "theta").copy()
    theta[1:4] += 5.0  # logarithms: e^5 times as wide
    window.set_parameter("theta", theta)
    found = [estimator.update(m) for m in ms[200:]]
    assert hold.held or RUNAWAY.nodes < 200
    for estimate in found[RUNAWAY.nodes // 2 :]:
        assert estimate is not None
        assert abs(estimate.total_mass - before.total_mass) < 0.3
        assert _spread(estimate.bodies[0].parameters) < 0.2
