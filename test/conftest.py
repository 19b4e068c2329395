# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""What all tests share."""

import math
import time
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
RECORDED = {"recorded_runs", "real"}  # fixtures


def pytest_addoption(parser: pytest.Parser) -> None:
    """A machine that is slow for a while has no time for all long tests."""
    what = "leave out long tests from this time on (as of date +%%s)"
    parser.addoption("--long-until", type=float, default=math.inf, metavar="SECONDS", help=what)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Leave out what there is no time for; the summary says so."""
    if item.get_closest_marker("long") and time.time() > item.config.getoption("--long-until"):
        pytest.skip("no time left for long tests: make test MINUTES=60 has more")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as long what is slow or uses recordings, as other machines leave it out.

    Files with slow tests come first: no worker begins one when the others have ended.
    """
    slow = {item for item in items if item.get_closest_marker("slow")}
    for item in items:
        if item in slow or RECORDED & {*item.fixturenames}:
            item.add_marker("long")
    files = {item.path for item in slow}
    items.sort(key=lambda item: item.path not in files)


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
