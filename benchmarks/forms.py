# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Two forms of one estimation problem, compared on recorded runs.

    forward:  u = (w, xi),   v+ from the contact Newton
    inverse:  u = (v+, xi),  w = g(v+)/dt is a residual

    python benchmarks/forms.py [RUN ...] [--robot go2] [--seconds 12] [--batch 2] [--part start
    optimum online speed] [--json]

start: batch solution from the raw guess, at several points of each run. optimum: full information
    of the first seconds, from one
initial trajectory, a solution with softer contacts; Crocoddyl's FDDP on the same problem. online:
the sliding window. speed: process time per node. Needs prime_estimation installed, or PYTHONPATH
set to the repository.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

import numpy as np
from one_problem import FORMS, form_config, optima, speed
from recordings import add_runs, excerpt, table, true_motion
from scores import online_figures

from prime_estimation.config.parameters import Config
from prime_estimation.errors import PrimeError
from prime_estimation.mhe.batch_solution import HELD_ITERATIONS
from prime_estimation.mhe.initialization import start_window
from prime_estimation.mhe.problem import Problem
from prime_estimation.mhe.window import Window
from prime_estimation.recordings.samples import measurements
from prime_estimation.robot import Robot
from prime_estimation.types import Measurement

START_SPEED_ERROR = 0.05  # m/s rms over a batch: above it, the start is not one
START_LIMIT = 60  # iterations, to see how many are needed


# --- start ----------------------------------------------------------------------------------------


def starts(bag: Path, robot: str, every: float, end: float, mocap: bool) -> list[dict]:
    """One row per form: batches that begin every `every` seconds, from the raw guess."""
    truth, rows = true_motion(bag, end), []
    for form in FORMS:
        config = form_config(robot, form, start_iterations=START_LIMIT)
        problem = Problem(Robot(config.robot), config, ("mocap",) if mocap else ())
        ms = measurements(bag, problem.robot, config.estimator.step, mocap=mocap, span=(0.0, end))
        size = config.estimator.start_nodes
        batches = [
            ms[k : k + size] for k in range(0, len(ms) - size, round(every / config.estimator.step))
        ]
        rows.append(
            {
                "run": bag.name,
                "mocap": "yes" if mocap else "no",
                "form": form,
                **_start_figures(problem, batches, truth),
            }
        )
    return rows


def _start_figures(problem: Problem, batches: list[list[Measurement]], truth) -> dict:
    iterations, costs, errors, failed, allowed = [], [], [], [], Config().estimator.start_iterations
    for batch in batches:
        try:
            window = start_window(problem, batch)
        except PrimeError as error:
            failed.append(str(error))
            continue
        iterations.append(HELD_ITERATIONS + window.solver.iter)
        costs.append(window.solver.cost)
        errors.append(_speed_error(window, truth))
    good = np.array(errors) < START_SPEED_ERROR
    return {
        "batches": len(batches),
        "failed": len(failed),
        "good": int(good.sum()),
        "within limit": int(np.sum(good & (np.array(iterations) <= HELD_ITERATIONS + allowed))),
        "iterations, median": float(np.median(iterations)) if iterations else None,
        "iterations, 90 %": float(np.percentile(iterations, 90)) if iterations else None,
        "cost, median": float(np.median(costs)) if costs else None,
        "speed error, median [mm/s]": 1e3 * float(np.median(errors)) if errors else None,
        "speed error, worst [mm/s]": 1e3 * float(np.max(errors)) if errors else None,
    }


def _speed_error(window: Window, truth) -> float:
    """Root mean square error [m/s] of the base velocity over the batch.

    That of a node is the mean over the step before it.
    """
    nq, half = window.problem.nq, 0.5 * window.problem.dt
    v = np.array([x[nq : nq + 3] for x in window.xs[1:]])
    t = np.array(window.stamps[1:]) * 1e-9 - half
    true = np.stack([np.interp(t, truth.t, column) for column in truth.velocity.T], axis=1)
    return float(np.sqrt(np.mean(np.sum((v - true) ** 2, axis=1))))


