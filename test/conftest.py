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


@pytest.fixture(scope="session")
def recorded_runs() -> Path:
    """Folder of recorded runs with ground truth, beside the checkout.

    Without it the test is skipped.
    """
    runs = REPOSITORY.parent / "shared" / "data" / "sim"
    if not runs.is_dir():
        pytest.skip("no recorded runs beside the repository")
    return runs


@pytest.fixture(scope="session")
def real() -> Path:
    """Folder of recordings of real machines, beside the checkout.

    Without it the test is skipped.
    """
    folder = REPOSITORY.parent / "shared" / "data" / "real"
    if not folder.is_dir():
        pytest.skip("no recordings of real machines beside the repository")
    return folder
