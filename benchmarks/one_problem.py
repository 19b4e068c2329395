# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""One full-information problem in both forms.

Iterations to its optimum, differences there, process time per node.
"""

from __future__ import annotations

import time
from pathlib import Path

import crocoddyl
import numpy as np

from prime_estimation import _core
from prime_estimation.config.parameters import Config
from prime_estimation.estimator import Estimator
from prime_estimation.identify.full_information import ITERATIONS, ROUNDS, smooth_forward
from prime_estimation.mhe.problem import Problem
from prime_estimation.mhe.window import Window
from prime_estimation.recordings.samples import measurements
from prime_estimation.robot import Robot

FORMS = ("forward", "inverse")
# of the search for the optimum, and where to stop, relative to the cost
LIMIT, TOLERANCE = 150, 1e-13
# shares of kappa on the way to the initial trajectory: where a law begins decides in which optimum
# it ends
SOFTER = (0.1, 0.3, 0.6, 0.8)
SOFT_ITERATIONS = 30


def form_config(robot: str, form: str, **estimator) -> Config:
    """A robot's configuration with a form and other changes of the section `estimator`.

    Joint losses are the YAML's: what an estimator may let go of would not be one problem.
    """
    options = {"form": form, "adapt_joints": False, **estimator}
    return Config.load(robot).updated({"estimator": options})


def same_problem(bag: Path, robot: str, end: float, mocap: bool = True) -> dict[str, Window]:
    """Full-information windows of both forms over the first `end` seconds.

    Same inputs, prior and initial trajectory.

    The trajectory is that of the forward form's sliding window, solved with softer contact laws.
    The weights of the contact disturbance, which full information renews after every round, are
    those of its solution: one problem, on which iterations can be counted.
    """
    config = form_config(robot, "forward")
    estimator = Estimator(Robot(config.robot), config, mocap)
    window = smooth_forward(
        estimator,
        measurements(bag, estimator.robot, config.estimator.step, mocap=mocap, span=(0.0, end)),
    ).window()
    guess = [x.copy() for x in window.xs], [u.copy() for u in window.us]
    for _ in range(ROUNDS):
        window.solve(ITERATIONS)
    window.xs, window.us = guess
    initial, controls = softened(window)
    nq, nv = window.problem.nq, window.problem.nv
    windows = {}
    for form in FORMS:
        config = form_config(robot, form)
        optional = ("mocap",) if mocap else ()
        problem = Problem(Robot(config.robot), config, optional, holds=True)
        arrival = _core.ActionArrival(
            problem.state, window.arrival.reference, window.arrival.covariance
        )
        us = (
            controls
            if form == "forward"
            else [np.r_[x[nq : nq + nv], u[nv:]] for x, u in zip(initial[1:], controls)]
        )
        windows[form] = Window(problem, arrival, window.inputs, window.stamps, initial, us)
    return windows


def softened(window: Window) -> tuple[list, list]:
    """States and controls of the window solved with softer contact laws, the softest first.

    Its own law stays.
    """
    kappa, (xs, us) = window.problem.dynamics.law.kappa, trajectory(window)
    for share in SOFTER:
        window.set_kappa(share * kappa)
        window.solver.solve(xs, us, SOFT_ITERATIONS)
        xs, us = list(window.solver.states()), list(window.solver.controls())
    window.set_kappa(kappa)
    return [x.copy() for x in xs[1:]], [u.copy() for u in us[1:]]


def trajectory(window: Window) -> tuple[list, list]:
    """States and controls of the window with the arrival node in front, as solvers take them."""
    correction = window.problem.state.diff(window.arrival.reference, window.xs[0])
    return [window.xs[0], *window.xs], [correction, *window.us]


def descend(window: Window, limit: int = LIMIT) -> tuple[list[tuple[float, float]], list, float]:
    """Multiple shooting: (cost, largest gap) after each iteration, the final states, CPU time [s].

    The solver keeps no log: it is run once with each number of iterations, the last run is the one
    that is timed.
    """
    xs, us = trajectory(window)
    solver, history, done = window.solver, [], False
    solver.th_stop = TOLERANCE
    while not done and len(history) < limit:
        began = time.process_time()
        done = solver.solve(xs, us, len(history) + 1)
        history.append((solver.cost, solver.largest_gap))
    return history, solver.states(), time.process_time() - began


def descend_fddp(
    window: Window, limit: int = LIMIT
) -> tuple[list[tuple[float, float]], list, float]:
    """The same with Crocoddyl's feasibility-driven DDP."""
    xs, us = trajectory(window)
    solver, log = crocoddyl.SolverFDDP(window.solver.problem), crocoddyl.CallbackLogger()
    solver.setCallbacks([log])
    solver.th_stop = 1e-9
    began = time.process_time()
    solver.solve(xs, us, limit, False)
    return (
        [(cost, gap) for cost, gap in zip(log.costs, log.ffeass)],
        list(solver.xs),
        time.process_time() - began,
    )


