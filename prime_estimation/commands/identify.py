# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""`prime identify`: inertial parameters from whole recordings."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from ..config.parameters import Config
from ..errors import ConfigError, Stopped
from ..identify.fusion import check_agreement, fuse
from ..identify.held_out import cross_validate, leave_one_out
from ..identify.joint_notices import joint_notices
from ..identify.joints import fuse_joints
from ..identify.least_squares import baseline
from ..identify.outcome import Outcome
from ..identify.single import Run
from ..identify.tare import tare, tare_joints, write_tare
from ..io.bag import named
from ..mhe.joint_parameters import GAINS, chosen
from ..robot import Robot
from .console import interruptible, progress_bar, say, say_counts, table, warn
from .identify_tables import joint_table, report
from .offline import (
    add_offline_arguments,
    estimate_run,
    live_config,
    name_among,
    offline_config,
    out_folder,
    write_results,
)

DESCRIPTION = """Identify mass, centre of mass and rotational inertia of chosen links from one or
several recordings.

All data of a recording are estimated at once (trajectory, contact forces, friction, inertia). DIR
gets the patched URDF, a YAML for the live node, identification.json and report.html. What the
motion did not excite is said to be not observable. Ctrl-C ends the iterations and keeps the last
iterate."""
EXAMPLES = [
    "prime identify recordings/go2_payload3 --robot go2 --links base --out identified",
    "prime identify run1 run2 run3 --robot go2 --links base --held-out run4 --out identified",
    "prime identify walk --robot go2 --joints losses,gains,zeros --out identified",
    "prime identify loaded_with_5kg --robot go2 --tare 21.085 --joints losses,gains --out tared",
]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds BAGs and options."""
    parser.add_argument("bags", metavar="BAG", nargs="+", help="rosbag2 folder, .mcap or .db3 file")
    parser.add_argument(
        "--links",
        nargs="+",
        metavar="LINK",
        help="moving links to identify (default: those of the robot's YAML, or the base)",
    )
    parser.add_argument(
        "--held-out",
        metavar="BAG",
        help="recording of the same robot that is only used to check the result",
    )
    parser.add_argument(
        "--joints",
        metavar="WHAT",
        help="estimate these of the joints beside the inertia: losses, stribeck, gains, offsets, "
        "delay, zeros (a list with commas), or single ones: armature, damping, ...",
    )
    parser.add_argument(
        "--tare",
        type=float,
        metavar="KG",
        help="the robot's known total mass: find torque scale (with --joints: what is asked for "
        "there, per joint) and friction, and write them to its YAML",
    )
    add_offline_arguments(parser)


def run(args: argparse.Namespace) -> dict:
    """Identifies, writes the results, prints them."""
    _check_bags(args)
    live, config = live_config(args, args.links), offline_config(args, args.links)
    if args.joints is not None:
        asked = chosen(args.joints)
        if args.tare is not None and GAINS not in asked:
            what = f"--tare tells gains, which --joints {args.joints} leaves out"
            raise ConfigError(f"{what}; add gains, or leave --joints out", args.joints)
        config = config.updated(
            {"estimator": {"joint_parameters": ",".join(asked)}}, "command line"
        )
    robot = Robot(config.robot)
    out = out_folder(args)
    with interruptible() as stop:
        if args.tare is not None:
            return _tare(args, config, robot, live, stop)
        outcome = _outcome(args, config, robot, live, stop)
        files = write_results(outcome, out, _report)
    report(args, outcome)
    say(args, "wrote " + ", ".join(files.values()))
    return {**outcome.to_dict(), "files": files}


def _outcome(
    args: argparse.Namespace, config: Config, robot: Robot, live: Config, stop: Callable[[], bool]
) -> Outcome:
    """What all recordings together say; `live`: configuration of the live node."""
    held_out = [args.held_out] if args.held_out else []
    runs, left_out = _identify_all(args, [*args.bags, *held_out], robot, config, stop)
    validation = runs.pop() if held_out and not left_out else None
    if not stop():  # which is not asked of an iterate that Ctrl-C left
        check_agreement(runs)
    outcome = Outcome(
        robot,
        live,
        runs,
        fuse([r.posterior for r in runs]),
        notices=[n for r in runs for n in r.notices] + left_out,
    )
    if runs[0].joints is not None:
        outcome.joints = fuse_joints([r.joints for r in runs], [r.name for r in runs])
        outcome.notices += joint_notices(outcome.joints)
    outcome.held_out = _validate(runs, validation, outcome)
    outcome.baseline, missing = baseline([r.result.window for r in runs], outcome.posterior)
    outcome.notices += missing
    return outcome


def _identify_all(
    args: argparse.Namespace,
    bags: list[str],
    robot: Robot,
    config: Config,
    stop: Callable[[], bool],
) -> tuple[list[Run], list[str]]:
    """Runs of the recordings up to a Ctrl-C, and notices of those that it left out.

    Raises:
        Stopped: before the first one had an iterate.
    """
    runs: list[Run] = []
    for bag in bags:
        try:
            if not (runs and stop()):
                runs.append(_identify(args, bag, robot, config, stop))
        except Stopped:
            if not runs:
                raise
    return runs, [f"{named(bag).name}: not begun, and left out" for bag in bags[len(runs) :]]


def _report(outcome: Outcome, out: Path) -> Path:
    from ..viz.identification import write_report

    return write_report(outcome, out)


def _check_bags(args: argparse.Namespace) -> None:
    """Refuses a recording that is given twice: it adds no information, and is not held out."""
    bags = [
        Path(bag).resolve() for bag in [*args.bags, *([args.held_out] if args.held_out else [])]
    ]
    twice = next((str(bag) for bag in bags if bags.count(bag) > 1), None)
    if twice:
        raise ConfigError(f"{twice} was given twice; give every recording once", twice)


def _tare(
    args: argparse.Namespace, config: Config, robot: Robot, live: Config, stop: Callable[[], bool]
) -> dict:
    """Finds torque scale and friction for the robot's YAML (`--tare`); `live`: as of `_outcome`."""
    if len(args.bags) > 1:
        raise ConfigError(f"--tare wants one recording, got {len(args.bags)}", args.bags)
    if args.held_out:
        raise ConfigError(
            "--tare tests nothing on --held-out; leave one of them out", args.held_out
        )
    if not args.tare > 0.0:
        raise ConfigError(f"--tare wants the robot's total mass, got {args.tare:g} kg", args.tare)
    found_run = _identify(args, args.bags[0], robot, config, stop)
    if found_run.joints is not None:
        return _tare_joints(args, robot, live, found_run)
    found = tare(found_run, args.tare)
    path = write_tare(found, robot, live, args.robot, args.out, found_run.unfinished)
    for notice in found_run.notices:
        warn(notice)
    result = {**asdict(found), "notices": found_run.notices, "files": {"yaml": str(path)}}
    rows = {
        "torque scale": [found.torque_scale, found.torque_scale_stddev],
        "friction": [found.friction, found.friction_stddev],
        "total mass before [kg]": [found.mass_before, None],
    }
    say(
        args,
        table(f"tare with {found.mass_known:g} kg", rows, ("value", "stddev")),
        f"wrote {path}; use it as --robot {path}",
    )
    return result


