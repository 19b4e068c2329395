# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Two forms of one estimation problem, compared on recorded runs.

    forward:  u = (w, xi),  v+ from the contact Newton          inverse:  u = (v+, xi),  w = g(v+)/dt is a residual

    python benchmarks/forms.py [RUN ...] [--robot go2] [--seconds 12] [--batch 2] [--part start optimum online speed] [--json]

start: batch solution from the raw guess, at several points of each run. optimum: full information of the first seconds, from one
initial trajectory; Crocoddyl's FDDP on the same problem. online: the sliding window. speed: process time per node. Needs
prime_estimation installed, or PYTHONPATH set to the repository.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

import crocoddyl
import numpy as np
from recordings import RUNS, excerpt, measurements, swapped, table, true_motion

from prime_estimation import _core
from prime_estimation import full_information as full_information_module
from prime_estimation.config import Config
from prime_estimation.errors import PrimeError
from prime_estimation.estimator import Estimator
from prime_estimation.evaluate import evaluate
from prime_estimation.full_information import full_information
from prime_estimation.problem import Problem
from prime_estimation.replay import replay
from prime_estimation.robot import Robot
from prime_estimation.start import HELD_ITERATIONS, start_window
from prime_estimation.types import Measurement
from prime_estimation.window import Window

FORMS = ("forward", "inverse")
START_SPEED_ERROR = 0.05  # m/s rms over a batch: above it, the start is not one
START_LIMIT = 60  # iterations, to see how many are needed
LIMIT, TOLERANCE = 150, 1e-13  # of the search for the optimum, and where to stop, relative to the cost


def _config(robot: str, form: str, **estimator) -> Config:
    return Config.load(robot).updated({"estimator": {"form": form, **estimator}})


# --- start --------------------------------------------------------------------------------------------------------


def starts(bag: Path, robot: str, every: float, end: float, mocap: bool) -> list[dict]:
    """One row per form: batches that begin every `every` seconds, from the raw guess."""
    truth, rows = true_motion(bag, end), []
    for form in FORMS:
        config = _config(robot, form, start_iterations=START_LIMIT)
        problem = Problem(Robot(config.robot), config, mocap)
        ms = measurements(bag, problem.robot, config, end, mocap)
        size = round(config.estimator.start_duration / config.estimator.step)
        batches = [ms[k : k + size] for k in range(0, len(ms) - size, round(every / config.estimator.step))]
        rows.append({"run": bag.name, "mocap": "yes" if mocap else "no", "form": form, **_start_figures(problem, batches, truth)})
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
    """Root mean square error [m/s] of the base velocity over the batch; that of a node is the mean over the step before it."""
    nq, half = window.problem.nq, 0.5 * window.problem.dt
    v = np.array([x[nq : nq + 3] for x in window.xs[1:]])
    t = np.array(window.stamps[1:]) * 1e-9 - half
    true = np.stack([np.interp(t, truth.t, column) for column in truth.velocity.T], axis=1)
    return float(np.sqrt(np.mean(np.sum((v - true) ** 2, axis=1))))


# --- one optimum --------------------------------------------------------------------------------------------------


def same_problem(bag: Path, robot: str, end: float, mocap: bool = True) -> dict[str, Window]:
    """Full-information windows of both forms over the first `end` seconds: same inputs, prior and initial trajectory.

    The trajectory is that of the forward form's sliding window. The weights of the contact disturbance, which full information
    renews after every round, are those of its solution: one problem, on which iterations can be counted.
    """
    config = _config(robot, "forward")
    estimator = Estimator(Robot(config.robot), config, mocap)
    with swapped(full_information_module, ROUNDS=0):
        window = full_information(estimator, measurements(bag, estimator.robot, config, end, mocap))
    initial, controls = [x.copy() for x in window.xs], [u.copy() for u in window.us]
    for _ in range(full_information_module.ROUNDS):
        window.solve(full_information_module.ITERATIONS)
    nq, nv = window.problem.nq, window.problem.nv
    windows = {}
    for form in FORMS:
        config = _config(robot, form)
        problem = Problem(Robot(config.robot), config, mocap)
        arrival = _core.ActionArrival(problem.state, window.arrival.reference, window.arrival.covariance)
        us = controls if form == "forward" else [np.r_[x[nq : nq + nv], u[nv:]] for x, u in zip(initial[1:], controls)]
        windows[form] = Window(problem, arrival, window.inputs, window.stamps, initial, us)
    return windows


