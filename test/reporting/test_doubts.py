# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Doubts of monitors are in all that is reported of an inertia, and of forces that carry it."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.choreography import stood

from prime_estimation.config.policies import INTERVAL
from prime_estimation.inertia import tensor_stddev
from prime_estimation.monitors.imu_axes import ImuAxes
from prime_estimation.monitors.support import Support


@pytest.fixture(scope="module")
def report():
    """Function: the estimate of a robot that stands, and its estimator."""
    estimator, (m,) = stood(0.8, mocap=False, to_come=1)
    situation = estimator.advance(m)

    def estimate():
        doubts = estimator.window, m, situation, estimator.monitors
        return estimator._reporter.estimate(*doubts, 0.0)

    return estimate, estimator


@pytest.mark.parametrize(("monitor", "doubt"), [(ImuAxes, "wrong"), (Support, "doubted")])
def test_an_inertia_that_a_monitor_doubts_is_not_observable(report, monitor, doubt, monkeypatch):
    estimate, _ = report
    (told,) = estimate().bodies
    monkeypatch.setattr(monitor, doubt, True)
    monkeypatch.setattr(monitor, "health", lambda self, situation: ())
    (doubted,) = estimate().bodies
    assert told.observable and not doubted.observable
    np.testing.assert_array_equal(doubted.parameters, told.parameters)


def test_an_inertia_that_is_held_is_as_uncertain_as_it_was_and_so_is_the_weight(report):
    estimate, estimator = report
    free = estimate()
    variance = 0.5**2 * np.eye(10)  # of theta, whose first coordinate is the mass's
    estimator.monitors.hold.covariance = variance
    held = estimate()
    estimator.monitors.hold.covariance = None
    (_, jacobian), *_ = estimator.problem.inertias(estimator.window.xs[-1])
    (body,) = held.bodies
    lasting = np.append(np.zeros(4), tensor_stddev(body.parameters, INTERVAL.tensor) ** 2)
    known = jacobian @ variance @ jacobian.T
    np.testing.assert_allclose(body.covariance, known + np.diag(lasting))
    share = held.total_mass_stddev / held.total_mass
    assert share > 2.0 * free.total_mass_stddev / free.total_mass
    for before, now in zip(free.contacts, held.contacts):
        force = now.force_world
        added = now.force_covariance - before.force_covariance
        np.testing.assert_allclose(added, share**2 * np.outer(force, force), rtol=0.3, atol=0.3)
