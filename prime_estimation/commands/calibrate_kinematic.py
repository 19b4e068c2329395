# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""`prime calibrate --estimator kinematic`: offsets, then noise, of the kinematic estimator."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from ..calibration.bilevel import NoiseObjective
from ..calibration.checkpoint import Checkpoint
from ..calibration.frank_wolfe import Descent, frank_wolfe
from ..calibration.fusion import fuse
from ..calibration.held_out import score
from ..calibration.leg_kinematics import Leg
from ..calibration.noise import NoiseModel
from ..calibration.observability import told_blocks
from ..calibration.offsets import GROUPS, Offsets
from ..calibration.outcome import CalibrationOutcome
from ..calibration.plausibility import check_run, noisy
from ..calibration.position_scale import check_scale
from ..calibration.recording import KinematicRecording, read_recording
from ..calibration.single import RunCalibration, calibrate_run
from ..calibration.smoother import Start
from ..calibration.suitability import (
    check_frame,
    check_motion,
    check_noise,
    check_turning,
    check_units,
    loses_contact,
)
from ..calibration.trajectory import initial_offsets
from ..calibration.travel import check_travel
from ..calibration.workers import DaskWorkers, Here, never
from ..config.parameters import Config
from ..errors import RobotError
from ..io.bag import named
from ..robot import Robot
from .console import progress_bar, say_counts
from .offline import name_among
from .topics import topics_of


def calibrate_kinematic(
    args: argparse.Namespace,
    config: Config,
    what: list[str],
    crew: Here | DaskWorkers,
    checkpoint: Checkpoint,
    stop: Callable[[], bool],
) -> CalibrationOutcome:
    """Offsets, then noise, of the kinematic estimator; Ctrl-C leaves out what is not begun."""
    robot = Robot(config.robot)
    legs = _legs(robot)
    noise = NoiseModel.of(config, len(legs[0].joints), any(leg.flat for leg in legs))
    recordings = [_read(args, bag, robot) for bag in args.bags]
    nominal = _check_recordings(recordings, robot, what)
    starts = [checkpoint.run(i) for i in range(len(recordings))]
    runs = _calibrate(args, crew, recordings, (robot, nominal, noise, what), starts, stop)
    for i, r in enumerate(runs):
        if r.result.iterations:
            checkpoint.save_run(i, r.result)
    begun = _begun(runs, robot, stop)
    outcome = CalibrationOutcome(robot, config, args.robot, what, noise, begun, fuse(begun))
    outcome.notices += [r.notice for r in recordings if r.notice]
    outcome.notices += _notices(runs) + [
        f"{r.name}: no foot ever leaves the ground; its offsets are those of this stance"
        for r in recordings
        if not loses_contact(r, robot, nominal)
    ]
    if "noise" in what and not stop():
        outcome.descent, outcome.told = _descend(args, crew, recordings, outcome, checkpoint, stop)
    if args.held_out and not stop():
        outcome.held_out.append(_held_out(args, crew, outcome))
    if stop():
        outcome.notices.append("stopped early; the same command with --resume goes on")
    return outcome


def _check_recordings(
    recordings: list[KinematicRecording], robot: Robot, what: list[str]
) -> Offsets:
    """Offsets that the prior is about; DataError for a recording that cannot calibrate."""
    nominal = Offsets.nominal(robot)
    for recording in recordings:
        check_motion(recording)
        check_units(recording)
        fitting = initial_offsets(recording, nominal)
        check_turning(recording, fitting)
        check_frame(recording, fitting)
        check_travel(recording, robot, fitting)
        check_scale(recording, robot, fitting)
    if "noise" in what:
        check_noise(recordings, robot, nominal)
    return initial_offsets(recordings[0], nominal) if "mocap" in what else nominal


def _begun(
    runs: list[RunCalibration], robot: Robot, stop: Callable[[], bool]
) -> list[RunCalibration]:
    """Runs that have an iterate.

    Raises:
        KeyboardInterrupt: Ctrl-C came before the first one.
        DataError: a recording does not fit, which is not said of an iterate that Ctrl-C left.
    """
    begun = [r for r in runs if r.result.iterations]
    if not begun:
        raise KeyboardInterrupt
    for r in begun:
        if not stop():
            check_run(r, robot)
    return begun