def trajectory(window: Window) -> tuple[list, list]:
    """States and controls of the window with the arrival node in front, as solvers take them."""
    correction = window.problem.state.diff(window.arrival.reference, window.xs[0])
    return [window.xs[0], *window.xs], [correction, *window.us]


def descend(window: Window, limit: int = LIMIT) -> tuple[list[tuple[float, float]], list]:
    """Multiple shooting, one iteration at a time: (cost, largest gap) after each, and the final states.

    A refused step raises the regularization of the next one as it does within one call of the solver.
    """
    xs, us = trajectory(window)
    solver, history = window.solver, []
    for _ in range(limit):
        done = solver.solve(xs, us, 1, solver.preg if history else 0.0)
        xs, us = solver.states(), solver.controls()
        history.append((solver.cost, solver.largest_gap))
        if done and len(history) > 1 and abs(history[-2][0] - solver.cost) < TOLERANCE * solver.cost or solver.preg > 1e6:
            break
    return history, xs


def descend_fddp(window: Window, limit: int = LIMIT) -> tuple[list[tuple[float, float]], list]:
    """The same with Crocoddyl's feasibility-driven DDP."""
    xs, us = trajectory(window)
    solver, log = crocoddyl.SolverFDDP(window.solver.problem), crocoddyl.CallbackLogger()
    solver.setCallbacks([log])
    solver.th_stop = 1e-9
    solver.solve(xs, us, limit, False)
    return [(cost, gap) for cost, gap in zip(log.costs, log.ffeass)], list(solver.xs)


def needed(history: list[tuple[float, float]], best: float, share: float) -> int | None:
    """Iterations until the cost is, and stays, within `share` of the best, with closed gaps (1e-6); None when it does not."""
    good = [abs(cost - best) <= share * best and gap < 1e-6 for cost, gap in history]
    return None if not good[-1] else 1 + max((k for k, g in enumerate(good) if not g), default=-1) + 1


def optima(bag: Path, robot: str, end: float) -> list[dict]:
    """Both forms, both solvers, on one problem."""
    windows = same_problem(bag, robot, end)
    solvers = {"multiple shooting": descend, "FDDP": descend_fddp}
    results = {}
    for form, window in windows.items():
        for name, solve in solvers.items():
            began = time.process_time()
            try:
                results[form, name] = (*solve(window), time.process_time() - began, "")
            except RuntimeError as error:
                results[form, name] = ([], [], time.process_time() - began, str(error))
    best = min(history[-1][0] for history, *_ in results.values() if history)
    reference = results["forward", "multiple shooting"][1]
    rows = []
    for (form, name), (history, xs, seconds, error) in results.items():
        row = {"run": bag.name, "nodes": windows[form].size, "form": form, "solver": name, "error": error or None}
        if history:
            row |= {"to 1e-4": needed(history, best, 1e-4), "to 1e-8": needed(history, best, 1e-8), "iterations": len(history)}
            row |= {"cost": history[-1][0], "gap": history[-1][1], "CPU [s]": seconds}
            row |= _differences(windows[form].problem, reference, xs)
        rows.append(row)
    return rows


def _differences(problem: Problem, a: list, b: list) -> dict:
    """Largest difference of configurations [m, rad], velocities [m/s, rad/s] and parameters of two trajectories."""
    d = np.abs([problem.state.diff(x, y) for x, y in zip(a, b)])
    nv = problem.nv
    return {"dq": float(d[:, :nv].max()), "dv": float(d[:, nv : 2 * nv].max()), "dp": float(d[:, 2 * nv :].max())}


# --- online -------------------------------------------------------------------------------------------------------


def online(bag: Path, robot: str, end: float, mocap: bool, iterations: int, folder: Path) -> list[dict]:
    """Sliding window of both forms, with a number of iterations per node."""
    run, rows = excerpt(bag, end, folder), []
    for form in FORMS:
        config, out = _config(robot, form, iterations=iterations), folder / "online.mcap"
        row = {"run": bag.name, "mocap": "yes" if mocap else "no", "iterations": iterations, "form": form}
        rows.append(row)
        try:
            summary = replay(run, Robot(config.robot), config, out, mocap=mocap)
        except (PrimeError, RuntimeError) as error:
            row["error"] = " ".join(str(error).split())
            continue
        scores = evaluate(out, run, truth_json=bag.parent / f"{bag.name}.json")
        body = next(v for v in scores["inertia"].values() if "mass_error_final_kg" in v)
        row |= {"mass error [kg]": body["mass_error_final_kg"], "velocity [mm/s]": 1e3 * scores["odometry"]["velocity_rmse_mps"]}
        row |= {"drift [%]": scores["odometry"]["drift_percent"], "force 40 ms [%]": 100 * scores["contacts"]["mean_relative_rmse_40ms"]}
        row |= {"F1": scores["contacts"]["mean_contact_f1"], "nodes": summary.nodes}
        row |= {"refused": summary.final.status.refused_steps, "restarts": summary.final.status.restarts}
    return rows


