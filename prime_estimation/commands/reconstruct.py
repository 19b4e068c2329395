# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""`prime reconstruct`: a recording as annotated, dynamically consistent motion."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..config import Config
from ..errors import ConfigError
from ..identify.reconstruct import motion, write_mcap, write_npz
from ..identify.residuals import residuals
from ..identify.single import STEP, identify_run
from ..robot import Robot
from .console import add_progress_argument, interruptible, progress_bar, say, table, warn
from .replay import add_topic_argument, topics_of

DESCRIPTION = """Reconstruct the motion of a recording: trajectory, joint torques, contact forces, points and states at every node, which
obey the equations of motion with the inertia that fits best. DIR gets motion.npz (arrays) and motion.mcap (the topics of
`prime replay`, smoothed over the whole recording)."""
EXAMPLES = [
    "prime reconstruct recordings/go2_nominal --robot go2 --out motion",
    "prime reconstruct run.mcap --robot identified/go2.yaml --from 2 --to 8 --out motion",
]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """BAG and options."""
    parser.add_argument("bag", metavar="BAG", help="rosbag2 folder, .mcap or .db3 file")
    parser.add_argument("--robot", required=True, metavar="NAME", help="go1, go2, ... or the path of a robot's YAML file")
    parser.add_argument("--out", required=True, metavar="DIR", help="folder for the results")
    parser.add_argument("--config", metavar="Y", help="YAML file with changes to the defaults")
    parser.add_argument("--step", type=float, default=STEP, metavar="S", help=f"time between nodes (default: {STEP:g})")
    parser.add_argument("--from", dest="begin", type=float, default=0.0, metavar="S", help="use the recording from this second on")
    parser.add_argument("--to", dest="end", type=float, default=float("inf"), metavar="S", help="... up to this second")
    parser.add_argument("--no-mocap", action="store_true", help="do not use motion capture")
    add_topic_argument(parser)
    add_progress_argument(parser)


def run(args: argparse.Namespace) -> dict:
    """Reconstruct, write, print."""
    out = Path(args.out)
    if out.exists() and not out.is_dir():
        raise ConfigError(f"--out wants a folder, {out} is a file", out)
    config = Config.load(args.robot, args.config).updated({"estimator": {"step": args.step}}, "command line")
    robot = Robot(config.robot)
    with progress_bar(args, "reconstruct") as progress, interruptible() as stop:
        options = dict(mocap=not args.no_mocap, topics=topics_of(args), span=(args.begin, args.end), budget=False)
        found = identify_run(args.bag, robot, config, **options, progress=lambda f: progress(0.8 * f), stop=stop)
        window = found.result.window
        out.mkdir(parents=True, exist_ok=True)
        arrays = motion(window)
        write_npz(out / "motion.npz", window, arrays)
        nodes = write_mcap(out / "motion.mcap", found.result, arrays, lambda f: progress(0.8 + 0.2 * f))
    for notice in found.notices:
        warn(notice)
    fit = residuals(window).to_dict()
    result = {"nodes": nodes, "span_s": list(found.span), "converged": found.result.converged, "friction": found.friction[0], "fit": fit}
    result["files"] = {"npz": str(out / "motion.npz"), "mcap": str(out / "motion.mcap")}
    rows = {k: v for k, v in fit.items() if isinstance(v, float)}
    say(
        args,
        f"{nodes} nodes from {found.span[0]:.2f} to {found.span[1]:.2f} s",
        table("unexplained", rows),
        f"wrote {', '.join(result['files'].values())}",
    )
    return result
