# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Topics by sensor (`--topic SENSOR=NAME`), of the verbs that read bags."""

from __future__ import annotations

import argparse

from ..errors import ConfigError
from ..io.topics import LOWSTATE, ROLES


def add_topic_argument(parser: argparse.ArgumentParser) -> None:
    """Adds `--topic`, for `topics_of`."""
    parser.add_argument(
        "--topic",
        action="append",
        default=[],
        metavar="SENSOR=NAME",
        help=f"topic of a sensor ({', '.join([*ROLES, LOWSTATE])})",
    )


def topics_of(args: argparse.Namespace) -> dict[str, str]:
    """Topics that the user named (`--topic`), by sensor."""
    pairs = args.topic
    broken = [p for p in pairs if "=" not in p]
    if broken:
        raise ConfigError(f"--topic '{broken[0]}' has no '='; give SENSOR=NAME", broken)
    return dict(p.split("=", 1) for p in pairs)
