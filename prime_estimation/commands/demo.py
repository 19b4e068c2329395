# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""`prime demo`: a simulated robot with a payload that the estimator does not know."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.live import Live

from ..config.parameters import Config
from ..errors import ConfigError
from ..evaluation.scores import evaluate
from ..evaluation.statistics import HALF_WIDTH_95
from ..io.trajectory import RunFolder, command_line
from ..recordings.replay import replay
from ..robot import Robot
from ..types import Estimate
from .console import add_progress_argument, progress_bar, say, table
from .evaluate import tables
from .simulate import need_mujoco
from .simulate_scene import add_payload_arguments, payload_of, place_of

DESCRIPTION = """Simulate a robot that carries a payload unknown to the estimator, estimate its
motion, contact forces and inertia from the noisy sensors, and compare with the truth. The run
folder keeps recording, estimate, metrics and figures."""
EXAMPLES = [
    "prime demo",
    "prime demo --robot go1 --payload 2 --on 5 --out my_demo",
    "prime demo --no-mocap --json",
]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds motion, payload, sensors and output folder."""
    parser.add_argument("--robot", default="go2", metavar="NAME", help="robot (default: go2)")
    parser.add_argument(
        "--motion", default="trot", help="motion (default: trot; an unknown name lists all)"
    )
    parser.add_argument(
        "--duration", type=float, default=12.0, metavar="S", help="seconds (default: 12)"
    )
    add_payload_arguments(parser, mass=3.0)
    parser.add_argument("--no-mocap", action="store_true", help="estimate without motion capture")
    parser.add_argument(
        "--seed", type=int, default=0, help="random seed of motion and noise (default: 0)"
    )
    parser.add_argument(
        "--out",
        default="prime_runs",
        metavar="DIR",
        help="folder in which the run folder is made (default: prime_runs)",
    )
    add_progress_argument(parser)


def run(args: argparse.Namespace) -> dict:
    """Simulates, estimates, evaluates, draws."""
    need_mujoco()
    from ..simulate.motion import motion
    from ..viz.canvas import canvas
    from ..viz.figures import save_figures

    canvas()
    motion(args.motion)  # the run folder is named after it
    if args.duration < 3.0:
        raise ConfigError(
            f"--duration {args.duration:g} is too short to settle and be scored; give at least 3 s",
            args.duration,
        )
    config = Config.load(args.robot)
    robot = Robot(config.robot)
    folder = RunFolder(args.out, f"{config.robot.name}_{args.motion}")
    with folder.if_completed():
        recording = _simulate(args, config.robot.name, folder.path / "recording")
        out = folder.path / "estimate.mcap"
        with _live_table(args, robot) as show:

            def observer(estimate: Estimate) -> None:
                folder.add_pose(estimate)
                show(estimate)

            mocap = not args.no_mocap
            summary = replay(recording, robot, config, out, mocap=mocap, observer=observer)
        metrics = evaluate(out, recording)
        result = {**summary.to_dict(), "evaluation": metrics, "folder": str(folder.path)}
        what = f"{config.robot.name}, {args.motion}, hidden payload {args.payload:g} kg" + (
            ", no motion capture" if args.no_mocap else ""
        )
        figures = save_figures(out, recording, folder.path / "figures", what)
        result["figures"] = [str(p) for p in figures]
        folder.write(config.to_dict(), _command(args), result)
    say(
        args,
        *tables(metrics),
        *_verdict(robot, metrics),
        f"figures: {figures[0]} and beside it; everything: {folder.path}",
    )
    return result


def _command(args: argparse.Namespace) -> str:
    """What was asked for, with what was left to the defaults, so that it can be done again."""
    names = ("robot", "motion", "duration", "payload", "link", "on", "off", "slides", "seed")
    given = {name: getattr(args, name) for name in names}
    at = place_of(args) if args.payload else None
    return command_line("demo", {**given, "at": at, "no-mocap": args.no_mocap})


def _simulate(args: argparse.Namespace, robot: str, out: Path) -> Path:
    from .. import simulate

    with progress_bar(args, f"simulate {robot}, {args.motion}") as progress:
        return simulate.run(
            args.robot,
            args.motion,
            args.duration,
            out,
            payload=payload_of(args),
            seed=args.seed,
            progress=progress,
        )


def _verdict(robot: Robot, metrics: dict) -> Iterator[str]:
    for link, body in metrics.get("inertia", {}).items():
        if "error" in body:
            continue
        nominal = robot.model.inertias[robot.link_joint(link)].mass
        margin = HALF_WIDTH_95 * body["mass_final_stddev_kg"]
        inside = "inside" if abs(body["mass_error_final_kg"]) <= margin else "OUTSIDE"
        found, hidden = body["mass_final_kg"] - nominal, body["mass_true_kg"] - nominal
        said = f"{found:.3f} +- {margin:.3f} kg (95 %), truth {hidden:.3f} kg"
        yield f"payload on {link}: {said}: {inside} the interval"


@contextmanager
def _live_table(args: argparse.Namespace, robot: Robot):
    """Table of the newest estimate on stderr; yields the function that takes the estimates."""
    if args.no_progress or args.json or not sys.stderr.isatty():
        yield lambda estimate: None
        return
    with Live(console=Console(stderr=True), refresh_per_second=10, transient=True) as live:
        first: list[int] = []

        def show(estimate: Estimate) -> None:
            first[:] = first or [estimate.stamp_ns]
            if (estimate.stamp_ns - first[0]) // 10_000_000 % 10 == 0:
                live.update(_newest(estimate, (estimate.stamp_ns - first[0]) * 1e-9))

        yield show


def _newest(estimate: Estimate, seconds: float):
    rows: dict[str, object] = {"time [s]": f"{seconds:.1f}"}
    for body in estimate.bodies:
        margin = HALF_WIDTH_95 * body.mass_stddev
        rows[f"mass of {body.link} [kg]"] = f"{body.mass:.3f} +- {margin:.3f}"
    rows["velocity [m/s]"] = " ".join(f"{v:+.2f}" for v in estimate.linear_velocity_base)
    for contact in estimate.contacts:
        rows[f"{contact.name} [N]"] = f"{contact.force_world[2]:6.1f}  {contact.state.name.lower()}"
    rows["solve time [ms]"] = f"{estimate.status.solve_time_ms:.2f}"
    return table("estimate", rows)
