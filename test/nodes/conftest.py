# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Recorded data for live nodes: a walking Go2 with 3 kg that its model does not know."""

from pathlib import Path

import pytest

RECORDING = Path(__file__).resolve().parents[3] / "shared" / "data" / "sim" / "go2_payload3"


@pytest.fixture(scope="session")
def go2_payload3() -> Path:
    """A recorded run; tests that need it are skipped where it is not there."""
    if not RECORDING.is_dir():
        pytest.skip(f"no recording at {RECORDING}")
    return RECORDING