def needed(history: list[tuple[float, float]], best: float, share: float) -> int | None:
    """Iterations until the cost is, and stays, within `share` of the best, with closed gaps (1e-6).

    None when it does not.
    """
    good = [abs(cost - best) <= share * best and gap < 1e-6 for cost, gap in history]
    return (
        None if not good[-1] else 1 + max((k for k, g in enumerate(good) if not g), default=-1) + 1
    )


def optima(bag: Path, robot: str, end: float) -> list[dict]:
    """Both forms, both solvers, on one problem."""
    windows = same_problem(bag, robot, end)
    solvers = {"multiple shooting": descend, "FDDP": descend_fddp}
    results = {}
    for form, window in windows.items():
        for name, solve in solvers.items():
            try:
                results[form, name] = (*solve(window), "")
            except RuntimeError as error:
                results[form, name] = ([], [], None, str(error))
    best = min(history[-1][0] for history, *_ in results.values() if history)
    reference = results["forward", "multiple shooting"][1]
    rows = []
    for (form, name), (history, xs, seconds, error) in results.items():
        row = {
            "run": bag.name,
            "nodes": windows[form].size,
            "form": form,
            "solver": name,
            "error": error or None,
        }
        if history:
            row |= {
                "to 1e-4": needed(history, best, 1e-4),
                "to 1e-8": needed(history, best, 1e-8),
                "iterations": len(history),
            }
            row |= {"cost": history[-1][0], "gap": history[-1][1], "CPU [s]": seconds}
            row |= _differences(windows[form].problem, reference, xs)
        rows.append(row)
    return rows


def _differences(problem: Problem, a: list, b: list) -> dict:
    """Largest difference of configurations, velocities and parameters of two trajectories."""
    d = np.abs([problem.state.diff(x, y) for x, y in zip(a, b)])
    nv = problem.nv
    return {
        "dq": float(d[:, :nv].max()),
        "dv": float(d[:, nv : 2 * nv].max()),
        "dp": float(d[:, 2 * nv :].max()),
    }


# --- speed ----------------------------------------------------------------------------------------


def speed(bag: Path, robot: str, end: float, repeats: int = 15) -> list[dict]:
    """Process time per node [us] of both forms."""
    return [
        {"run": bag.name, "form": form, **_speed(window, repeats)}
        for form, window in same_problem(bag, robot, end).items()
    ]


def _speed(window: Window, repeats: int) -> dict:
    """Times of evaluation (Newton from one iteration away), linearization, whole iteration.

    What an iteration needs beside the evaluation is measured at the optimum, where no step is
    shortened.
    """
    xs, us = trajectory(window)
    window.solver.solve(xs, us, 1)
    points = [(xs[1:], us[1:]), (window.solver.states()[1:], window.solver.controls()[1:])]

    def nodes(point: int):
        return zip(window.nodes, window.data, *points[point])

    calc = [
        _timed(lambda: [node.calc(d, x, u) for node, d, x, u in nodes(i % 2)])
        for i in range(2 * repeats)
    ]
    linear = [
        _timed(lambda: [node.linearize(d, x) for node, d, x, _ in nodes(1)]) for _ in range(repeats)
    ]
    descend(window)
    xs, us = window.solver.states(), window.solver.controls()
    still = [_timed(lambda: window.solver.solve(xs, us, 0)) for _ in range(repeats)]
    whole = [_timed(lambda: window.solver.solve(xs, us, 1)) for _ in range(repeats)]
    fddp = crocoddyl.SolverFDDP(window.solver.problem)
    fddp.setCandidate(xs, us, False)
    fddp.calcDiff()
    wheel = [_timed(fddp.backwardPass) for _ in range(repeats)]
    calc, linear, still, whole, wheel = (
        1e6 * float(np.median(t)) / window.size for t in (calc, linear, still, whole, wheel)
    )
    iteration = calc + whole - 2.0 * still  # the candidate and the step are evaluated
    return {
        "calc": calc,
        "linearization": linear,
        "iteration": iteration,
        "backward pass (Crocoddyl)": wheel,
    }


def _timed(f) -> float:
    began = time.process_time()
    f()
    return time.process_time() - began
