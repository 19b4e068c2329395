# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The head of the sliding window against the full-information estimate of the same recorded data,
within its own covariance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from helpers.runs import measurements

from prime_estimation.config.parameters import Config
from prime_estimation.estimator import Estimator
from prime_estimation.identify.full_information import full_information
from prime_estimation.inertia import from_theta
from prime_estimation.robot import Robot

SECONDS = 3.0
# nodes after the start batch, and before the end: an error needs data that the head does not have
# yet
SETTLED, FUTURE = 20, 50

# Full information has constant parameters and the configured noise, and so has the window here.
CONSTANT = {
    "estimator": dict(
        adapt_noise=False,
        mass_walk=0.0,
        com_walk=0.0,
        inertia_walk=0.0,
        friction_walk=0.0,
        terrain_walk=0.0,
        payload_threshold=50.0,
    ),
    "noise": dict(gyro_bias_walk=0.0, accelerometer_bias_walk=0.0),
}


@dataclass
class Heads:
    """By node: difference of full information and head in the tangent of the head, and the
    covariance of the head."""

    problem: object
    error: np.ndarray
    covariance: np.ndarray

    def normalized(self, block: str) -> tuple[np.ndarray, int]:
        """Squared error over stated variance per degree of freedom, by node.

        And the degrees of freedom.
        """
        nv = self.problem.nv
        base = {"position": slice(0, 3), "rotation": slice(3, 6), "velocity": slice(nv, nv + 3)}
        part = base[block] if block in base else self.problem.columns(block)
        errors, covariances = self.error[:, part], self.covariance[:, part, part]
        return np.array(
            [e @ np.linalg.solve(P, e) / len(e) for e, P in zip(errors, covariances)]
        ), errors.shape[1]


def independent_samples(series: np.ndarray) -> float:
    """Nodes over the correlation time 1 + 2 sum of the autocorrelation up to its first fall below
    0.05."""
    x = series - series.mean()
    correlation = np.array([x[: len(x) - k] @ x[k:] for k in range(len(x) // 3)]) / (x @ x)
    end = np.argmax(correlation < 0.05) or len(correlation)
    return max(1.0, len(x) / (1.0 + 2.0 * correlation[1:end].sum()))


@pytest.fixture(scope="module", params=["go2_payload3", "go2_nominal"])
def heads(request, recorded_runs):
    config = Config.load("go2").updated(CONSTANT)
    robot = Robot(config.robot)
    ms = measurements(recorded_runs / request.param, robot, config, SECONDS)
    online, states, covariances = Estimator(robot, config), {}, {}
    for m in ms:
        if online.update(m) is not None:
            online.window.posterior()
            states[m.stamp_ns] = np.array(online.window.xs[-1])
            covariances[m.stamp_ns] = online.window.head_covariance()
    assert online.monitors.last_restart[0] == 0
    window = full_information(Estimator(robot, config), ms)
    kept = [k for k, t in enumerate(window.stamps) if t in states][SETTLED:-FUTURE]
    stamps = [window.stamps[k] for k in kept]
    error = [window.problem.state.diff(window.xs[k], states[t]) for k, t in zip(kept, stamps)]
    return Heads(window.problem, np.array(error), np.array([covariances[t] for t in stamps]))


@pytest.mark.parametrize(
    "block", ["position", "rotation", "velocity", "theta", "gyro_bias", "accelerometer_bias"]
)
def test_error_of_the_head_is_within_its_covariance(heads, block, record_property):
    """Mean normalized error not above the 95 % band of 1 (below it is no fault: both saw the same
    data up to the head)."""
    values, size = heads.normalized(block)
    samples = independent_samples(values)
    upper = 1.0 + 1.96 * np.sqrt(2.0 / (size * samples))
    record_property("normalized_error", float(values.mean()))
    record_property("upper_end_of_band", float(upper))
    assert values.mean() <= upper, (
        f"{values.mean():.2f} of {samples:.0f} independent samples, band to {upper:.2f}"
    )


def test_mass_agrees_at_every_time(heads):
    """Within three and a half of the head's standard deviations, from the first estimate on."""
    theta = heads.problem.columns("theta")
    # d mass / d theta relative to mass hardly depends on theta
    _, by_theta = from_theta(heads.problem.theta_nominal, heads.problem.config.estimator.manifold)
    error = heads.error[:, theta] @ by_theta[0]
    std = np.sqrt(
        np.einsum("i,kij,j->k", by_theta[0], heads.covariance[:, theta, theta], by_theta[0])
    )
    assert np.max(abs(error) / std) < 3.5
