# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""What all tests share."""

from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def repository() -> Path:
    """The source tree."""
    return REPOSITORY


def recordings(kind: str, what: str) -> Path:
    """Folder of recordings beside the checkout; without it the test is skipped."""
    folder = REPOSITORY.parent / "shared" / "data" / kind
    if not folder.is_dir():
        pytest.skip(f"no {what} beside the repository")
    return folder


@pytest.fixture(scope="session")
def recorded_runs() -> Path:
    """Simulated runs with ground truth."""
    return recordings("sim", "recorded runs")


@pytest.fixture(scope="session")
def real() -> Path:
    """Recordings of real machines."""
    return recordings("real", "recordings of real machines")
