# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The benchmark of speed measures every part and every variant.

What the times are is not asserted.
"""

from pathlib import Path

import numpy as np
import pairs
import pytest
import speed


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


def test_ratios_of_a_pair():
    """Twice as fast in the median, and in the slow updates."""
    times = np.linspace(1.0, 2.0, 101)[None, :, None] * np.array([2.0, 1.0])[:, None, None]
    other, this = pairs.rows("go2", np.repeat(times, 2, axis=2))
    assert set(other) < set(this) == set(pairs.COLUMNS)
    assert other["p50 [ms]"] == pytest.approx(3.0) and this["p99 [ms]"] == pytest.approx(1.99)
    assert all(value == pytest.approx(0.5) for name, value in this.items() if "ratio" in name)


def test_a_version_beside_itself(recorded_runs):
    here = Path(pairs.__file__).parents[1]
    if not (here / pairs.PYTHON).is_file():
        pytest.skip("not built in its own folder")
    times = pairs.pair("go2", 1.2, [here, here])
    assert times.shape[::2] == (2, 2) and times.shape[1] > 15 and (times > 0.0).all()
