# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Checks of options that several verbs have."""

from __future__ import annotations

import argparse
import threading

from ..errors import ConfigError


def check_seconds(args: argparse.Namespace, *names: str) -> None:
    """ConfigError where an option is no time [s] that one can wait for."""
    for name in names:
        said = getattr(args, name)
        if not 0.0 <= said < threading.TIMEOUT_MAX:
            raise ConfigError(f"--{name} is {said:g}; give a number that is not negative", said)
