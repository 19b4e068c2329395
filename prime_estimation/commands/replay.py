# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""`prime replay`: the estimator on a recording."""

from __future__ import annotations

import argparse
import importlib.util
import shlex
from contextlib import ExitStack
from pathlib import Path

from ..config.parameters import Config
from ..errors import ConfigError, DataError
from ..evaluation.scores import evaluate
from ..io.bag import BagReader, named
from ..io.made_folders import none_left_empty
from ..io.messages import LOCKED_MOVED
from ..io.topics import ROLES
from ..io.trajectory import RunFolder
from ..recordings.replay import ReplaySummary, replay
from ..robot import Robot
from .console import add_progress_argument, progress_bar, say, say_counts, table, warn
from .topics import add_topic_argument, topics_of

RUNS = "prime_runs"  # folder of the runs
# nothing is estimated without these; a robot without IMU (robot.imu_frame) has none to leave out
NEEDED = ("joint_states", "imu")
DISPENSABLE = tuple(role for role in ROLES if role not in NEEDED)
DESCRIPTION = """Estimate base state, contact forces and inertia from a recording (rosbag2 folder,
MCAP or sqlite3 file).

OUT.mcap gets /prime/odometry, /prime/joint_states, /prime/contact_wrenches,
/prime/wrench/<contact>, /prime/inertial_parameters, /prime/status and /tf. Beside it,
prime_runs/<date>_OUT keeps configuration, versions, trajectory (TUM), metrics and figures, against
ground truth where the recording has it."""
EXAMPLES = [
    "prime replay recordings/go2_payload3 --robot go2",
    "prime replay recordings/go2_payload3 --robot go2 --without mocap,foot_force --out out.mcap",
    "prime replay run.mcap --robot go2 --no-mocap --config changes.yaml --out out.mcap",
    "prime replay run.mcap --robot go1 --topic imu=/imu/data --topic mocap=/pose --out o.mcap",
]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds BAG and options."""
    parser.add_argument("bag", metavar="BAG", help="rosbag2 folder, .mcap or .db3 file")
    parser.add_argument(
        "--robot",
        required=True,
        metavar="NAME",
        help="go1, go2, ... or the path of a robot's YAML file",
    )
    parser.add_argument("--config", metavar="Y", help="YAML file with changes to the defaults")
    parser.add_argument(
        "--out", metavar="OUT.mcap", help="output bag (default: prime_runs/<name of BAG>.mcap)"
    )
    parser.add_argument("--no-mocap", action="store_true", help="do not use motion capture")
    parser.add_argument(
        "--without",
        default="",
        metavar="SENSOR,...",
        help=f"sensors of the recording that are not used ({', '.join(DISPENSABLE)})",
    )
    parser.add_argument("--realtime", action="store_true", help="pace the input as it was recorded")
    add_topic_argument(parser)
    add_progress_argument(parser)


def run(args: argparse.Namespace) -> dict:
    """Replays a recording, keeps and prints the result."""
    config = Config.load(args.robot, args.config)
    robot = Robot(config.robot)
    args.bag = _where_it_lies(args.bag)
    out, without = _out(args), _without(args.without)
    folder: list[RunFolder] = []
    # the bag makes the folder in which the run's is made: they go in the other order
    with none_left_empty(out.parent), ExitStack() as unless_completed:

        def keep(estimate) -> None:
            if not folder:  # a run that never estimates anything leaves no folder
                beside = out.parent.name == RUNS
                folder.append(RunFolder(out.parent if beside else out.parent / RUNS, out.stem))
                unless_completed.enter_context(folder[0].if_completed())
            folder[0].add_pose(estimate)

        with progress_bar(args, "replay") as progress:
            summary = replay(
                args.bag,
                robot,
                config,
                out,
                mocap=not args.no_mocap,
                realtime=args.realtime,
                topics=topics_of(args),
                without=without,
                progress=progress,
                observer=keep,
            )
        result = _result(args, summary.to_dict(), out, folder[0])
        folder[0].write(config.to_dict(), "prime replay " + shlex.join(_command(args)), result)
    _report(args, summary, result)
    return result


def _result(args: argparse.Namespace, summary: dict, out: Path, folder: RunFolder) -> dict:
    """What was found, scored where the recording has the truth."""
    result = {**summary, "out": str(out), "folder": str(folder.path)}
    if _has_truth(args.bag):
        try:
            result["evaluation"] = evaluate(out, args.bag)
        except DataError as error:  # the estimate stands without its score
            warn(f"not scored: {error}")
    result["figures"] = _figures(out, args.bag, folder)
    return result


def _where_it_lies(bag: str) -> str:
    """Path of a recording that leads through no link of a folder: `latest` moves to this run."""
    folder = Path(bag).parent
    return bag if folder.resolve() == folder.absolute() else str(folder.resolve() / Path(bag).name)


def _out(args: argparse.Namespace) -> Path:
    if args.out:
        return Path(args.out)
    bag = named(args.bag)
    name = bag.stem if bag.suffix in (".mcap", ".db3") else bag.name  # a folder's may have points
    return Path(RUNS) / f"{name}.mcap"


def _without(names: str) -> list[str]:
    """Sensors of `--without`.

    Raises:
        ConfigError: there is no such sensor, or nothing can be estimated without it.
    """
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    for name in wanted:
        if name in NEEDED:
            what = "nothing is estimated without it"
            own = (
                "; for a robot that has none, a YAML with robot.imu_frame: ''"
                if name == "imu"
                else ""
            )
            raise ConfigError(f"--without {name}: {what}{own}", names)
        if name not in DISPENSABLE:
            raise ConfigError(
                f"--without {name}: no sensor that can be left out; give some of "
                f"{', '.join(DISPENSABLE)}",
                names,
            )
    return wanted


def _report(args: argparse.Namespace, summary: ReplaySummary, result: dict) -> None:
    if summary.notice:
        warn(summary.notice)
    times = f"{summary.data_seconds:.2f} s in {summary.wall_seconds:.2f} s"
    say(args, f"{summary.nodes} nodes of {times} from {', '.join(summary.topics.values())}")
    say_counts(args, summary.counts)
    if LOCKED_MOVED in summary.counts:
        warn(
            "locked joints moved: the model does not fit this robot, and forces and inertia "
            "cannot be trusted; see robot.locked_joints"
        )
    for doubt in summary.doubts:  # first: what follows may come of it
        warn(f"at the end, {doubt}")
    for sensor in summary.final.status.sensors:
        if sensor.message:
            robot = sensor.name == "robot"
            warn(f"the robot {sensor.message}" if robot else f"at the end, {sensor}")
    if result["restarts"]:
        warn(f"the estimate was lost and started anew {result['restarts']} times")
    misfits = any(s.name == "robot" and not s.ok for s in summary.final.status.sensors)
    if summary.doubts or misfits or result["restarts"]:
        bag, robot = shlex.quote(args.bag), shlex.quote(args.robot)
        warn(f"`prime doctor --bag {bag} --robot {robot}` looks for what does not fit")
    bodies = {
        name: [b["mass_kg"], b["mass_stddev_kg"], b["com_m"], b["observable"]]
        for name, b in result["bodies"].items()
    }
    bodies["total"] = [result["total_mass_kg"], result["total_mass_stddev_kg"], None, None]
    say(args, table("inertia", bodies, ("mass [kg]", "stddev [kg]", "com [m]", "observable")))
    if "evaluation" in result:
        from .evaluate import tables

        say(args, *tables(result["evaluation"]))
    say(args, f"wrote {result['out']} and {result['folder']}")


def _figures(out: Path, bag: str, folder: RunFolder) -> list[str]:
    if importlib.util.find_spec("matplotlib") is None:
        warn("no figures: pip install 'prime_estimation[viz]'")
        return []
    from ..viz.figures import save_figures

    return [str(p) for p in save_figures(out, bag, folder.path / "figures", named(bag).name)]


def _has_truth(bag: str) -> bool:
    with BagReader(bag) as reader:
        return "/ground_truth/odom" in reader.topics


def _command(args: argparse.Namespace) -> list[str]:
    options = [
        f"--{name.replace('_', '-')}" for name in ("no_mocap", "realtime") if getattr(args, name)
    ]
    values = [
        part
        for name in ("robot", "config", "out", "without")
        if getattr(args, name)
        for part in (f"--{name}", getattr(args, name))
    ]
    return [
        args.bag,
        *values,
        *options,
        *(part for pair in args.topic for part in ("--topic", pair)),
    ]