# --- speed --------------------------------------------------------------------------------------------------------


def speed(bag: Path, robot: str, end: float, repeats: int = 15) -> list[dict]:
    """Process time per node [us]: evaluation where the Newton iteration starts one solver iteration away, derivatives, a whole iteration."""
    rows = []
    for form, window in same_problem(bag, robot, end).items():
        xs, us = trajectory(window)
        window.solver.solve(xs, us, 1)
        points = [(xs[1:], us[1:]), (window.solver.states()[1:], window.solver.controls()[1:])]
        calc = _median([_timed(lambda: [n.calc(d, x, u) for n, d, x, u in zip(window.nodes, window.data, *points[i % 2])]) for i in range(2 * repeats)])
        diff = _median([_timed(lambda: [n.calcDiff(d, x, u) for n, d, x, u in zip(window.nodes, window.data, *points[1])]) for _ in range(repeats)])
        whole = _median([_timed(lambda: window.solver.solve(xs, us, 1)) - _timed(lambda: window.solver.solve(xs, us, 0)) for _ in range(repeats)])
        fddp = crocoddyl.SolverFDDP(window.solver.problem)
        fddp.setCandidate(xs, us, False)
        fddp.calcDiff()
        wheel = _median([_timed(fddp.backwardPass) for _ in range(repeats)])
        per_node = {"calc": calc, "calcDiff": diff, "backward pass (Crocoddyl)": wheel, "iteration": whole}
        rows.append({"run": bag.name, "form": form, **{k: 1e6 * t / window.size for k, t in per_node.items()}})
        rows[-1]["recursion and rollout"] = rows[-1]["iteration"] - rows[-1]["calc"] - rows[-1]["calcDiff"]
    return rows


def _timed(f) -> float:
    began = time.process_time()
    f()
    return time.process_time() - began


def _median(values: list[float]) -> float:
    return float(np.median(values))


# --- the tables ---------------------------------------------------------------------------------------------------

COLUMNS = {
    "start": {
        "run": "", "mocap": "", "form": "", "batches": "d", "failed": "d", "good": "d", "within limit": "d", "iterations, median": ".0f",
        "iterations, 90 %": ".0f", "cost, median": ".1f", "speed error, median [mm/s]": ".1f", "speed error, worst [mm/s]": ".1f",
    },
    "optimum": {
        "run": "", "nodes": "d", "form": "", "solver": "", "to 1e-4": "d", "to 1e-8": "d", "iterations": "d", "cost": ".6f", "gap": ".0e",
        "CPU [s]": ".1f", "dq": ".1e", "dv": ".1e", "dp": ".1e", "error": "",
    },
    "online": {
        "run": "", "mocap": "", "iterations": "d", "form": "", "mass error [kg]": "+.3f", "velocity [mm/s]": ".1f", "drift [%]": ".2f",
        "force 40 ms [%]": ".1f", "F1": ".3f", "refused": "d", "restarts": "d", "error": "",
    },
    "speed": {
        "run": "", "form": "", "calc": ".0f", "calcDiff": ".0f", "recursion and rollout": ".0f", "iteration": ".0f",
        "backward pass (Crocoddyl)": ".0f",
    },
}  # fmt: skip


def compare(part: str, bag: Path, args: argparse.Namespace, folder: Path) -> list[dict]:
    """Rows of one part on one run."""
    if part == "start":
        return [row for mocap in (True, False) for row in starts(bag, args.robot, args.every, args.seconds, mocap)]
    if part == "optimum":
        return optima(bag, args.robot, args.batch)
    if part == "speed":
        return speed(bag, args.robot, args.batch)
    cases = [(True, 1), (False, 1), (False, 3)]
    return [row for mocap, n in cases for row in online(bag, args.robot, args.seconds, mocap, n, folder)]


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="*", type=Path, default=[RUNS / "go2_payload3", RUNS / "go2_nominal"], metavar="RUN")
    parser.add_argument("--robot", default="go2")
    parser.add_argument("--seconds", type=float, default=12.0, help="of each run, for start and online")
    parser.add_argument("--every", type=float, default=0.73, help="seconds between the batches of `start`")
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
