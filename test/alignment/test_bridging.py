# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Bridges over lost samples: exact for joints that move along a cubic."""

import numpy as np

from prime_estimation.alignment.bridging import bridged

NEAR = 20_000_000


def cubic(t, torque=0.0):
    """Rows of two joints; t: (n,) s."""
    q = np.stack([0.3 + 2.0 * t - 40.0 * t**2 + 300.0 * t**3, -1.0 + 5.0 * t], axis=1)
    dq = np.stack([2.0 - 80.0 * t + 900.0 * t**2, np.full_like(t, 5.0)], axis=1)
    return np.hstack([q, dq, np.full((len(t), 2), torque)])


def test_a_cubic_is_found_again():
    stamps = np.array([-60, -58, -56, -10, -8, 0]) * 1_000_000
    rows = cubic(1e-9 * stamps, torque=3.0)
    t, path = bridged(stamps, rows, 2, NEAR)
    assert np.diff(t).max() <= 8_000_000 and (np.diff(t) > 0).all()
    np.testing.assert_allclose(path, cubic(1e-9 * t, torque=3.0), atol=1e-12)


def test_samples_that_are_near_stay_as_they_are():
    stamps = np.arange(-20, 2, 2) * 1_000_000
    rows = np.random.default_rng(0).normal(size=(len(stamps), 6))
    t, path = bridged(stamps, rows, 2, NEAR)
    np.testing.assert_array_equal(t, stamps)
    np.testing.assert_array_equal(path, rows)


def test_without_rates_the_straight_line():
    stamps = np.array([-40, 0]) * 1_000_000
    rows = cubic(1e-9 * stamps)
    rows[:, 2:4] = np.nan
    t, path = bridged(stamps, rows, 2, NEAR)
    share = ((t - t[0]) / 40e6)[:, None]
    np.testing.assert_allclose(
        path[:, :2], rows[0, :2] + share * (rows[1, :2] - rows[0, :2]), atol=1e-12
    )
    assert np.isnan(path[:, 2:4]).all() and np.isfinite(path[:, 4:]).all()
