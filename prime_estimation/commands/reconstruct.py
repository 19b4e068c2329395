# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""`prime reconstruct`: a recording as annotated, dynamically consistent motion."""

from __future__ import annotations

import argparse

from ..identify.reconstruct import motion, write_mcap, write_npz
from ..identify.residuals import residuals
from ..io.bag import keep_input
from ..io.made_folders import none_left_empty
from ..robot import Robot
from .console import interruptible, progress_bar, say, say_counts, table, warn
from .offline import add_offline_arguments, estimate_run, offline_config, out_folder

DESCRIPTION = """Reconstruct the motion of a recording: trajectory, joint torques, contact forces,
points and states at every node, which obey the equations of motion with the inertia that fits best.
DIR gets motion.npz (arrays) and motion.mcap (the topics of `prime replay`, smoothed over the whole
recording; on uneven ground over the following nodes)."""
EXAMPLES = [
    "prime reconstruct recordings/go2_nominal --robot go2 --out motion",
    "prime reconstruct run.mcap --robot identified/go2.yaml --from 2 --to 8 --out motion",
]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds BAG and options."""
    parser.add_argument("bag", metavar="BAG", help="rosbag2 folder, .mcap or .db3 file")
    add_offline_arguments(parser)


def run(args: argparse.Namespace) -> dict:
    """Reconstructs the motion, writes it, prints a summary."""
    out = out_folder(args)
    keep_input(out / "motion.mcap", args.bag)
    config = offline_config(args)
    robot = Robot(config.robot)
    with progress_bar(args, "reconstruct") as progress, interruptible() as stop:
        found = estimate_run(args, args.bag, robot, config, lambda f: progress(0.8 * f), stop)
        arrays = motion(found)
        with none_left_empty(out):
            out.mkdir(parents=True, exist_ok=True)
            write_npz(out / "motion.npz", found, arrays)
            told = out / "motion.mcap"
            nodes = write_mcap(told, found, arrays, lambda f: progress(0.8 + 0.2 * f))
    for notice in found.notices:
        warn(notice)
    fit = residuals(found.result.window).to_dict()
    result = {
        "nodes": nodes,
        "span_s": list(found.span),
        "converged": found.result.converged,
        "friction": found.friction[0],
        "counts": dict(found.counts),
        "fit": fit,
        "notices": found.notices,
    }
    result["files"] = {"npz": str(out / "motion.npz"), "mcap": str(out / "motion.mcap")}
    rows = {k: v for k, v in fit.items() if isinstance(v, float)}
    say_counts(args, found.counts)
    say(
        args,
        f"{nodes} nodes from {found.span[0]:.2f} to {found.span[1]:.2f} s",
        table("unexplained", rows),
        f"wrote {', '.join(result['files'].values())}",
    )
    return result
