# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""`prime convert`: a log that is no bag becomes one."""

from __future__ import annotations

import argparse
from dataclasses import replace

from ..convert import Conversion, convert, load_mapping
from ..convert.key_table import key_table
from ..convert.mapping_file import built_in_mappings
from ..errors import ConfigError
from .console import add_progress_argument, progress_bar, say, table, warn

DESCRIPTION = """Convert a log (CSV, blank-separated tables, NPZ, MAT, parquet) into a bag with the
estimator's sensor topics. The mapping, a YAML file, says what the columns are: docs/convert.md has
every key. Rows that hold an older reading of a sensor are left out."""
EXAMPLES = [
    "prime convert lowstate.csv --mapping go2_lowstate_csv --out run.mcap",
    "prime convert sidewalk.npz --mapping mini_cheetah_umich --out sidewalk.mcap",
    "prime convert log_folder --mapping my_mapping.yaml --robot my_robot.yaml --out run.mcap",
]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """LOG, mapping, robot and output."""
    parser.add_argument("log", metavar="LOG", nargs="?", help="a file, or the folder of several")
    parser.add_argument(
        "--mapping",
        metavar="M",
        help=f"path of a YAML file, or one of {', '.join(built_in_mappings())}",
    )
    parser.add_argument(
        "--robot", metavar="NAME", help="check the joints against this robot, not the mapping's"
    )
    parser.add_argument("--out", metavar="BAG", help="the bag, *.mcap")
    parser.add_argument(
        "--keys", action="store_true", help="print every key of a mapping (Markdown), do nothing"
    )
    add_progress_argument(parser)


def run(args: argparse.Namespace) -> dict:
    """Convert, and say what went into the bag and what did not."""
    if args.keys:
        lines = key_table()
        if not args.json:
            print("\n".join(lines))
        return {"keys": lines}
    for name in ("log", "mapping", "out"):
        if getattr(args, name) is None:
            option = "LOG" if name == "log" else f"--{name}"
            raise ConfigError(f"{option} is missing: prime convert LOG --mapping M --out BAG")
    mapping = load_mapping(args.mapping)
    if args.robot:
        mapping = replace(mapping, robot=args.robot)
    with progress_bar(args, "convert") as progress:
        conversion = convert(args.log, mapping, args.out, progress)
    result = {"out": args.out, **conversion.to_dict()}
    _report(args, conversion, result)
    return result


def _report(args: argparse.Namespace, conversion: Conversion, result: dict) -> None:
    rows = {
        topic: [
            facts["messages"],
            f"{facts['rate_hz']:.1f}",
            ", ".join(facts["fields"]),
            ", ".join(f"{n} {reason}" for reason, n in facts["left_out"].items()) or "-",
        ]
        for topic, facts in result["topics"].items()
    }
    say(args, table("topics", rows, ("messages", "rate [Hz]", "fields", "rows left out")))
    if conversion.seams:
        times = ", ".join(f"{t:.3f}" for t in conversion.seams)
        say(args, f"parts of the recording begin anew at {times} s of the bag")
    if conversion.shift:
        say(args, f"stamps are those of the log plus {conversion.shift:g} s")
    for note in conversion.notes:
        warn(note)
    say(args, f"wrote {args.out}")
