# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Recordings on the command line: the topics of a bag and the span of it that is read."""

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


def add_span_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds `--from` and `--to`, which become `args.begin` and `args.end` [s]."""
    for name, end, default, text in (
        ("--from", "begin", 0.0, "use recordings from this second on"),
        ("--to", "end", float("inf"), "... up to this second"),
    ):
        parser.add_argument(name, dest=end, type=float, default=default, metavar="S", help=text)


def topics_of(args: argparse.Namespace) -> dict[str, str]:
    """Topics that the user named (`--topic`), by sensor."""
    pairs = args.topic
    broken = [p for p in pairs if "=" not in p]
    if broken:
        raise ConfigError(f"--topic '{broken[0]}' has no '='; give SENSOR=NAME", broken)
    topics: dict[str, str] = {}
    for sensor, name in (p.split("=", 1) for p in pairs):
        if not name or sensor in topics:
            what = f"has the topics {topics[sensor]} and {name}" if name else "has no topic"
            raise ConfigError(f"--topic: {sensor} {what}; give SENSOR=NAME, one for each", pairs)
        topics[sensor] = name
    return topics