def _tare_joints(args: argparse.Namespace, robot: Robot, live: Config, run: Run) -> dict:
    """Finds joint parameters and friction for the robot's YAML (`--tare` with `--joints`)."""
    found = tare_joints(run, args.tare)
    # what was found stands in the YAML: it is not looked for again
    live = live.updated({"estimator": {"joint_parameters": ""}})
    path = write_tare(found, robot, live, args.robot, args.out, run.unfinished)
    quantities = found.joints.quantities()
    notices = [*run.notices, *joint_notices(found.joints)]
    for notice in notices:
        warn(notice)
    say(args, joint_table(found.joints, f"tare with {found.mass_known:g} kg"))
    say(
        args,
        f"total mass before {found.mass_before:.3f} kg",
        f"wrote {path}; use it as --robot {path}",
    )
    return {
        "joints": [q.to_dict() for q in quantities],
        "friction": found.friction,
        "friction_stddev": found.friction_stddev,
        "mass_before": found.mass_before,
        "mass_known": found.mass_known,
        "notices": notices,
        "files": {"yaml": str(path)},
    }


def _identify(
    args: argparse.Namespace, bag: str, robot: Robot, config: Config, stop: Callable[[], bool]
) -> Run:
    with progress_bar(args, named(bag).name) as progress:
        run = estimate_run(args, bag, robot, config, progress, stop)
    say_counts(args, run.counts, name_among(args, bag))
    return run


def _validate(runs: list[Run], validation: Run | None, outcome: Outcome) -> list[dict]:
    if validation is not None:
        return [cross_validate(validation, outcome.posterior)]
    return leave_one_out(runs, fuse) if len(runs) > 1 else []
