# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""`prime evaluate`: figures of an output bag against ground truth."""

from __future__ import annotations

import argparse

from ..errors import ConfigError
from ..evaluation.scores import evaluate
from .console import say, table, warn

DESCRIPTION = """Score the output bag EST of a replay against ground truth in the recording REF that
it came from: RMS errors, and what a mean hides: the worst second, the share of errors inside their
stated 95 % interval, NEES (3 is right), seconds until each change of load is known."""
EXAMPLES = [
    "prime evaluate out.mcap recordings/go2_payload3",
    "prime evaluate out.mcap run.mcap --settle 5 --json > scores.json",
]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds EST, REF and options."""
    parser.add_argument("estimate", metavar="EST", help="output bag with /prime/... topics")
    parser.add_argument("reference", metavar="REF", help="recording with /ground_truth/... topics")
    parser.add_argument(
        "--truth", metavar="JSON", help="true inertias of the run (default: the JSON beside REF)"
    )
    parser.add_argument(
        "--settle",
        type=float,
        default=2.0,
        metavar="S",
        help="seconds at the start left out of motion and force (default: 2)",
    )


def run(args: argparse.Namespace) -> dict:
    """Evaluates and prints tables."""
    if not args.settle >= 0.0:
        raise ConfigError(f"--settle must be 0 s or more, got {args.settle:g}", args.settle)
    result = evaluate(args.estimate, args.reference, args.settle, args.truth)
    for notice in result["notices"]:
        warn(notice)
    say(args, *tables(result))
    return result


def tables(result: dict) -> list:
    """Tables of what `evaluate` returns."""
    out: list = []
    if result["missing"]:
        out.append(f"missing in the estimate: {', '.join(result['missing'])}")
    for section in ("odometry", "external", "speed"):
        if section in result:
            out.append(table(section, result[section]))
    if "joints" in result:
        rows = {
            k: [result["joints"][who][k] for who in ("estimate", "sensor")]
            for k in result["joints"]["estimate"]
        }
        out.append(table("joints", rows, ("estimate", "sensor")))
    for section in ("contacts", "inertia"):
        parts = {k: v for k, v in result.get(section, {}).items() if isinstance(v, dict)}
        good = {k: v for k, v in parts.items() if "error" not in v}
        if good:
            names = next(iter(good.values()))
            out.append(
                table(section, {n: [v[n] for v in good.values()] for n in names}, tuple(good))
            )
        out += [f"{section} {k}: {v['error']}" for k, v in parts.items() if "error" in v]
        means = {k: v for k, v in result.get(section, {}).items() if not isinstance(v, dict)}
        if means:
            out.append(table("", means))
    return out
