# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Median of a few wrenches: impacts are left out, edges stay, the covariance covers it."""

from __future__ import annotations

import numpy as np
import pytest

from prime_estimation.mhe.external_wrench import SPAN, median_of

STDDEV = np.array([2.0, 2.0, 2.0, 0.5, 0.5, 0.5])


def test_an_impact_in_one_node_is_no_push():
    nodes = np.zeros((SPAN, 6))
    nodes[2, :3] = [40.0, -30.0, 90.0]
    median, covariance = median_of(nodes, STDDEV)
    assert not median.any()
    assert covariance[0, 0] > median_of(np.zeros((SPAN, 6)), STDDEV)[1][0, 0]  # but a doubt


def test_an_edge_stays_where_it_is():
    force = np.where(np.arange(20) < 10, 0.0, 80.0)
    nodes = np.zeros((20, 6))
    nodes[:, 1] = force
    half = SPAN // 2
    medians = [median_of(nodes[k - half : k + half + 1], STDDEV)[0][1] for k in range(half, 18)]
    np.testing.assert_array_equal(medians, force[half:18])


def test_the_covariance_of_normal_wrenches_covers_them():
    rng = np.random.default_rng(0)
    errors, variances = [], []
    for _ in range(2000):
        median, covariance = median_of(STDDEV * rng.standard_normal((SPAN, 6)), STDDEV)
        errors.append(median)
        variances.append(np.diag(covariance))
    normalized = np.mean(np.square(errors) / variances)
    assert 0.4 < normalized < 1.0  # model and spread are both counted: rather too wide
    inside = np.abs(errors) <= 1.96 * np.sqrt(variances)
    assert inside.mean() == pytest.approx(0.98, abs=0.02)
