# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Time series that grow, forget, and are thinned out."""

import numpy as np

from prime_estimation.viz.browser.series import Series

FIELDS = [("value", "f8"), ("vector", "f4", 3)]


def filled(count: int, longest_ns=None) -> Series:
    series = Series(FIELDS, longest_ns)
    for k in range(count):
        assert series.append(10 * k, float(k), (k, 0.0, 1.0))
    return series


def test_rows_are_found_by_time():
    series = filled(1000)
    assert len(series) == 1000 and series.span_ns == (0, 9990)
    assert series.at(-1) is None and series.at(0)["value"] == 0.0
    assert series.at(5009)["value"] == 500.0 and series.at(10**9)["value"] == 999.0
    assert [series.nearest(t)["value"] for t in (-50, 5004, 5006, 10**9)] == [0, 500, 501, 999]
    np.testing.assert_array_equal(series.at(70)["vector"], [7.0, 0.0, 1.0])


def test_a_row_that_is_not_newer_is_refused():
    series = filled(3)
    assert not series.append(20, 9.0, (0, 0, 0)) and not series.append(5, 9.0, (0, 0, 0))
    assert len(series) == 3 and series.at(20)["value"] == 2.0


def test_empty():
    series = Series(FIELDS)
    assert series.span_ns is None and series.at(0) is None and series.nearest(0) is None
    assert len(series.between(0, 100, 10)) == 0


def test_the_past_is_forgotten():
    series = filled(10_000, longest_ns=1000)
    assert series.span_ns == (98_990, 99_990) and len(series) == 101
    assert series.at(98_980) is None
    assert len(series._rows) <= 1024  # nor does the array grow
    series.clear()
    assert series.span_ns is None and series.append(1, 0.0, (0, 0, 0))


def test_thinning_keeps_the_same_rows_while_the_window_moves():
    series = filled(5000, longest_ns=20_000)
    windows = [series.between(t, t + 10_000, 100)["stamp_ns"] for t in (30_000, 30_010, 30_070)]
    for stamps in windows:
        assert 50 < len(stamps) <= 100 and len(set(np.diff(stamps))) == 1
    assert set(windows[0][1:]) <= set(windows[2]) | set(windows[0][:2])
    assert len(series.between(40_000, 40_090, 100)) == 10
