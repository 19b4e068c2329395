# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Torque scale of a robot of known mass, from a posterior that is given."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from helpers.models import config, robot

from prime_estimation.errors import DataError
from prime_estimation.identify.posterior import Posterior
from prime_estimation.identify.systematic import COMMON
from prime_estimation.identify.tare import tare
from prime_estimation.inertia import from_theta, to_theta

RESPONSE = 16.0  # kg of total mass per unit of the scale of all torques
OTHER = 0.05  # kg, of another systematic error


def run(
    stddevs: tuple[float, float] = (0.3, 0.2),
    correlation: float = 0.0,
    response: float = RESPONSE,
    links: tuple[str, str] = ("base", "FL_hip"),
):
    """Of a Go2 whose base and one hip are estimated, with masses that vary together or against."""
    go2 = robot("go2")
    told = config("go2")
    manifold = told.estimator.manifold
    pis = [go2.model.inertias[go2.link_joint(n)].toDynamicParameters() for n in links]
    theta = np.concatenate([to_theta(pi, manifold) for pi in pis])
    by_mass = np.zeros((2, 20))
    for i in range(2):
        rows = slice(10 * i, 10 * i + 10)
        slope = from_theta(theta[rows], manifold)[1][0]
        by_mass[i, rows] = slope / (slope @ slope)  # steps of theta by which a mass grows by 1 kg
    off = correlation * stddevs[0] * stddevs[1]
    masses = np.array([[stddevs[0] ** 2, off], [off, stddevs[1] ** 2]])
    shifts = np.zeros((2, 20))
    shifts[0, [0, 10]] = told.noise.torque_scale * response * np.array([0.75, 0.25])
    shifts[1, [0, 10]] = 2.0 * OTHER, -OTHER
    budget = {COMMON: shifts[0], "lever": shifts[1]}
    covariance = by_mass.T @ masses @ by_mass
    posterior = Posterior(links, theta, covariance, theta, np.eye(20), budget, manifold)
    window = SimpleNamespace(problem=SimpleNamespace(robot=go2, config=told))
    result = SimpleNamespace(window=window)
    return SimpleNamespace(name="run", result=result, posterior=posterior, friction=(0.6, 0.02))


@pytest.mark.parametrize("correlation", [-1.0, -0.9, 0.0, 0.9])
def test_the_scale_is_as_uncertain_as_the_sum_of_the_masses(correlation):
    """Not as each of them: what one link has too much another one has too little."""
    stddevs = 0.3, 0.2
    given = run(stddevs, correlation)
    leg = np.eye(20)[0]  # kg, by the scale of one leg, of which the tare finds the mean
    given.posterior.budget["torque scale of FL_foot alone"] = 0.3 * leg
    total = robot("go2").total_mass
    found = tare(given, total - 0.02 * RESPONSE)
    both = stddevs[0] ** 2 + stddevs[1] ** 2 + 2.0 * correlation * stddevs[0] * stddevs[1]
    expected = np.sqrt(both + OTHER**2) / RESPONSE
    assert found.torque_scale_stddev == pytest.approx(expected, rel=1e-9)
    assert found.torque_scale == pytest.approx(1.02, rel=1e-9)
    assert (found.mass_before, found.friction) == (pytest.approx(total), 0.6)
    assert given.posterior.total_mass_variance() == pytest.approx(both, abs=1e-12)
    by_scale = config("go2").noise.torque_scale * RESPONSE
    whole = np.sqrt(both + OTHER**2 + by_scale**2 + 0.3**2)
    assert given.posterior.total_mass_stddev() == pytest.approx(whole, rel=1e-9)


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_a_mass_that_no_scale_explains(sign):
    total = robot("go2").total_mass
    assert tare(run(), total + sign * 0.29 * RESPONSE).torque_scale == pytest.approx(
        1.0 - sign * 0.29
    )
    with pytest.raises(DataError, match="no torque scale explains that"):
        tare(run(), total + sign * 0.31 * RESPONSE)


def test_a_run_whose_torques_do_not_carry_the_weight():
    """As of a robot that hangs: torques a percent larger are less than 0.2 % of its mass."""
    total = robot("go2").total_mass
    tare(run(response=0.21 * total), total)
    with pytest.raises(DataError, match="the torques do not carry the robot's weight"):
        tare(run(response=0.19 * total), total)
    with pytest.raises(DataError, match="a tare needs base among the estimated links"):
        tare(run(response=0.19 * total, links=("FR_hip", "FL_hip")), total)
