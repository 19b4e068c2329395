# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Options and steps that the verbs share which estimate a recording as a whole.

Their arguments, and what these mean.
"""

from __future__ import annotations

import argparse
import importlib.util
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from ..config.parameters import Config
from ..errors import ConfigError
from ..identify.single import STEP, Run, identify_run
from ..io.bag import named
from ..robot import Robot
from .console import add_progress_argument
from .topics import add_span_arguments, add_topic_argument, check_span, topics_of


def add_offline_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds robot, output folder, configuration, step, part of the recording, sensors, progress."""
    parser.add_argument(
        "--robot",
        required=True,
        metavar="NAME",
        help="go1, go2, ... or the path of a robot's YAML file",
    )
    parser.add_argument("--out", required=True, metavar="DIR", help="folder for the results")
    parser.add_argument("--config", metavar="Y", help="YAML file with changes to the defaults")
    parser.add_argument(
        "--step",
        type=float,
        default=STEP,
        metavar="S",
        help=f"time between nodes (default: {STEP:g})",
    )
    add_span_arguments(parser)
    parser.add_argument("--no-mocap", action="store_true", help="do not use motion capture")
    add_topic_argument(parser)
    add_progress_argument(parser)


def live_config(args: argparse.Namespace, links: list[str] | None = None) -> Config:
    """Configuration of the robot, where given with other links to be estimated."""
    changes = {"robot": {"estimated_links": list(dict.fromkeys(links))}} if links else {}
    return Config.load(args.robot, args.config).updated(changes, "command line")


def offline_config(args: argparse.Namespace, links: list[str] | None = None) -> Config:
    """`live_config` with the command line's step, of the estimate of a whole recording."""
    check_span(args)
    step = {"estimator": {"step": args.step}}
    return live_config(args, links).updated(step, "command line")


def out_folder(args: argparse.Namespace) -> Path:
    """Output folder of `--out`, which need not exist but must not be a file."""
    out = Path(args.out)
    if out.exists() and not out.is_dir():
        raise ConfigError(f"--out {out} is a file; give the name of a folder", out)
    there = next(folder for folder in (out, *out.absolute().parents) if folder.exists())
    try:  # minutes before the results are written; permissions alone do not tell it
        with TemporaryDirectory(prefix=".prime", dir=there):
            pass
    except OSError as error:
        raise ConfigError(
            f"--out {out}: {there} cannot be written to; give another folder, or change its "
            "permissions",
            out,
        ) from error
    return out


def write_results(outcome, out: Path, draw: Callable[[object, Path], Path]) -> dict[str, str]:
    """Write what was found and, where it can be drawn, the report: they belong together.

    So a Ctrl-C should wait for the last of them (`console.interruptible`).

    Args:
        outcome: writes itself, and has `notices`.
        out: folder.
        draw: writes the report of an outcome into a folder.

    Returns:
        Their paths by kind.
    """
    files = outcome.write(out)
    if importlib.util.find_spec("matplotlib") is None:
        outcome.notices.append("no report.html: pip install 'prime_estimation[viz]'")
    else:
        files["report"] = str(draw(outcome, out))
    return files


def name_among(args: argparse.Namespace, bag: str) -> str:
    """Name of a recording, where the verb was given several."""
    several = len(args.bags) > 1 or args.held_out
    return named(bag).name if several else ""


def estimate_run(
    args: argparse.Namespace,
    bag: str,
    robot: Robot,
    config: Config,
    progress: Callable[[float], None],
    stop: Callable[[], bool],
) -> Run:
    """Runs `identify_run` on the chosen part of a recording, with the command line's sensors."""
    options = dict(mocap=not args.no_mocap, topics=topics_of(args), span=(args.begin, args.end))
    return identify_run(bag, robot, config, **options, progress=progress, stop=stop)
