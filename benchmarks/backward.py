# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Backward pass with few and with many inertial parameters.

Parameters out of the state, against Crocoddyl's with them in it.

    python benchmarks/backward.py [--robot go2] [--nodes 30] [--repeats 15] [--json]

Both solvers get the same nodes at the same point: a robot at rest that every sensor sees.
`backward` is the pass alone: ours makes the Gauss-Newton Hessians of its nodes in it and resolves
state and parameters at the first node, Crocoddyl's finds Hessians ready-made. `derivatives` is what
fills the nodes before it. CPU time [us] per node, median; the ratio is that of the shortest times
of passes measured in turn.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import replace

import crocoddyl
import numpy as np
import pinocchio as pin
from recordings import table

from prime_estimation import _core
from prime_estimation.config.parameters import Config
from prime_estimation.mhe.problem import Problem
from prime_estimation.mhe.window import Window
from prime_estimation.robot import Robot

COLUMNS = {
    "robot": "", "links": "d", "parameters": "d", "state": "d", "backward": ".1f",
    "backward (Crocoddyl)": ".1f", "ratio": ".3f",
    "derivatives": ".1f", "derivatives (Crocoddyl)": ".1f", "step difference": ".0e",
}  # fmt: skip


def standing_window(name: str, links: int, nodes: int) -> Window:
    """A robot at rest on its feet for `nodes` steps that every sensor sees.

    The inertia of its first `links` moving links is unknown.
    """
    config = Config.load(name)
    moving = Robot(config.robot).links[1 : links + 1]
    robot = Robot(replace(config.robot, estimated_links=moving))
    problem, rng = Problem(robot, config, ("mocap",)), np.random.default_rng(0)
    q = pin.neutral(robot.model)
    x = problem.first.neutral()
    problem.layout.q(x)[:] = q
    problem.parameter(x, "friction")[:] = np.log(0.8)
    problem.parameter(x, "height")[:] = soles(robot, q)
    root = problem.first.root(True)
    noise = np.concatenate(
        [np.full(problem.nv, 1e-4), np.full(problem.nv, 1e-2), np.zeros(problem.np)]
    )
    xs = [
        problem.state.integrate(x, noise * rng.normal(size=problem.ndx)) for _ in range(nodes + 1)
    ]
    arrival = _core.ActionArrival(problem.state, xs[0], root @ root.T)
    return Window(problem, arrival, [_readings(problem, x) for x in xs], list(range(nodes + 1)), xs)


def soles(robot: Robot, q: np.ndarray) -> np.ndarray:
    """Lowest point of each foot [m]."""
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, q)
    height = {foot: np.inf for foot in robot.feet}
    for c in robot.contacts:
        bottom = (
            data.oMf[robot.model.getFrameId(c.frame)].act(np.array(c.position, float))[2] - c.radius
        )
        height[c.foot] = min(height[c.foot], bottom)
    return np.array(list(height.values()))


def _readings(problem: Problem, x: np.ndarray) -> "_core.NodeInput":
    given, upwards = _core.NodeInput(problem.measurements.core), np.array([0.0, 0.0, 1.0])
    problem.process.unmeasured(given)
    given.set("encoders", x[: problem.nq], np.full(problem.nj, 500.0))
    given.set("rates", np.zeros(problem.nj), np.full(problem.nj, 45.0))
    given.set("gyro", np.zeros(3), np.full(3, 450.0))
    given.set("tilt", upwards, np.full(3, 50.0))
    given.set("accelerometer", 9.81 * upwards, np.full(3, 3.0))
    given.set("mocap", x[:7], np.repeat([1000.0, 115.0], 3), 0.003)
    return given


def compare(window: Window, repeats: int) -> dict:
    """Times of both backward passes in turn, and the relative difference of their steps."""
    problem, solver = window.problem, window.solver
    xs = [window.xs[0], *window.xs]
    us = [np.zeros(problem.ndx), *window.us]
    wheel = crocoddyl.SolverFDDP(solver.problem)
    wheel.setCandidate(xs, us, False)
    ours, theirs, diff, their_diff = [], [], [], []
    for _ in range(repeats):
        their_diff.append(_timed(wheel.calcDiff))
        theirs.append(_timed(wheel.backwardPass))
        dus = solver.direction(xs, us)[1]
        diff.append(
            _timed(
                lambda: [
                    node.linearize(d, x) for node, d, x in zip(window.nodes, window.data, window.xs)
                ]
            )
        )
        ours.append(_timed(solver.backward))
    # the correction of the first state and the parameters: all of both passes is behind it
    first = -np.array(wheel.k[0])
    nodes = window.size
    micro = [1e6 * float(np.median(t)) / nodes for t in (ours, theirs, diff, their_diff)]
    return {
        "robot": problem.robot.name, "links": len(problem.robot.estimated_links),
        "parameters": problem.np, "state": problem.ndx,
        "backward": micro[0], "backward (Crocoddyl)": micro[1],
        "ratio": float(np.min(ours) / np.min(theirs)),
        "derivatives": micro[2], "derivatives (Crocoddyl)": micro[3],
        "step difference": float(np.linalg.norm(dus[0] - first) / np.linalg.norm(first)),
    }  # fmt: skip


def _timed(f) -> float:
    began = time.thread_time_ns()
    f()
    return 1e-9 * (time.thread_time_ns() - began)


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--robot", default="go2")
    parser.add_argument("--nodes", type=int, default=30)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--json", action="store_true", help="JSON instead of a table")
    args = parser.parse_args()
    links = len(Robot.load(args.robot).links) - 1
    rows = [compare(standing_window(args.robot, n, args.nodes), args.repeats) for n in (1, links)]
    print(json.dumps(rows, indent=1) if args.json else table(rows, COLUMNS))
    return 0


if __name__ == "__main__":
    sys.exit(main())