def _notices(runs: list[RunCalibration]) -> list[str]:
    ended = [
        f"{r.name}: not converged after {r.result.iterations} iterations"
        if r.result.iterations
        else f"{r.name}: not begun, and left out"
        for r in runs
        if not r.result.converged
    ]
    return ended + [
        f"{r.name}: its motion capture is noisier than noise.mocap_position and "
        "noise.mocap_rotation say; `prime doctor --bag` measures it"
        for r in runs
        if noisy(r)
    ]


def _legs(robot: Robot) -> list[Leg]:
    """Legs by feet; RobotError where they differ in their number of joints."""
    if not robot.feet:
        raise RobotError(f"{robot.name}: calibration needs feet (robot.contacts)", robot.config)
    legs = [Leg(robot, foot) for foot in robot.feet]
    if len({len(leg.joints) for leg in legs}) > 1:
        raise RobotError(f"{robot.name}: calibration needs legs of as many joints each", legs)
    return legs


def _read(args: argparse.Namespace, bag: str, robot: Robot) -> KinematicRecording:
    with progress_bar(args, f"reading {named(bag).name}") as progress:
        span = (args.begin, args.end)
        found = read_recording(bag, robot, topics=topics_of(args), span=span, progress=progress)
    say_counts(args, found.counts, name_among(args, bag))
    return found


def _calibrate(
    args: argparse.Namespace,
    crew: Here | DaskWorkers,
    recordings: list[KinematicRecording],
    task: tuple[Robot, Offsets, NoiseModel, list[str]],
    starts: list[Start | None],
    stop: Callable[[], bool],
) -> list[RunCalibration]:
    """Offsets from each recording."""
    robot, nominal, noise, what = task
    offsets = [group for group in what if group in GROUPS]
    rows = zip(*((r, robot, nominal, noise, offsets, s) for r, s in zip(recordings, starts)))
    with progress_bar(args, "offsets") as progress:
        return crew.run(calibrate_run, *rows, stop=stop, progress=progress)


def _descend(
    args: argparse.Namespace,
    crew: Here | DaskWorkers,
    recordings: list[KinematicRecording],
    outcome: CalibrationOutcome,
    checkpoint: Checkpoint,
    stop: Callable[[], bool],
) -> tuple[Descent, dict[str, bool]]:
    """Noise covariances from the recordings, with the offsets found; which of them are told."""
    noise, references = outcome.noise, [r.result.trajectory.velocity for r in outcome.runs]
    objective = NoiseObjective(
        outcome.robot, recordings, outcome.fused.offsets, noise, references, workers=crew
    )
    with progress_bar(args, "noise") as progress:
        descent = frank_wolfe(
            objective,
            noise,
            args.oracle,
            iterations=args.iterations,
            stop=stop,
            progress=progress,
            start=checkpoint.descent(noise),
            keep=checkpoint.save_descent,
        )
    return descent, {} if stop() else told_blocks(objective, descent.noise)


def _held_out(
    args: argparse.Namespace, crew: Here | DaskWorkers, outcome: CalibrationOutcome
) -> dict:
    """Scores with the model's, the calibrated and the recording's own offsets."""
    robot, fused, noise = outcome.robot, outcome.fused, outcome.noise
    recording = _read(args, args.held_out, robot)
    outcome.notices += [recording.notice] if recording.notice else []
    task = robot, fused.nominal, noise, outcome.what
    own = _calibrate(args, crew, [recording], task, [None], never)[0]
    tested = {
        "model": (Offsets.nominal(robot), noise),
        "calibrated": (fused.offsets, noise),
        "its own": (own.result.offsets, noise),
    }
    if outcome.descent is not None:
        tested["with noise"] = fused.offsets, outcome.descent.noise
    rows = zip(*((robot, recording, *with_these) for with_these in tested.values()))
    scores = [found.to_dict() for found in crew.map(score, *rows)]
    return {"run": recording.name, **dict(zip(tested, scores))}
