# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The instant that is shown: played, paused, sought, followed."""

import pytest

from prime_estimation.viz.browser.cursor import TimeCursor


def test_a_recording_plays_from_its_beginning_and_stops_at_its_end():
    cursor = TimeCursor(live=False)
    shown = []
    for _ in range(30):
        cursor.advance(0.1, 2.0, 4.0, complete=True)
        shown.append(cursor.now)
    assert shown[0] == pytest.approx(2.1) and shown[9] == pytest.approx(3.0)
    assert cursor.now == 4.0 and not cursor.playing
    cursor.toggle(2.0, 4.0)
    assert cursor.now == 2.0 and cursor.playing


def test_what_is_still_being_read_is_waited_for():
    cursor = TimeCursor(live=False)
    for _ in range(10):
        cursor.advance(1.0, 0.0, 1.5, complete=False)
    assert cursor.now == 1.5 and cursor.playing
    cursor.advance(0.5, 0.0, 9.0, complete=False)
    assert cursor.now == 2.0


def test_speed():
    cursor = TimeCursor(live=False)
    cursor.speed = 0.25
    cursor.advance(1.0, 0.0, 9.0, complete=True)
    assert cursor.now == 0.25


def test_a_live_node_is_followed_until_somebody_seeks():
    cursor = TimeCursor(live=True)
    cursor.advance(0.1, 0.0, 5.0, complete=False)
    assert cursor.now == 5.0
    cursor.toggle(0.0, 5.0)
    cursor.advance(0.1, 0.0, 6.0, complete=False)
    assert cursor.now == 5.0  # paused
    cursor.seek(1.0)
    cursor.toggle(0.0, 6.0)
    cursor.advance(0.5, 0.0, 7.0, complete=False)
    assert cursor.now == 1.5  # the past, played
    cursor.follow()
    cursor.advance(0.1, 0.0, 8.0, complete=False)
    assert cursor.now == 8.0


def test_the_past_that_is_forgotten_is_not_shown():
    cursor = TimeCursor(live=True)
    cursor.advance(0.1, 0.0, 5.0, complete=False)
    cursor.seek(1.0)
    cursor.advance(0.1, 3.0, 8.0, complete=False)
    assert cursor.now == 3.0
