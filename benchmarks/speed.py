# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Times: parts of a solver iteration per node, whole updates, full information of a walk.

    python benchmarks/speed.py [--robots go2 g1] [--seconds 8] [--only parts updates full] [--omp
    unset 1 16] [--json]

Parts: windows of a recorded walk, taken as the estimator passes them; CPU time [us] per node and
    call, 1 thread. `step` (Crocoddyl's
calc, and the trial of a new iterate) is the contact Newton with the residuals, started one solver
iteration away from its solution; `linearization` what the window's solver needs, `derivatives` the
explicit ones (calcDiff: dv+ and the Gauss-Newton cost model) that other Crocoddyl solvers take;
`iteration` all of a solver's iteration, `posterior` the covariances. Updates: wall time [ms] from
measurement to estimate with covariances; all variants of a robot take each measurement in turn, in
one process per OMP_NUM_THREADS. Full: CPU time [s] of one window over as many nodes of a run as
PRIME publishes a time for (Kang, Ren, Pang, Xiong 2026), solved from the sliding window.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import numpy as np
from recordings import RUNS, table

from prime_estimation.config.parameters import Config
from prime_estimation.estimator import Estimator
from prime_estimation.identify.full_information import smooth_forward
from prime_estimation.identify.solution import Solution, converge
from prime_estimation.mhe.window import Window
from prime_estimation.recordings.samples import measurements
from prime_estimation.robot import Robot
from prime_estimation.types import Measurement

WALKS = {"go2": "go2_payload3", "g1": "g1_walk_payload29"}
VARIANTS = ((None, 1), (None, 2), (30, 1), (30, 2))  # (nodes of the window, None: default; threads)
EVERY, REPEATS = 25, 8  # nodes between two windows that are looked at; calls of each part there
PUBLISHED_STEP = {"go2": 80.0}  # us, step + derivatives on an i9-13900
# our run; nodes, s on an i9-13900
PUBLISHED_FULL = {"go2": ("go2_payload3", 1000, 200.0), "g1": ("g1_dance102_nominal", 1500, 400.0)}
PARTS = {
    "robot": "", "nodes": "d", "step": ".1f", "linearization": ".1f", "derivatives": ".1f",
    "backward": ".1f", "forward": ".1f",
    "iteration": ".1f", "posterior": ".1f", "step + linearization": ".1f",
    "step + derivatives": ".1f", "PRIME [us]": ".0f",
    "shift, once per update": ".0f",
}  # fmt: skip
UPDATES = {
    "robot": "", "nodes": "d", "threads": "d", "OMP_NUM_THREADS": "", "updates": "d",
    "p50 [ms]": ".2f", "p99 [ms]": ".2f", "max [ms]": ".2f", "CPU p50 [ms]": ".2f",
    "CPU p99 [ms]": ".2f",
}  # fmt: skip
FULL = {
    "robot": "", "nodes": "d", "sliding window, for the guess [s]": ".2f",
    "making the window [s]": ".2f", "iterations": "d",
    "iterations [s]": ".2f", "posterior [s]": ".2f", "all [s]": ".2f", "PRIME [s]": ".0f",
}  # fmt: skip


def walk(robot: str, seconds: float, run: str | None = None) -> list[Measurement]:
    """Measurements of a recorded run; default: a walk with a payload."""
    config = Config.load(robot)
    return measurements(
        RUNS / (run or WALKS[robot]),
        Robot(config.robot),
        config.estimator.step,
        span=(0.0, seconds),
    )


def estimator(robot: str, nodes: int | None = None, threads: int = 1, **changes) -> Estimator:
    """Estimator by default but for window, threads and other `changes` of the section."""
    config = Config.load(robot)
    config = config.updated(
        {"estimator": {"window": nodes or config.estimator.window, "threads": threads, **changes}}
    )
    return Estimator(Robot(config.robot), config)


# --- parts of an iteration ------------------------------------------------------------------------


def parts(robot: str, ms: list[Measurement], nodes: int | None = None) -> dict:
    """Median over the windows of a walk of the fastest call of each part [us per node]."""
    e, rows = estimator(robot, nodes), []
    for i, m in enumerate(ms):
        if e.advance(m) is not None and i % EVERY == 0:
            rows.append(_parts(e.window))
    row = {name: 1e6 * float(np.median([r[name] for r in rows])) for name in rows[0]}
    both = {f"step + {name}": row["step"] + row[name] for name in ("linearization", "derivatives")}
    return {
        "robot": robot,
        "nodes": e.window.size,
        **row,
        **both,
        "PRIME [us]": PUBLISHED_STEP.get(robot),
    }


def _parts(window: Window) -> dict[str, float]:
    """Seconds of each part at one window; the window itself stays as it is."""
    solver, n = window.solver, window.size
    xs = [window.xs[0], *window.xs]
    us = [window.problem.state.diff(window.arrival.reference, window.xs[0]), *window.us]
    dxs, dus = solver.direction(xs, us)
    stepped = (
        [window.problem.state.integrate(x, dx) for x, dx in zip(xs, dxs)],
        [u + du for u, du in zip(us, dus)],
    )
    points = ((xs[1:], us[1:]), (stepped[0][1:], stepped[1][1:]))

    def each(f: Callable, xs: list, us: list) -> None:
        for node, data, x, u in zip(window.nodes, window.data, xs, us):
            f(node, data, x, u)

    there = _fastest(lambda k: each(lambda node, d, x, u: node.calc(d, x, u), *points[(k + 1) % 2]))
    solver.direction(xs, us)
    calls = {
        "step": there,
        "linearization": _fastest(
            lambda k: each(lambda node, d, x, u: node.linearize(d, x), *points[0])
        ),
        "derivatives": _fastest(
            lambda k: each(lambda node, d, x, u: node.calcDiff(d, x, u), *points[0])
        ),
        "backward": _fastest(lambda k: solver.backward()),
        "forward": _fastest(lambda k: solver.forward()),
        "posterior": _fastest(lambda k: solver.compute_posterior()),
        "iteration": _fastest(lambda k: solver.solve(xs, us, 1)),
    }
    seconds = {name: t / n for name, t in calls.items()}
    return seconds | {"shift, once per update": _fastest(lambda k: _shift(window, k), 4)}


