# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Recordings on the command line: the topics of a bag and the span of it that is read."""

from __future__ import annotations

import argparse

from ..errors import ConfigError
from ..io.topics import LOWSTATE, ROLES, named_topics


def add_topic_argument(parser: argparse.ArgumentParser, of: str = "") -> None:
    """Adds `--topic`, for `topics_of`; `of`: what has it, before its help."""
    parser.add_argument(
        "--topic",
        action="append",
        default=[],
        metavar="SENSOR=NAME",
        help=f"{of}topic of a sensor ({', '.join([*ROLES, LOWSTATE])})",
    )


def add_span_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds `--from` and `--to`, which become `args.begin` and `args.end` [s]; see `check_span`."""
    for name, end, default, text in (
        ("--from", "begin", 0.0, "use recordings from this second on"),
        ("--to", "end", float("inf"), "... up to this second"),
    ):
        parser.add_argument(name, dest=end, type=float, default=default, metavar="S", help=text)


def check_span(args: argparse.Namespace) -> None:
    """ConfigError where `--from` and `--to` are no part of a recording."""
    begin, end = args.begin, args.end
    if begin < 0.0:
        what = "recordings begin at 0 s; give the seconds from their beginning"
        raise ConfigError(f"--from must not be negative, got {begin:g}: {what}", begin)
    if not begin < end:  # nor is a number that is none
        what = f"nothing lies between --from {begin:g} and --to {end:g}"
        raise ConfigError(f"{what}; the first must be smaller", (begin, end))


def topics_of(args: argparse.Namespace) -> dict[str, str]:
    """Topics that the user named (`--topic`), by sensor."""
    return named_topics(args.topic, "--topic")
