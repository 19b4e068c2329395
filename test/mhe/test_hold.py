# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Letting go of held parameters: what a wide prior would have given, of them and of the rest."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from prime_estimation import _core
from prime_estimation.config.parameters import Config
from prime_estimation.mhe.knowledge import relax
from prime_estimation.mhe.mount_hold import (
    IMU_POSITION,
    IMU_ROTATION,
    MOCAP_DELAY,
    MOCAP_POSITION,
    MOCAP_WORLD,
)
from prime_estimation.mhe.problem import Problem
from prime_estimation.robot import Robot


@pytest.fixture(scope="module")
def problem() -> Problem:
    return Problem(Robot(Config.load("go2").robot), Config.load("go2"), ("mocap",), holds=True)


def gaussian(prior: np.ndarray, information: np.ndarray, vector: np.ndarray):
    """Mean and covariance of a prior N(0, diag(prior^2)) and of data `-1/2 x^T J x + g^T x`."""
    covariance = np.linalg.inv(information + np.diag(prior**-2.0))
    return covariance @ vector, covariance


@pytest.mark.parametrize(
    "name", [IMU_ROTATION, IMU_POSITION, MOCAP_POSITION, MOCAP_DELAY, MOCAP_WORLD]
)
def test_what_a_wide_prior_would_have_given(problem, name):
    rng, n = np.random.default_rng(2), problem.ndx
    hold = next(h for h in problem.mount_holds if name in h.names)
    columns = np.r_[problem.columns(name)]
    J = rng.normal(size=(3 * n, n))
    information, vector = J.T @ J, 30.0 * J.T @ rng.normal(size=3 * n)
    prior = np.ones(n)
    prior[columns] = hold.share * hold.stddev
    mean, covariance = gaussian(prior, information, vector)
    arrival = _core.ActionArrival(problem.state, problem.state.zero(), covariance)
    arrival.mean = mean
    relax(SimpleNamespace(arrival=arrival, problem=problem), hold)
    prior[columns] = hold.stddev
    expected, wider = gaussian(prior, information, vector)
    assert not hold.held and hold.share == 1.0
    assert np.abs(expected[columns]).min() > 10.0 * np.abs(mean[columns]).max()
    np.testing.assert_allclose(arrival.mean, expected, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(arrival.covariance, wider, rtol=1e-6, atol=1e-9)
    problem.forget()
    assert hold.held


def test_mounts_are_parameters_of_what_holds_them_alone(problem):
    config = Config.load("go2")
    free = Problem(Robot(config.robot), config, ("mocap",))
    assert not free.mount_holds and IMU_ROTATION not in free.layout
    without = Problem(Robot(config.robot), config, holds=True)
    of_the_imu = [IMU_ROTATION, IMU_POSITION]
    assert [h.names for h in without.mount_holds] == [(name,) for name in of_the_imu]
    every = [*of_the_imu, MOCAP_POSITION, MOCAP_DELAY, MOCAP_WORLD]
    assert [h.names for h in problem.mount_holds] == [(name,) for name in every]
    fixed = Config.load("ricmonk")
    assert not Problem(Robot(fixed.robot), fixed, holds=True).mount_holds
