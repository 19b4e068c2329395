# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""`prime calibrate`: kinematic offsets and noise of a machine from recordings with mocap."""

from __future__ import annotations

import argparse
import importlib.util
from pathlib import Path

from rich.table import Table

from ..calibration.bilevel import NoiseObjective
from ..calibration.frank_wolfe import ORACLES, Descent, frank_wolfe
from ..calibration.fusion import FusedOffsets, fuse
from ..calibration.held_out import score
from ..calibration.leg_kinematics import Leg
from ..calibration.noise import NoiseModel
from ..calibration.offsets import GROUPS, Offsets
from ..calibration.outcome import CalibrationOutcome
from ..calibration.recording import KinematicRecording, read_recording
from ..calibration.single import RunCalibration, calibrate_run
from ..calibration.trajectory import initial_offsets
from ..config.parameters import Config
from ..errors import ConfigError, RobotError
from ..robot import Robot
from .console import add_progress_argument, interruptible, progress_bar, say, table, warn
from .offline import out_folder
from .topics import add_span_arguments, add_topic_argument, topics_of

DESCRIPTION = """Calibrate what the URDF does not know of a machine, from recordings with motion
capture: tips of the feet (leg length included), place of the IMU, body that the motion capture
tracks, zeros of the joints; and the noise covariances of IMU, legs and slip (--what noise), with
which the estimate without motion capture comes closest to it.

All states of a recording are estimated at once from IMU, legs and motion capture. DIR gets the
robot's YAML with the offsets (for every verb and the node), calibration.json and report.html.
Several recordings of one machine are taken together."""
EXAMPLES = [
    "prime calibrate recordings/walk --robot go2 --out calibrated",
    "prime calibrate walk1 walk2 --robot go2 --what feet,mocap --held-out walk3 --out calibrated",
    "prime calibrate walk1 --robot go2 --what feet,imu,mocap,noise --out calibrated",
]
DEFAULT = "feet,imu,mocap"


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
        default=DEFAULT,
        metavar="GROUPS",
        help=f"what to calibrate, of {', '.join(GROUPS)}, noise (default: {DEFAULT})",
    )
    parser.add_argument(
        "--oracle",
        choices=ORACLES,
        default=ORACLES[0],
        help="linear minimization of --what noise: semidefinite program, or closed form over "
        "Cholesky factors (default: %(default)s)",
    )
    parser.add_argument(
        "--iterations",
        type=int,
        default=15,
        metavar="N",
        help="most iterations of --what noise (default: %(default)s)",
    )
    parser.add_argument(
        "--held-out", metavar="BAG", help="recording of the same machine that only tests the result"
    )
    parser.add_argument("--config", metavar="Y", help="YAML file with changes to the defaults")
    add_span_arguments(parser)
    add_topic_argument(parser)
    add_progress_argument(parser)


def run(args: argparse.Namespace) -> dict:
    """Calibrate, write the results, print them."""
    what = _groups(args.what)
    _check_bags(args)
    config, out = Config.load(args.robot, args.config), out_folder(args)
    robot = Robot(config.robot)
    noise = NoiseModel.of(config, _leg_joints(robot))
    recordings = [_read(args, bag, robot) for bag in args.bags]
    nominal = Offsets.nominal(robot)
    if "mocap" in what:
        nominal = initial_offsets(recordings[0], nominal)
    runs = [_calibrate(args, r, robot, nominal, noise, what) for r in recordings]
    outcome = CalibrationOutcome(robot, config, args.robot, what, runs, fuse(runs))
    outcome.notices += [
        f"{r.recording.name}: not converged after {r.result.iterations} iterations"
        for r in runs
        if not r.result.converged
    ]
    if "noise" in what:
        outcome.descent = _descend(args, runs, outcome.fused, robot, noise)
    if args.held_out:
        outcome.held_out.append(_held_out(args, outcome, noise))
    files = outcome.write(out)
    if importlib.util.find_spec("matplotlib") is None:
        outcome.notices.append("no report.html: pip install 'prime_estimation[viz]'")
    else:
        from ..viz.calibration import write_calibration_report

        files["report"] = str(write_calibration_report(outcome, out))
    _report(args, outcome)
    say(args, "wrote " + ", ".join(files.values()), f"use it as --robot {files['yaml']}")
    return {**outcome.to_dict(), "files": files}


def _groups(text: str) -> list[str]:
    chosen = [w for w in dict.fromkeys(text.split(",")) if w]
    known = (*GROUPS, "noise")
    if not chosen or not set(chosen) <= set(known):
        raise ConfigError(f"--what is a list of {', '.join(known)}, got '{text}'", text)
    return chosen


def _check_bags(args: argparse.Namespace) -> None:
    bags = [Path(b).resolve() for b in [*args.bags, *([args.held_out] if args.held_out else [])]]
    if not args.begin < args.end:
        raise ConfigError(f"nothing lies between --from {args.begin:g} and --to {args.end:g}")
    twice = next((str(bag) for bag in bags if bags.count(bag) > 1), None)
    if twice:
        raise ConfigError(f"{twice} was given twice", twice)


