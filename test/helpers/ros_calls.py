# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The installed executables and their services, as `ros2 run` and `ros2 service call` reach
them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from helpers.processes import Program

ATTEMPTS = 4  # requests of a call that is not answered


def executable(name: str, *arguments) -> Program:
    """A program as `ros2 run prime_estimation NAME` finds it."""
    prefixes = [Path(p) for p in os.environ["AMENT_PREFIX_PATH"].split(os.pathsep)]
    found = [
        p / "lib" / "prime_estimation" / name
        for p in prefixes
        if (p / "lib" / "prime_estimation" / name).is_file()
    ]
    assert found, f"no executable {name} below {prefixes}"
    return Program([sys.executable, found[0], *arguments], dict(os.environ))


def call(tester, kind, name: str, request, seconds: float = 10.0):
    """The answer of a service; asked again where none comes.

    A server that has not yet discovered the client's reader waits 0.1 s for it, then its answer is
    lost: on a busy machine `wait_for_service` may be true before.
    """
    import rclpy

    client = tester.create_client(kind, name)
    assert client.wait_for_service(seconds), name
    asked = []
    for _ in range(ATTEMPTS):
        asked.append(client.call_async(request))
        rclpy.spin_until_future_complete(tester, asked[-1], timeout_sec=seconds / ATTEMPTS)
        if any(future.done() for future in asked):
            break
    tester.destroy_client(client)
    answers = [future.result() for future in asked if future.done()]
    assert answers, name
    return answers[0]
