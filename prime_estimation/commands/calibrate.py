# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""`prime calibrate`: kinematics and noise of a machine from recordings."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..calibration.checkpoint import FILE, Checkpoint
from ..calibration.frank_wolfe import ORACLES
from ..calibration.offsets import GROUPS
from ..calibration.outcome import CalibrationOutcome
from ..calibration.workers import workers
from ..config.parameters import Config
from ..errors import ConfigError
from .calibrate_kinematic import calibrate_kinematic
from .calibrate_window import calibrate_window
from .calibration_tables import report, use_of
from .console import add_progress_argument, interruptible, say
from .offline import out_folder, write_results
from .topics import add_span_arguments, add_topic_argument, check_span, topics_of

DESCRIPTION = """Calibrate what the URDF does not know of a machine, from recordings with motion
capture: tips of the feet (leg length included) or ankles over soles, place of the IMU, body that
the motion capture tracks, zeros of the joints; and the noise covariances of IMU, legs and slip
(--what noise), with which the estimate without motion capture comes closest to it.

All states of a recording are estimated at once from IMU, legs and motion capture. DIR gets the
robot's YAML with the offsets (for every verb and the node), calibration.json and report.html.
Several recordings of one machine are taken together.

--estimator window finds noise levels of the moving-horizon estimator instead, which needs no motion
capture; they are in the YAML."""
EXAMPLES = [
    "prime calibrate recordings/walk --robot go2 --out calibrated",
    "prime calibrate walk1 walk2 --robot go2 --what feet,mocap --held-out walk3 --out calibrated",
    "prime calibrate walk1 --robot go2 --what feet,imu,mocap,noise --out calibrated",
    "prime calibrate walk1 walk2 --robot go2 --estimator window --out calibrated",
    "prime calibrate walk1 walk2 --robot go2 --scheduler tcp://server:8786 --out calibrated",
]
DEFAULT = "feet,imu,mocap"
ITERATIONS = 15  # of the noise


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """BAGs and options."""
    parser.add_argument("bags", metavar="BAG", nargs="+", help="rosbag2 folder, .mcap or .db3 file")
    parser.add_argument(
        "--robot",
        required=True,
        metavar="NAME",
        help="go1, go2, ... or the path of a robot's YAML file",
    )
    parser.add_argument("--out", required=True, metavar="DIR", help="folder for the results")
    parser.add_argument(
        "--what",
        metavar="GROUPS",
        help=f"what to calibrate, of {', '.join(GROUPS)}, noise (default: {DEFAULT})",
    )
    parser.add_argument(
        "--estimator",
        choices=("kinematic", "window"),
        default="kinematic",
        help="whose parameters: offsets and noise of the kinematic estimator, or noise levels of "
        "the moving-horizon estimator that node and replay run (default: %(default)s)",
    )
    _add_noise_options(parser)
    parser.add_argument(
        "--held-out", metavar="BAG", help="recording of the same machine that only tests the result"
    )
    _add_cluster(parser)
    parser.add_argument("--config", metavar="Y", help="YAML file with changes to the defaults")
    add_span_arguments(parser)
    add_topic_argument(parser)
    add_progress_argument(parser)


def _add_noise_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--oracle",
        choices=ORACLES,
        help="linear minimization of --what noise: semidefinite program, or closed form over "
        f"Cholesky factors (default: {ORACLES[0]})",
    )
    parser.add_argument(
        "--iterations",
        type=int,
        metavar="N",
        help=f"most iterations of the noise (default: {ITERATIONS})",
    )
    parser.add_argument(
        "--resume",
        action="store_true",
        help=f"go on from the last iterate of the same command, {FILE} in DIR",
    )


def _add_cluster(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--workers",
        type=int,
        metavar="N",
        help="processes that share the recordings, in a local Dask cluster; 1: this process alone "
        "(default: one for each recording and core where Dask is installed)",
    )
    parser.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="existing Dask cluster that shares them, as tcp://host:8786",
    )


def run(args: argparse.Namespace) -> dict:
    """Calibrate, write the results, print them."""
    what = _groups(args)
    _check_bags(args)
    _complete_noise_options(args, what)
    config, out = Config.load(args.robot, args.config), out_folder(args)
    checkpoint = Checkpoint(out, _job(args, config, what))
    if args.resume:
        checkpoint.load()
    with (
        interruptible() as stop,  # also while a cluster starts and ends: else it is untidy
        workers(args.scheduler, args.workers, len(args.bags)) as crew,
    ):
        if args.estimator == "window":
            return calibrate_window(args, config, out, crew, checkpoint, stop)
        outcome = calibrate_kinematic(args, config, what, crew, checkpoint, stop)
        files = write_results(outcome, out, _report)
    report(args, outcome)
    say(args, "wrote " + ", ".join(files.values()), use_of(outcome, files))
    return {**outcome.to_dict(), "files": files}


def _report(outcome: CalibrationOutcome, out: Path) -> Path:
    from ..viz.calibration import write_calibration_report

    return write_calibration_report(outcome, out)


def _groups(args: argparse.Namespace) -> list[str]:
    if args.estimator == "window":
        if args.what not in (None, "noise"):
            raise ConfigError(
                f"--estimator window finds noise, not '{args.what}': leave --what out", args.what
            )
        return ["noise"]
    text = args.what or DEFAULT
    chosen = [w for w in dict.fromkeys(text.split(",")) if w]
    known = (*GROUPS, "noise")
    if not chosen or not set(chosen) <= set(known):
        raise ConfigError(f"--what is a list of {', '.join(known)}, got '{text}'", text)
    return chosen


def _complete_noise_options(args: argparse.Namespace, what: list[str]) -> None:
    """Defaults of what is not given; ConfigError where it is given in vain, or out of range."""
    least = 1 if args.estimator == "window" else 0
    if args.iterations is not None and args.iterations < least:
        raise ConfigError(
            f"--iterations must be {least} or more, got {args.iterations}", args.iterations
        )
    for name, used in (
        ("iterations", "noise" in what),
        ("oracle", "noise" in what and args.estimator != "window"),
    ):
        if getattr(args, name) is not None and not used:
            way = "add noise" if args.estimator == "kinematic" else "--estimator kinematic has it"
            raise ConfigError(f"--{name} is of --what noise; {way}, or leave it out", name)
    args.oracle = args.oracle or ORACLES[0]
    args.iterations = ITERATIONS if args.iterations is None else args.iterations


def _job(args: argparse.Namespace, config: Config, what: list[str]) -> dict:
    """What an iterate belongs to, plain values."""
    return {
        "recordings": [_recorded(bag) for bag in args.bags],
        "part": [args.begin, args.end],
        "topics": topics_of(args),
        "estimator": args.estimator,
        "what": what,
        "oracle": args.oracle,
        "configuration": config.to_dict(),
    }


def _recorded(bag: str) -> list:
    """Where a recording lies, and its bytes: by now another one may lie there."""
    path = Path(bag).resolve()
    files = path.rglob("*") if path.is_dir() else [path]
    return [str(path), sum(file.stat().st_size for file in files if file.is_file())]


def _check_bags(args: argparse.Namespace) -> None:
    bags = [Path(b).resolve() for b in [*args.bags, *([args.held_out] if args.held_out else [])]]
    if args.workers is not None and (args.workers < 1 or args.scheduler):
        raise ConfigError("--workers is 1 or more, and goes without --scheduler", args.workers)
    check_span(args)
    twice = next((str(bag) for bag in bags if bags.count(bag) > 1), None)
    if twice:
        raise ConfigError(f"{twice} was given twice", twice)
