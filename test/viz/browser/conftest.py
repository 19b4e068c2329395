# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""A Go2 that glides, as a track and on a page."""

from __future__ import annotations

import contextlib
import threading

import pytest
from helpers.views import fill

from prime_estimation.robot import Robot
from prime_estimation.viz.browser.track import Track

NODES = 300  # 3 s


@pytest.fixture(scope="session")
def robot() -> Robot:
    """A Go2."""
    return Robot.load("go2")


@pytest.fixture(scope="session")
def glide(robot) -> Track:
    """Three seconds of it; not to be changed."""
    track = Track(robot)
    fill(track, range(NODES))
    return track


@pytest.fixture
def page():
    """Pages for sources, closed in the end."""
    pytest.importorskip("viser")
    from prime_estimation.viz.browser.page import ViewPage

    with contextlib.ExitStack() as stack:

        def show(*sources, port: int = 0, spacing: float = 1.0) -> ViewPage:
            out = ViewPage(sources, [0.8] * len(sources), "127.0.0.1", port, spacing)
            stack.callback(out.close)
            return out

        yield show


@pytest.fixture
def running():
    """Has pages draw in a thread of their own, until the end."""
    stop, threads = threading.Event(), []

    def run(page) -> None:
        threads.append(threading.Thread(target=page.run, args=(stop,)))
        threads[-1].start()

    yield run
    stop.set()
    for thread in threads:
        thread.join()
