# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The installed executables and their services, as `ros2 run` and `ros2 service call` reach
them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from helpers.processes import Program


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
    import rclpy

    client = tester.create_client(kind, name)
    assert client.wait_for_service(seconds), name
    future = client.call_async(request)
    rclpy.spin_until_future_complete(tester, future, timeout_sec=seconds)
    tester.destroy_client(client)
    assert future.done(), name
    return future.result()
