# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Statistics of errors that are drawn from a known distribution."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from prime_estimation.evaluation.statistics import centred_mean, coverage95, nees, worst_second

N = 20_000
COVARIANCE = np.array([[4.0, 1.0, 0.0], [1.0, 2.0, 0.5], [0.0, 0.5, 1.0]])


@pytest.fixture(scope="module")
def errors():
    root = np.linalg.cholesky(COVARIANCE)
    return np.random.default_rng(0).standard_normal((N, 3)) @ root.T


def stated(scale: float) -> np.ndarray:
    return np.tile(scale * COVARIANCE, (N, 1, 1))


def test_nees_is_the_number_of_components(errors):
    assert nees(errors, stated(1.0)) == pytest.approx(3.0, rel=0.02)
    assert nees(errors, stated(0.25)) == pytest.approx(12.0, rel=0.02)
    assert nees(errors[:, 2:], stated(1.0)[:, 2:, 2:]) == pytest.approx(1.0, rel=0.03)


def test_nees_without_the_samples_whose_covariance_is_none(errors):
    some = stated(1.0)
    some[::2] = np.nan
    some[1::4] = -1.0
    assert nees(errors, some) == pytest.approx(3.0, rel=0.03)
    assert nees(errors, np.full((N, 3, 3), np.nan)) is None


def test_coverage_of_intervals(errors):
    assert coverage95(errors, stated(1.0)) == pytest.approx(0.95, abs=0.003)
    # half the deviation: P(|x| < 0.98)
    assert coverage95(errors, stated(0.25)) == pytest.approx(0.673, abs=0.005)
    assert coverage95(errors, np.full((N, 3, 3), np.nan)) is None


def test_the_worst_second_is_not_the_mean():
    t = np.arange(0.0, 10.0, 0.01)
    second = (t >= 3.0) & (t < 4.0)
    assert worst_second(t, 4.0 * second) == pytest.approx(2.0)
    half = (t >= 3.0) & (t < 3.5)
    assert worst_second(t, 4.0 * half) == pytest.approx(np.sqrt(2.0))
    assert worst_second(t[:50], np.full(50, 9.0)) == pytest.approx(3.0)  # less than a second
    gap = (t < 3.0) | (t > 5.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert worst_second(t[gap], 4.0 * gap[gap]) == pytest.approx(2.0)


def test_means_over_time():
    t = np.arange(0.0, 1.0, 0.004)
    line = np.stack([t, np.ones_like(t)], axis=1)
    for triangular in (False, True):
        assert centred_mean(t, line, 0.04, triangular)[20:-20] == pytest.approx(line[20:-20])
