# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Benchmark of wrong mounts: held, they are in the velocity; by default, they are said."""

from __future__ import annotations

import mounts
from recordings import table


def test_late_stamps_held_and_estimated(recorded_runs, monkeypatch):
    late = [fault for fault in mounts.FAULTS if fault.name == "stamps 30 ms late"]
    monkeypatch.setattr(mounts, "FAULTS", late)
    held, estimated = mounts.measure(recorded_runs / "go2_payload3", "go2", 6.0)
    assert held["said"] == "" and estimated["said"] == "mocap_clock"
    assert estimated["velocity [mm/s]"] < 0.8 * held["velocity [mm/s]"]  # it begins slowly
    assert table([held, estimated], mounts.COLUMNS).count("\n") == 3
    assert mounts.mount_fit.MOUNT_FIT is mounts.MOUNT_FIT
