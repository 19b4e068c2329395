# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Streams: which stamps enter, at any rate."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from prime_estimation.alignment.stream import CAPACITY, StampGuard, Stream

MS = 1_000_000
NEAR_NS = 20_000_000


def entered(stamps) -> tuple[list[int], Counter]:
    counts = Counter()
    guard = StampGuard("s", counts, NEAR_NS)
    return [stamp for t in stamps for stamp, _ in guard.admit(int(t), None)], counts


@pytest.mark.parametrize("hz", [500, 60, 50, 49, 40, 30, 10])
def test_a_stream_of_any_rate_enters(hz):
    """With jitter; one that is slow all the time is not late by one sample all the time."""
    rng = np.random.default_rng(1)
    stamps = 1e9 * (np.arange(200) / hz + 0.0005 * rng.standard_normal(200) + 1.0)
    stamps = np.sort(stamps.astype(np.int64))
    found, counts = entered(stamps)
    assert found[:-1] == stamps.tolist()[: len(found) - 1] and len(found) >= 199
    assert not counts


@pytest.mark.parametrize("hz", [500, 40])
def test_one_stamp_far_ahead_does_not_swallow_the_stream(hz):
    stamps = (1e9 * (np.arange(100) / hz + 1.0)).astype(np.int64)
    wrong = stamps.copy()
    wrong[50] += 2_000_000_000
    found, counts = entered(wrong)
    assert counts["s_jump"] == 1
    assert set(stamps.tolist()) - set(found) <= {int(stamps[50]), int(stamps[-1])}


def test_samples_after_a_gap_enter_once_it_is_confirmed():
    stamps = [*range(0, 100_000_000, 2_000_000), *range(200_000_000, 300_000_000, 2_000_000)]
    found, counts = entered(stamps)
    assert found == stamps and not counts


def test_of_several_gaps_it_is_the_newest_behind_which_a_window_begins():
    stream = Stream("imu", 1, Counter(), 20 * MS)
    for t in (0, 10, 50, 60, 100, 110, 120):
        stream.push(t * MS, np.array([float(t)]))
    stamps, rows = stream.window(120 * MS, 115 * MS)
    assert stamps.tolist() == [-20 * MS, -10 * MS, 0] and rows.ravel().tolist() == [100, 110, 120]


def test_rows_that_nobody_asks_for_are_given_up_oldest_first():
    stream, last = Stream("imu", 1, Counter(), 20 * MS), 2 * CAPACITY + 1
    for t in range(last + 1):
        stream.push(t * MS, np.array([float(t)]))
    stamps, rows = stream.window(last * MS, 5 * MS)
    assert rows.ravel().tolist() == list(range(last - 5, last + 1)) and stamps[-1] == 0