def _leg_joints(robot: Robot) -> int:
    """Joints of each leg; RobotError where legs differ."""
    if not robot.feet:
        raise RobotError(f"{robot.name}: calibration needs feet (robot.contacts)", robot.config)
    counts = {len(Leg(robot, foot).joints) for foot in robot.feet}
    if len(counts) > 1:
        raise RobotError(f"{robot.name}: calibration needs legs of as many joints each", counts)
    return counts.pop()


def _read(args: argparse.Namespace, bag: str, robot: Robot) -> KinematicRecording:
    with progress_bar(args, f"reading {Path(bag).name}") as progress:
        span = (args.begin, args.end)
        return read_recording(bag, robot, topics=topics_of(args), span=span, progress=progress)


def _calibrate(
    args: argparse.Namespace,
    recording: KinematicRecording,
    robot: Robot,
    nominal: Offsets,
    noise: NoiseModel,
    what: list[str],
) -> RunCalibration:
    with progress_bar(args, recording.name) as progress, interruptible() as stop:
        offsets = [group for group in what if group in GROUPS]
        return calibrate_run(recording, robot, nominal, noise, offsets, stop, progress)


def _descend(
    args: argparse.Namespace,
    runs: list[RunCalibration],
    fused: FusedOffsets,
    robot: Robot,
    noise: NoiseModel,
) -> Descent:
    """Noise covariances from the recordings, with the offsets found."""
    recordings = [r.recording for r in runs]
    references = [r.result.trajectory.velocity for r in runs]
    objective = NoiseObjective(robot, recordings, fused.offsets, noise, references)
    with progress_bar(args, "noise") as progress, interruptible() as stop:
        options = dict(iterations=args.iterations, stop=stop, progress=progress)
        return frank_wolfe(objective, noise, args.oracle, **options)


def _held_out(args: argparse.Namespace, outcome: CalibrationOutcome, noise: NoiseModel) -> dict:
    """Scores with the model's, the calibrated and the recording's own offsets."""
    robot, fused = outcome.robot, outcome.fused
    recording = _read(args, args.held_out, robot)
    own = _calibrate(args, recording, robot, fused.nominal, noise, outcome.what)
    unknown = Offsets.nominal(robot)
    tested = {"model": unknown, "calibrated": fused.offsets, "its own": own.result.offsets}
    scores = {k: score(robot, recording, o, noise).to_dict() for k, o in tested.items()}
    if outcome.descent is not None:
        found = score(robot, recording, fused.offsets, outcome.descent.noise)
        scores["with noise"] = found.to_dict()
    return {"run": recording.name, **scores}


def _report(args: argparse.Namespace, outcome: CalibrationOutcome) -> None:
    """Tables for people."""
    for notice in outcome.notices:
        warn(notice)
    for r in outcome.runs:
        state = "converged" if r.result.converged else "NOT converged"
        effort = f"{r.result.iterations} iterations in {r.seconds:.1f} s, {state}"
        say(args, f"{r.recording.name}: {len(r.recording)} nodes, {effort}")
    if len(outcome.fused.free):
        say(args, _offset_table(outcome))
    if outcome.descent is not None:
        say(args, _noise_table(outcome))
    for scores in outcome.held_out:
        columns = [k for k in scores if k != "run"]
        rows = {m: [scores[c][m] for c in columns] for m in scores[columns[0]]}
        say(args, table(f"without motion capture: {scores['run']}", rows, tuple(columns)))


def _offset_table(outcome: CalibrationOutcome) -> Table:
    rows = {}
    for r in outcome.rows():
        scale, unit = (1e3, "mm") if r["unit"] == "m" else (57.29578, "deg")
        low, high = (scale * v for v in r["interval"])
        told = "" if r["observable"] else "not observable"
        parts = (scale * r[k] for k in ("value", "statistical", "systematic"))
        value, *rest = (f"{v:.2f}" for v in parts)
        rows[f"{r['name']} [{unit}]"] = [value, f"[{low:.2f}, {high:.2f}]", *rest, told]
    columns = ("offset", "95 % interval", "statistical", "systematic", "")
    return table("offsets, true minus model", rows, columns)


def _noise_table(outcome: CalibrationOutcome) -> Table:
    rows = {}
    for row in outcome.noise_rows():
        before, after = (" ".join(f"{v:.3g}" for v in row[k]) for k in ("before", "after"))
        rows[f"{row['name']} [{row['unit']}]"] = [before, after, f"{row['correlation']:.2f}"]
    d = outcome.descent
    state = "gap closed" if d.converged else "gap still open"
    title = f"noise, loss {d.before:.4g} -> {d.after:.4g}, {len(d.history)} iterations, {state}"
    return table(title, rows, ("before", "after", "largest correlation"))
