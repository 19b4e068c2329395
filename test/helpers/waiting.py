# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Waiting for what other threads or processes do."""

from __future__ import annotations

import time
from collections.abc import Callable


def wait(condition: Callable[[], bool], seconds: float = 10.0) -> bool:
    """Wait until the condition holds, but not for ever; says whether it does."""
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()
