# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""What all tests share."""

from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files with slow tests come first: no worker begins one when the others have ended."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


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
