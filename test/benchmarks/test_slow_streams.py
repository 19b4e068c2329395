# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Benchmark of slow streams: what falls between their samples is in the stated velocity."""

from __future__ import annotations

import slow_streams
from recordings import table


def test_velocities_of_slow_streams_hold(recorded_runs, monkeypatch):
    """NEES 10 and 16 while all samples had missed the same share of what is between them.

    At 40 Hz a robot leaned by 0.6 rad while each interval was taken for a burst of lost samples.
    """
    monkeypatch.setattr(slow_streams, "RATES", ((100, 100), (50, 50), (40, 40)))
    rows = slow_streams.measure(recorded_runs / "go2_payload3", "go2", 10.0)
    assert [row["joints [Hz]"] for row in rows] == ["100", "50", "40"]
    assert max(row["NEES"] for row in rows) < 6.0
    assert rows[0]["velocity [mm/s]"] < 20.0 and rows[1]["velocity [mm/s]"] < 35.0
    assert rows[2]["velocity [mm/s]"] < 60.0 and rows[2]["tilt [mrad]"] < 60.0
    assert min(row["tilt in"] for row in rows) > 0.8
    assert table(rows, slow_streams.COLUMNS).count("\n") == 4