def _shift(window: Window, call: int) -> None:
    """The arrival cost's part of a shift; its knowledge is put back."""
    arrival = window.arrival
    before = arrival.reference, arrival.mean, arrival.L
    arrival.marginalize(
        window.nodes[0],
        window.data[0],
        window.xs[0],
        window.us[0],
        window.xs[1],
        np.zeros((window.problem.ndx, 1)),
    )
    arrival.reference, arrival.mean, arrival.L = before


def _fastest(call: Callable[[int], None], repeats: int = REPEATS) -> float:
    best = np.inf
    for k in range(repeats):
        began = time.thread_time_ns()
        call(k)
        best = min(best, 1e-9 * (time.thread_time_ns() - began))
    return best


# --- whole updates --------------------------------------------------------------------------------


def updates(robot: str, ms: list[Measurement], threads: tuple[int, ...] = (1, 2)) -> Iterator[dict]:
    """Percentiles of the time of an update, all variants fed with each measurement in turn."""
    variants = [v for v in VARIANTS if v[1] in threads]
    estimators = [estimator(robot, *v) for v in variants]
    wall, cpu = [[] for _ in variants], [[] for _ in variants]
    for m in ms:
        for e, w, c in zip(estimators, wall, cpu):
            before, began, used = e.window, time.perf_counter(), time.process_time()
            e.update(m)
            if before is not None:  # not the start batch
                w.append(1e3 * (time.perf_counter() - began))
                c.append(1e3 * (time.process_time() - used))
    for (_, n), e, w, c in zip(variants, estimators, wall, cpu):
        yield {
            "robot": robot, "nodes": e.window.size, "threads": n,
            "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "unset"),
            "updates": len(w), "p50 [ms]": np.percentile(w, 50), "p99 [ms]": np.percentile(w, 99),
            "max [ms]": np.max(w),
            "CPU p50 [ms]": np.percentile(c, 50), "CPU p99 [ms]": np.percentile(c, 99),
        }  # fmt: skip


# --- whole walks ----------------------------------------------------------------------------------


def full(robot: str, ms: list[Measurement]) -> dict:
    """CPU time [s] of full information, from measurements to covariances."""
    clock = [time.process_time()]

    def lap() -> float:
        clock.append(time.process_time())
        return clock[-1] - clock[-2]

    passage = smooth_forward(estimator(robot, iterations=1), ms)
    row = {"robot": robot, "sliding window, for the guess [s]": lap()}
    solution = Solution(passage.window())
    row |= {"nodes": solution.window.size + 1, "making the window [s]": lap()}
    converge(solution)
    row |= {"iterations": len(solution.history), "iterations [s]": lap()}
    solution.window.posterior()
    return row | {
        "posterior [s]": lap(),
        "all [s]": clock[-1] - clock[0],
        "PRIME [s]": PUBLISHED_FULL[robot][2],
    }


def _whole(robot: str) -> list[Measurement]:
    """As many measurements as give a window of the size for which a time is published."""
    run, nodes, _ = PUBLISHED_FULL[robot]
    options = Config.load(robot).estimator
    return walk(robot, (nodes - options.window) * options.step + options.start_duration, run)


# --- the tables -----------------------------------------------------------------------------------


def _under(omp: str, robot: str, seconds: float) -> list[dict]:
    """The updates of a robot with one thread, in a process of its own with this OMP_NUM_THREADS."""
    environment = {k: v for k, v in os.environ.items() if k != "OMP_NUM_THREADS"} | (
        {} if omp == "unset" else {"OMP_NUM_THREADS": omp}
    )
    command = [
        sys.executable,
        __file__,
        "--robots",
        robot,
        "--seconds",
        str(seconds),
        "--json",
        "--only",
        "updates",
        "--omp",
    ]
    return json.loads(
        subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE).stdout
    )["updates"]


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--robots", nargs="+", default=list(WALKS), choices=list(WALKS))
    parser.add_argument(
        "--seconds", type=float, default=8.0, help="length of the walks, for parts and updates"
    )
    parser.add_argument(
        "--only",
        nargs="+",
        default=["parts", "updates", "full"],
        choices=["parts", "updates", "full"],
    )
    parser.add_argument(
        "--omp",
        nargs="*",
        default=["unset", "1", "16"],
        help="OMP_NUM_THREADS of further processes; none: 1 thread only",
    )
    parser.add_argument("--json", action="store_true", help="JSON instead of tables")
    args = parser.parse_args()
    out: dict[str, list] = {name: [] for name in args.only}
    for robot in args.robots:
        ms = walk(robot, args.seconds) if args.only != ["full"] else []
        if "parts" in out:
            out["parts"] += [parts(robot, ms, nodes) for nodes in (None, 30)]
        if "updates" in out:
            out["updates"] += updates(robot, ms, (1, 2) if args.omp else (1,))
            out["updates"] += [row for omp in args.omp for row in _under(omp, robot, args.seconds)]
        if "full" in out:
            out["full"].append(full(robot, _whole(robot)))
    columns = {"parts": PARTS, "updates": UPDATES, "full": FULL}
    print(
        json.dumps(out, indent=1)
        if args.json
        else "\n\n".join(table(rows, columns[name]) for name, rows in out.items())
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
