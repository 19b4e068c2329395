# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The benchmark of speed measures every part and every variant.

What the times are is not asserted.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

import speed  # noqa: E402


def test_every_part_takes_time(recorded_runs):
    ms = speed.walk("go2", 1.0)
    row = speed.parts("go2", ms)
    assert set(row) == set(speed.PARTS) and all(
        value > 0.0 for name, value in row.items() if name != "robot"
    )
    whole = speed.full("go2", ms)
    assert set(whole) == set(speed.FULL) and whole["nodes"] > 50 and whole["iterations"] > 1
    rows = list(speed.updates("go2", ms, threads=(1,)))
    assert [r["nodes"] for r in rows] == [speed.Config.load("go2").estimator.window, 30]
    assert all(set(r) == set(speed.UPDATES) and 0.0 < r["p50 [ms]"] <= r["p99 [ms]"] for r in rows)
