# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Streams: which stamps enter, at any rate."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from prime_estimation.alignment.stream import CAPACITY, CONFIRMATIONS, StampGuard, Stream

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


# --- stamps that are moved, clocks that are set ---------------------------------------------------


def filled(gap_ns: int = 20 * MS, until: int = 100) -> Stream:
    """Rows every 2 ms whose value is their stamp [ms], with a gap from 40 to 70 ms."""
    stream = Stream("imu", 1, Counter(), gap_ns)
    for t in range(0, until + 1, 2):
        if not 40 < t < 70:
            stream.push(t * MS, np.array([float(t)]))
    return stream


@pytest.mark.parametrize("by", [-6, 4])
def test_all_stamps_are_moved_together(by):
    stream = filled()
    assert (stream.first, stream.since, stream.newest) == (0, 70 * MS, 100 * MS)
    stream.shift(by * MS)
    told = stream.first, stream.since, stream.newest
    assert told == (by * MS, (70 + by) * MS, (100 + by) * MS)
    assert stream.gap_at((50 + by) * MS) == (30 * MS, (70 + by) * MS)
    stamps, rows = stream.window((90 + by) * MS, 10 * MS)
    np.testing.assert_array_equal(stamps + 90 * MS, rows.ravel() * MS)


@pytest.mark.parametrize("by", [-6, 4])
def test_the_next_stamp_is_compared_with_the_moved_ones(by):
    stream = filled()
    stream.shift(by * MS)
    stream.push((100 + by) * MS, np.zeros(1))
    assert stream.guard.counts["imu_duplicate"] == 1
    stream.push((102 + by) * MS, np.zeros(1))
    assert stream.newest == (102 + by) * MS and stream.guard.counts.total() == 1


def test_a_sample_that_waits_to_be_confirmed_is_moved_too():
    stream = filled()
    stream.push(200 * MS, np.array([200.0]))
    stream.shift(-6 * MS)
    stream.push(196 * MS, np.array([202.0]))
    stamps, rows = stream.window(196 * MS, 4 * MS)
    assert stamps.tolist() == [-2 * MS, 0] and rows.ravel().tolist() == [200.0, 202.0]


def test_a_clock_that_was_set_back_is_found_across_a_move():
    """By 20 ms to and fro: what is remembered of older stamps is moved as they are."""
    guard = StampGuard("s", Counter(), NEAR_NS)
    guard.admit(2_000 * MS, None)
    for k in range(CONFIRMATIONS):
        if k == 2:
            guard.shift(30 * MS)
        assert not guard.went_back
        guard.admit((1_000 + 2 * k + 30 * (k >= 2)) * MS, None)
    assert guard.went_back


@pytest.mark.parametrize(
    ("number", "every_ms", "gap_ns", "back"),
    [
        (CONFIRMATIONS - 1, 2, NEAR_NS, False),
        (CONFIRMATIONS, 2, NEAR_NS, True),
        (3 * CONFIRMATIONS, 21, NEAR_NS, False),  # no stream: each is alone
        (CONFIRMATIONS, 900, None, True),  # events may be seldom
        (3 * CONFIRMATIONS, 1_100, None, False),
        (3 * CONFIRMATIONS, -2, NEAR_NS, False),  # time does not go backwards on any clock
    ],
)
def test_older_samples_in_a_row_are_another_clock(number, every_ms, gap_ns, back):
    counts = Counter()
    guard = StampGuard("s", counts, gap_ns)
    guard.admit(100_000 * MS, None)
    for k in range(number):
        guard.admit((1_000 + every_ms * k) * MS, None)
    assert guard.went_back is back and counts == {"s_late": number}


def test_a_newer_sample_between_older_ones_is_the_same_clock():
    guard = StampGuard("s", Counter(), NEAR_NS)
    for k in range(3 * CONFIRMATIONS):
        guard.admit((100_000 + 2 * k) * MS, None)
        guard.admit((1_000 + 2 * k) * MS, None)
    assert not guard.went_back


def test_changes_of_samples_that_are_seldom_are_remembered_for_a_second():
    """Steps of 1 every 20 ms, the tenth of which is the first that counts."""
    stream, begun = Stream("imu", 1, Counter(), 30 * MS), 9
    for k in range(begun + 50):
        stream.push(20 * MS * k, np.array([float(k)]))
        counted = max(k - begun + 1, 0)
        assert stream.changed[0] == pytest.approx(1.0 - 0.98**counted, abs=1e-12)


@pytest.mark.parametrize("every_ms", [2, 6])
def test_changes_of_samples_that_are_not_seldom_do_not_count(every_ms):
    stream = Stream("imu", 1, Counter(), 30 * MS)
    for k in range(100):
        stream.push(every_ms * MS * k, np.array([float(k)]))
    assert stream.changed[0] == 0.0
