# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Recorded data for live nodes: a walking Go2 with 3 kg that its model does not know."""

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def go2_payload3(recorded_runs) -> Path:
    """The recorded run."""
    return recorded_runs / "go2_payload3"
