# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Refusals: how many messages of a silent sensor came, and why they are not used."""

from __future__ import annotations

import pytest

from prime_estimation.recordings.refusals import most_refused

AHEAD = "stamped after joints and IMU: by another clock?"
SLOW = "more than 20 ms apart, too slow for a mean"


@pytest.mark.parametrize(
    "came, counts, unread, words",
    [
        (0, {}, 0, ""),
        (720, {"mocap_outlier": 300}, 0, ""),
        (720, {"mocap_outlier": 717}, 0, "717 of 720 messages refused"),
        (1200, {"mocap_ahead": 1200, "imu_late": 9}, 0, f"1200 of 1200 messages refused: {AHEAD}"),
        (90, {"mocap_sparse": 88}, 0, f"88 of 90 messages refused: {SLOW}"),
        (0, {"mocap: no unit quaternion": 7}, 7, "7 of 7 messages refused: no unit quaternion"),
        (9, {"mocap: no stamp, arrival time taken": 9}, 0, ""),
    ],
)
def test_words(came, counts, unread, words):
    assert most_refused("mocap", came, counts, unread) == words
