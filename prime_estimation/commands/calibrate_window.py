# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""`prime calibrate --estimator window`: noise levels of the moving-horizon estimator."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np

from ..calibration.checkpoint import Checkpoint
from ..calibration.recording import SHORTEST
from ..calibration.window_noise import CalibratedLevels, calibrate_levels, sum_of
from ..calibration.window_outcome import WindowOutcome
from ..calibration.window_segment import WindowSegment, carry_through, look
from ..calibration.workers import DaskWorkers, Here
from ..config.parameters import Config
from ..errors import DataError
from ..io.bag import named
from ..recordings.samples import measurements
from ..robot import Robot
from .calibration_tables import use_of
from .console import progress_bar, say, say_counts, table, warn
from .offline import name_among
from .topics import topics_of


def calibrate_window(
    args: argparse.Namespace,
    config: Config,
    out: Path,
    crew: Here | DaskWorkers,
    checkpoint: Checkpoint,
    stop: Callable[[], bool],
) -> dict:
    """Find the levels, write the results, print them."""
    robot, notices = Robot(config.robot), []
    segments = _carried(args, args.bags, robot, config, crew, stop, notices)
    with progress_bar(args, "noise") as progress:
        levels = calibrate_levels(
            segments,
            config,
            crew,
            args.iterations,
            checkpoint.levels(),
            stop,
            progress,
            checkpoint.save_levels,
        )
    names, nodes = [named(b).name for b in args.bags], [len(s.xs) for s in segments]
    outcome = WindowOutcome(robot, config, args.robot, names, nodes, levels, notices=notices)
    if not levels.converged:
        iterations = len(levels.history)
        outcome.notices.append(f"not converged after {iterations} iterations; --resume goes on")
    if args.held_out and not stop():
        held = _carried(args, [args.held_out], robot, config, crew, stop, notices)[0]
        outcome.held_out = _tested(held, levels)
        outcome.held_out["run"] = named(args.held_out).name
    files = outcome.write(out)
    _report(args, outcome)
    say(args, "wrote " + ", ".join(files.values()), use_of(outcome, files))
    return {**outcome.to_dict(), "files": files}


def _carried(
    args: argparse.Namespace,
    bags: list[str],
    robot: Robot,
    config: Config,
    crew: Here | DaskWorkers,
    stop: Callable[[], bool],
    notices: list[str],
) -> list[WindowSegment]:
    """First guess of the states of recordings; `notices` gets what could not be read."""
    span, step, rows = (args.begin, args.end), config.estimator.step, []
    for bag in bags:
        counts: Counter[str] = Counter()
        told = dict(counted=counts.update, noticed=notices.append)
        with progress_bar(args, f"reading {named(bag).name}"):
            ms = measurements(bag, robot, step, topics=topics_of(args), span=span, **told)
        say_counts(args, counts, name_among(args, bag))
        if len(ms) < SHORTEST:
            raise DataError(
                f"{bag} gives {len(ms)} nodes; a calibration needs {SHORTEST} or more", bag
            )
        rows.append((robot, config, ms))
    with progress_bar(args, "first guess") as progress:
        return crew.run(carry_through, *zip(*rows), stop=stop, progress=progress)


def _tested(segment: WindowSegment, levels: CalibratedLevels) -> dict:
    """Residuals over what the levels expect of them, before and after."""
    out = {}
    for whose, tested in (("before", levels.shipped), ("after", levels.found)):
        found = sum_of([look(segment, tested)[0]])
        ratio = np.sqrt(found.squares / np.maximum(found.seen, 1e-9))
        out[whose] = dict(zip(tested, map(float, ratio)))
    return out


def _report(args: argparse.Namespace, outcome: WindowOutcome) -> None:
    for notice in outcome.notices:
        warn(notice)
    rows = {}
    for r in outcome.rows():
        low, high = r["interval"]
        told = "" if r["observable"] else "not observable"
        numbers = (f"{r['before']:.3g}", f"{r['after']:.3g}", f"[{low:.3g}, {high:.3g}]")
        rows[f"{r['name']} [{r['unit']}]"] = [*numbers, told]
    state = "converged" if outcome.levels.converged else "NOT converged"
    title = f"noise levels, {len(outcome.levels.history)} iterations, {state}"
    say(args, table(title, rows, ("before", "after", "95 % interval", "")))
    if outcome.held_out:
        before, after = outcome.held_out["before"], outcome.held_out["after"]
        rows = {name: [before[name], after[name]] for name in before}
        title = f"residuals over what is expected: {outcome.held_out['run']}"
        say(args, table(title, rows, ("before", "after")))
