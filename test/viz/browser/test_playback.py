# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The instant that is shown: played, paused, sought, followed."""

import pytest

from prime_estimation.viz.browser.playback import Playback


def test_a_recording_plays_from_its_beginning_and_stops_at_its_end():
    playback = Playback(live=False)
    shown = []
    for _ in range(30):
        playback.advance(0.1, 2.0, 4.0, complete=True)
        shown.append(playback.now)
    assert shown[0] == pytest.approx(2.1) and shown[9] == pytest.approx(3.0)
    assert playback.now == 4.0 and not playback.playing
    playback.toggle(2.0, 4.0)
    assert playback.now == 2.0 and playback.playing


def test_what_is_still_being_read_is_waited_for():
    playback = Playback(live=False)
    for _ in range(10):
        playback.advance(1.0, 0.0, 1.5, complete=False)
    assert playback.now == 1.5 and playback.playing
    playback.advance(0.5, 0.0, 9.0, complete=False)
    assert playback.now == 2.0


def test_speed():
    playback = Playback(live=False)
    playback.speed = 0.25
    playback.advance(1.0, 0.0, 9.0, complete=True)
    assert playback.now == 0.25


def test_a_live_node_is_followed_until_somebody_seeks():
    playback = Playback(live=True)
    playback.advance(0.1, 0.0, 5.0, complete=False)
    assert playback.now == 5.0
    playback.toggle(0.0, 5.0)
    playback.advance(0.1, 0.0, 6.0, complete=False)
    assert playback.now == 5.0  # paused
    playback.seek(1.0)
    playback.toggle(0.0, 6.0)
    playback.advance(0.5, 0.0, 7.0, complete=False)
    assert playback.now == 1.5  # the past, played
    playback.follow()
    playback.advance(0.1, 0.0, 8.0, complete=False)
    assert playback.now == 8.0


def test_the_past_that_is_forgotten_is_not_shown():
    playback = Playback(live=True)
    playback.advance(0.1, 0.0, 5.0, complete=False)
    playback.seek(1.0)
    playback.advance(0.1, 3.0, 8.0, complete=False)
    assert playback.now == 3.0
