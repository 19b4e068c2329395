# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Entry points of `ros2 run prime_estimation NAME`.

They import next to nothing: an interruption while the libraries are loading, as of a launch whose
other programs have failed, is then an end like any other.
"""

from __future__ import annotations

import os
import signal

from ..viewerless import import_module


def estimator() -> int:
    """Lifecycle node that activates itself (parameter `autostart`)."""
    return _run("estimator")


def unitree_bridge() -> int:
    """Unitree's LowState to standard topics."""
    return _run("unitree_bridge")


def inertia_listener() -> int:
    """The gate for estimated inertia as a node."""
    return _run("inertia_listener")


def inertia_keeper() -> int:
    """What the estimator has learned, for the one that is started after it."""
    return _run("inertia_keeper")


def mpc() -> int:
    """Whole-body controller."""
    return _run("mpc")


def markers() -> int:
    """Estimated inertia for RViz."""
    return _run("markers")


def replay() -> int:
    """Player of a recording."""
    return _run("replay")


def _run(name: str) -> int:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _leave)
    return import_module(".programs", __package__).main(name)


def _leave(*_) -> None:
    # nothing has begun that would have to be ended; an exception would come out of some import
    os._exit(0)
