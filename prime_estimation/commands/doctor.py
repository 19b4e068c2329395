# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""`prime doctor`: what is installed; how a robot is understood; what a recording says of it."""

from __future__ import annotations

import argparse
import importlib
import os
from importlib.metadata import PackageNotFoundError, version

from ..config.files import built_in_robots
from ..config.parameters import Config
from ..errors import ConfigError, PrimeError
from ..io.json_text import json_text
from ..io.trajectory import versions
from ..robot import Robot
from .console import add_progress_argument, say, table
from .suitability import described, hints
from .topics import add_topic_argument, topics_of

DESCRIPTION = """Say what is installed, what works, and how to get what is missing; with --robot,
how that robot is understood and which settings probably do not suit it; with --bag, what in a
recording (10 s of motion and more) does not fit: delays, order of legs, signs, IMU axes, units,
foot radius, weight, noise. Exit code 2 when the estimator cannot run, or nothing can be told of
the recording: it cannot be read, is too short, or has too many gaps."""
EXAMPLES = [
    "prime doctor",
    "prime doctor --robot my_robot.yaml",
    "prime doctor --bag run.mcap --robot go2",
    "prime doctor --json",
]
SECONDS = 60.0  # of a recording
OPTIONAL = {
    "mujoco": (
        "simulated robots (prime demo, prime simulate)",
        "pip install 'prime_estimation[sim]'",
    ),
    "matplotlib": ("figures", "pip install 'prime_estimation[viz]'"),
    "viser": ("the view in the browser", "pip install 'prime_estimation[viz]'"),
    "cyclonedds": (
        "the live node without a ROS 2 installation",
        "pip install 'prime_estimation[dds]' (Python 3.10 to 3.13)",
    ),
    "rclpy": ("the live node in a ROS 2 graph", "source /opt/ros/<distro>/setup.bash"),
    "cvxpy": (
        "the baseline of prime identify, --what noise of prime calibrate",
        "pip install 'prime_estimation[identify]'",
    ),
    "distributed": (
        "several processes of prime calibrate",
        "pip install 'prime_estimation[calibrate]'",
    ),
    "pyarrow": ("parquet files in prime convert", "pip install 'prime_estimation[convert]'"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the robot to look at."""
    parser.add_argument(
        "--robot",
        metavar="NAME",
        help="go1, go2, ... or the path of a robot's YAML file: check this robot",
    )
    parser.add_argument("--config", metavar="Y", help="YAML file with changes to the defaults")
    parser.add_argument(
        "--bag", metavar="RUN", help="examine this recording (rosbag2 folder, .mcap or .db3 file)"
    )
    parser.add_argument(
        "--seconds",
        type=float,
        metavar="S",
        help=f"of the recording, from its beginning (default: {SECONDS:g})",
    )
    add_topic_argument(parser)
    add_progress_argument(parser)


def _look_at(args: argparse.Namespace) -> dict:
    config = Config.load(args.robot, args.config)
    robot = Robot(config.robot)
    result = {"robot": described(robot, config), "hints": list(hints(robot, config))}
    say(args, table("robot", result["robot"]), *(f"hint: {hint}" for hint in result["hints"]))
    say(args, *([] if result["hints"] else ["its settings are of the right size"]))
    return result


def _check_unused(args: argparse.Namespace) -> None:
    """ConfigError where something is said of a recording, or of a robot, that is not given."""
    for name in ("seconds", "topic"):
        if getattr(args, name) not in (None, []) and args.bag is None:
            raise ConfigError(f"--{name} is of --bag; add --bag RUN, or leave it out", name)
    if args.config is not None and args.robot is None:
        raise ConfigError("--config is of a robot; add --robot NAME, or leave it out", args.config)


def _examine(args: argparse.Namespace) -> dict:
    if args.robot is None:
        raise ConfigError(
            "--bag without a robot; give --robot NAME, whose recording it is", args.bag
        )
    args.seconds = SECONDS if args.seconds is None else args.seconds
    if not args.seconds > 0.0:
        raise ConfigError(f"--seconds must be positive, got {args.seconds:g}", args.seconds)
    from .examination import examine_bag

    return examine_bag(args, topics_of(args))


def run(args: argparse.Namespace) -> dict:
    """Collects and prints; PrimeError when something that is needed does not work."""
    if args.bag is not None:  # also an empty name, of a variable that was not set
        return _examine(args)
    _check_unused(args)
    if args.robot is not None:
        return _look_at(args)
    problems: list[str] = []
    result = {
        "versions": versions(),
        "core": _core(problems),
        "robots": _robots(problems),
        "optional": {name: _optional(name) for name in OPTIONAL},
        "threads": {
            "cpus": os.cpu_count(),
            "usable": len(os.sched_getaffinity(0))
            if hasattr(os, "sched_getaffinity")
            else os.cpu_count(),
        },
    }
    result["problems"] = problems
    say(
        args,
        table("versions", result["versions"]),
        table("compiled core", {"prime_estimation._core": result["core"]}),
    )
    say(
        args,
        table("robots", result["robots"]),
        table("optional", result["optional"]),
        table("processor", result["threads"]),
    )
    if problems:
        if args.json:  # the answer is wanted most when something is wrong
            print(json_text(result))
        raise PrimeError("; ".join(problems), problems)
    say(args, "everything that is needed works")
    return result


def _core(problems: list[str]) -> str:
    try:
        module = importlib.import_module("prime_estimation._core")
    except ImportError as error:
        # it is linked against one exact version of each of these, so their versions belong into the
        # message
        linked = ", ".join(
            f"{name} {_version(name) or 'missing'}" for name in ("pin", "crocoddyl", "eigenpy")
        )
        problems.append(
            f"the compiled core cannot be imported ({error}; {linked}): reinstall "
            "prime_estimation in this environment with pip install ."
        )
        return "missing"
    return str(module.__file__)


def _robots(problems: list[str]) -> dict[str, str]:
    found = {}
    for name in built_in_robots():
        try:
            robot = Robot(Config.load(name).robot)
            found[name] = (
                f"{robot.nj} joints, {len(robot.contacts)} contacts, {robot.total_mass:.3f} kg"
            )
        except PrimeError as error:
            found[name] = f"cannot be used: {error}"
            problems.append(f"robot {name}: {error}")
    return found


def _optional(name: str) -> str:
    purpose, remedy = OPTIONAL[name]
    try:
        importlib.import_module(name)
    except Exception as error:  # noqa: BLE001 - a half-installed package may fail in any way
        why = (
            "" if isinstance(error, ModuleNotFoundError) else f" ({type(error).__name__}: {error})"
        )
        return f"missing{why}: {purpose}; {remedy}"
    return _version(name) or "present"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
