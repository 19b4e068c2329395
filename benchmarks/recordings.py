# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""What scripts share that work on recordings.

Excerpts of a recorded run, its ground truth, a variant of the program for a while.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from prime_estimation.errors import PrimeError
from prime_estimation.evaluation.motion import Motion
from prime_estimation.io.bag import BagReader, BagWriter
from prime_estimation.io.messages import stamp_ns

# stands beside the repository
RUNS = Path(__file__).resolve().parents[2] / "shared" / "data" / "sim"


def existing(text: str) -> Path:
    """The path of an argument: what is not there is said before anything is started."""
    path = Path(text)
    if not path.exists():
        raise argparse.ArgumentTypeError(f"there is no {text}")
    return path


def excerpt(bag: Path, end: float, folder: Path) -> Path:
    """The first `end` seconds of a run, ground truth included.

    The run itself when it is not longer.
    """
    with BagReader(bag) as reader:
        if reader.end_ns - reader.start_ns <= end * 1e9:
            return bag
        out = folder / f"{bag.name}_{end:g}s.mcap"
        with BagWriter(out) as writer:
            for topic, arrival_ns, message in reader.messages():
                if arrival_ns > reader.start_ns + end * 1e9:
                    break
                writer.write(topic, arrival_ns, message)
    return out


def ground_truth(bag: Path, end: float) -> tuple[dict[str, list], int]:
    """Ground truth messages by topic in the first `end` seconds; stamp [ns] of the first pose."""
    out: dict[str, list] = {}
    with BagReader(bag) as reader:
        for topic, arrival_ns, message in reader.messages(
            [t for t in reader.topics if t.startswith("/ground_truth/")]
        ):
            if arrival_ns <= reader.start_ns + end * 1e9:
                out.setdefault(topic, []).append(message)
    return out, stamp_ns(out["/ground_truth/odom"][0].header)


def true_motion(bag: Path, end: float) -> Motion:
    """True motion of the base, times in seconds of the stamps themselves."""
    return Motion(ground_truth(bag, end)[0]["/ground_truth/odom"], 0)


@contextmanager
def swapped(module, **names) -> Iterator[None]:
    """Other values for names of a module while the block runs.

    For variants that no user should be able to choose.
    """
    before = {name: getattr(module, name) for name in names}
    try:
        for name, value in names.items():
            setattr(module, name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(module, name, value)


def table(rows: list[dict], columns: dict[str, str]) -> str:
    """Markdown: one line per row, `columns` maps headings (keys of the rows) to formats.

    A dash where a row has no value.
    """
    lines = [
        "| " + " | ".join(columns) + " |",
        "|" + "".join("---|" if not form else "---:|" for form in columns.values()),
    ]
    for row in rows:
        cells = ["-" if row.get(c) is None else format(row[c], form) for c, form in columns.items()]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def add_runs(parser: argparse.ArgumentParser) -> None:
    """Adds the runs that a benchmark is about, and their robot."""
    runs = [RUNS / "go2_payload3", RUNS / "go2_nominal"]
    parser.add_argument("runs", nargs="*", type=Path, default=runs, metavar="RUN")
    parser.add_argument("--robot", default="go2")


def measure_runs(
    name: str,
    about: str,
    seconds: float,
    measure: Callable[[Path, str, float], list[dict]],
    columns: dict[str, str],
) -> int:
    """Command line of a script that measures the first seconds of each run; its exit code.

    Args:
        name: of the script.
        about: its docstring.
        seconds: of a run, if not said otherwise.
        measure: rows of a run, by the run, the robot and the seconds.
        columns: of the table.
    """
    parser = argparse.ArgumentParser(
        description=about, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_runs(parser)
    parser.add_argument("--seconds", type=float, default=seconds)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    try:
        rows = [row for run in args.runs for row in measure(run, args.robot, args.seconds)]
    except PrimeError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 1
    print(json.dumps(rows, indent=1) if args.json else table(rows, columns))
    return 0