# --- online ---------------------------------------------------------------------------------------


def online(
    bag: Path, robot: str, end: float, mocap: bool, iterations: int, folder: Path
) -> list[dict]:
    """Sliding window of both forms, with a number of iterations per node."""
    run, rows = excerpt(bag, end, folder), []
    for form in FORMS:
        rows.append(
            {
                "run": bag.name,
                "mocap": "yes" if mocap else "no",
                "iterations": iterations,
                "form": form,
            }
        )
        try:
            rows[-1] |= online_figures(
                run, bag, form_config(robot, form, iterations=iterations), mocap, folder
            )
        except (PrimeError, RuntimeError) as error:
            rows[-1]["error"] = " ".join(str(error).split())
    return rows


# --- the tables -----------------------------------------------------------------------------------

COLUMNS = {
    "start": {
        "run": "", "mocap": "", "form": "", "batches": "d", "failed": "d", "good": "d",
        "within limit": "d", "iterations, median": ".0f",
        "iterations, 90 %": ".0f", "cost, median": ".1f", "speed error, median [mm/s]": ".1f",
        "speed error, worst [mm/s]": ".1f",
    },
    "optimum": {
        "run": "", "nodes": "d", "form": "", "solver": "", "to 1e-4": "d", "to 1e-8": "d",
        "iterations": "d", "cost": ".6f", "gap": ".0e",
        "CPU [s]": ".1f", "dq": ".1e", "dv": ".1e", "dp": ".1e", "error": "",
    },
    "online": {
        "run": "", "mocap": "", "iterations": "d", "form": "", "mass error [kg]": "+.3f",
        "velocity [mm/s]": ".1f", "drift [%]": ".2f",
        "force 40 ms [%]": ".1f", "F1": ".3f", "refused": "d", "restarts": "d", "error": "",
    },
    "speed": {
        "run": "", "form": "", "calc": ".0f", "linearization": ".0f", "iteration": ".0f",
        "backward pass (Crocoddyl)": ".0f",
    },
}  # fmt: skip


def compare(part: str, bag: Path, args: argparse.Namespace, folder: Path) -> list[dict]:
    """Rows of one part on one run."""
    if part == "start":
        return [
            row
            for mocap in (True, False)
            for row in starts(bag, args.robot, args.every, args.seconds, mocap)
        ]
    if part == "optimum":
        return optima(bag, args.robot, args.batch)
    if part == "speed":
        return speed(bag, args.robot, args.batch)
    cases = [(True, 1), (False, 1), (False, 3)]
    return [
        row for mocap, n in cases for row in online(bag, args.robot, args.seconds, mocap, n, folder)
    ]


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_runs(parser)
    parser.add_argument(
        "--seconds", type=float, default=12.0, help="of each run, for start and online"
    )
    parser.add_argument(
        "--every", type=float, default=0.73, help="seconds between the batches of `start`"
    )
    parser.add_argument("--batch", type=float, default=2.0, help="seconds of full information")
    parser.add_argument("--part", nargs="+", choices=list(COLUMNS), default=list(COLUMNS))
    parser.add_argument("--json", action="store_true", help="JSON instead of tables")
    args = parser.parse_args()
    results: dict[str, list] = {part: [] for part in args.part}
    with tempfile.TemporaryDirectory() as scratch:
        for part in args.part:
            for bag in args.runs:
                print(f"{part}: {bag.name}", file=sys.stderr, flush=True)
                try:
                    results[part] += compare(part, bag, args, Path(scratch))
                except PrimeError as error:
                    print(f"forms: {error}", file=sys.stderr)
                    return 2
            if not args.json:
                print(f"\n{part}\n\n{table(results[part], COLUMNS[part])}", flush=True)
    if args.json:
        print(json.dumps(results, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
