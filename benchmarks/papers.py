# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Table I, Fig. 3 and the sphere of Martinez, Griffin and Mastalli (docs/papers.md).

    python benchmarks/papers.py [--guesses 100] [--only kinova ...] [--figure FILE.png] [--json]

- rollouts: single shooting, feasibility-driven and multiple shooting from the same random guesses,
  every body's inertia wrong by 70 %;
- manifolds: log-Cholesky against exponential eigenvalue, from one guess, all bodies 70 % too heavy
  and too wide;
- sphere: equal moments, so that the axes of its inertia are not to be known: nullspace method
  against Schur complement.

The robots are those of the paper; motions, noise and horizons, which it does not state, are in
paper_problems.py. The paper's figures stand beside ours for the order of things, not of sizes: its
costs and errors have other units.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import crocoddyl
import numpy as np
import paper_problems as problems
import pinocchio as pin
from paper_problems import Run
from recordings import table

from prime_estimation import _core
from prime_estimation.inertia import inertia_about_com

NODES = {"kinova": 50, "quadrotor": 50, "anymal": 30, "talos": 20, "hopper": 100, "borinot": 100}
ROLLOUTS = ("single", "feasible", "multiple")
# guesses are divided by this: one with 333 parameters takes as long as many others
FEWER = {"talos": 20}
# the paper's limit; stop when a step in the whole trust region changes less than this share of the
# cost
ITERATIONS, STOP = 200, 1e-2
LARGEST_STEP = 0.5  # of the coordinates of an inertia in an iteration
SOLVED = 1.1  # largest cost of what counts as a solution, relative to that found from the truth
# iterations, cost (in units of 0.1) and error (largest) of 100 guesses: mean and standard
# deviation; single shooting of ANYmal: none solved
PUBLISHED = {
    ("kinova", "single"): "39.7 ± 11.2 | 2.78 ± 0.89 | 3.11 ± 0.56",
    ("kinova", "feasible"): "44.7 ± 11.6 | 1.16 ± 0.42 | 3.12 ± 0.01",
    ("kinova", "multiple"): "99.4 ± 71.5 | 0.61 ± 0.42 | 2.67 ± 0.06",
    ("quadrotor", "single"): "140.9 ± 65.1 | 0.12 ± 0.04 | 10.74 ± 0.0023",
    ("quadrotor", "feasible"): "150.1 ± 59.3 | 0.26 ± 0.11 | 10.74 ± 0.0013",
    ("quadrotor", "multiple"): "16.9 ± 19.1 | 0.07 ± 1.31 | 10.74 ± 0.0002",
    ("anymal", "single"): "none | | ",
    ("anymal", "feasible"): "198.3 ± 16.6 | 0.22 ± 0.08 | 6.12 ± 0.92",
    ("anymal", "multiple"): "14.1 ± 14.8 | 0.01 ± 1.65 | 6.02 ± 0.22",
}
HEAD = (
    "| robot | rollout | solved | iterations | cost | error | motion [%] "
    "| published: iterations | cost [0.1] | error |\n"
    "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|"
)


def configure(solver: "_core.SolverMultipleShooting", of, rollout: str) -> None:
    """Rollout, stopping rule, and a trust region for the inertias."""
    solver.rollout, solver.th_stop = getattr(_core.Rollout, rollout), STOP
    solver.largest_step = np.where(np.arange(of.np) < of.dynamics.ntheta, LARGEST_STEP, np.inf)


def solve(run: Run, guess: list[np.ndarray], rollout: str, iterations: int = ITERATIONS) -> dict:
    """Iterations, cost and errors of one solution; without a cost when the solver gave up.

    Single shooting starts from the guess's first state at rest and the disturbance that holds it:
    from there its rollout is as good as the guess. The other rollouts start from all states of the
    guess and no disturbance.
    """
    of = run.problem
    if rollout == "single":
        guess = [problems.at_rest(of, guess[0])] * len(guess)
    window = problems.window(run, guess)
    us = problems.holding(run, guess[0]) if rollout == "single" else window.us
    solver = window.solver
    configure(solver, of, rollout)
    try:
        stopped = solver.solve(
            [guess[0], *guess], [of.state.diff(window.arrival.reference, guess[0]), *us], iterations
        )
    except RuntimeError:  # the first rollout, or every Hessian, is beyond numbers
        return {"stopped": False}
    xs = solver.states()[1:]
    differences = np.array([of.state.diff(true, x)[: 2 * of.nv] for true, x in zip(run.xs, xs)])
    return {
        "stopped": stopped,
        "iterations": solver.iter,
        "cost": solver.cost,
        "error": float(abs(differences).max()),
        "mean error": float(abs(differences).mean()),
        "motion": prediction_error(run, xs[-1]),
    }


def prediction_error(run: Run, x: np.ndarray) -> float:
    """Relative error of the velocity changes that the inertias of x predict, in energy's metric.

    (The inertias themselves are not to be known: of an arm's first link but for what turns, of a
    standing shank not even the weight.)
    """
    of, model = run.problem, run.problem.robot.model
    node, velocity = of.node(), slice(of.nq, of.nq + of.nv)
    data, pin_data, energies = node.createData(), model.createData(), []
    for given, before, after in zip(run.exact, run.xs, run.xs[1:]):
        node.input = given
        node.calc(
            data, np.concatenate([before[: of.nq + of.nv], x[of.nq + of.nv :]]), np.zeros(of.nu)
        )
        M = pin.crba(model, pin_data, before[: of.nq])
        M = np.triu(M) + np.triu(M, 1).T
        changes = (
            np.array(data.xnext)[velocity] - after[velocity],
            after[velocity] - before[velocity],
        )
        energies.append([change @ M @ change for change in changes])
    wrong, true = np.sum(energies, axis=0)
    return float(np.sqrt(wrong / true))


def rollouts(name: str, guesses: int) -> list[dict]:
    """Table I for one robot: statistics of the guesses that lead to a solution."""
    run = problems.simulate(name, nodes=NODES[name])
    best = solve(run, run.xs, "multiple")["cost"]
    rows = []
    for rollout in ROLLOUTS:
        results = [
            solve(run, problems.random_guess(run, np.random.default_rng(seed)), rollout)
            for seed in range(guesses)
        ]
        solved = [r for r in results if r["stopped"] and r["cost"] < SOLVED * best]
        row = {
            "robot": name,
            "rollout": rollout,
            "guesses": guesses,
            "solved": len(solved),
            "best": best,
        }
        for key in ("iterations", "cost", "error", "motion"):
            values = [r[key] for r in solved]
            row[key] = (float(np.mean(values)), float(np.std(values))) if values else None
        rows.append(row)
    return rows


def line(row: dict) -> str:
    """A row of the table."""
    if row["iterations"] is None:
        ours = "none | | | "
    else:
        scales = {
            "iterations": (1.0, ".1f"),
            "cost": (1.0, ".1f"),
            "error": (1.0, ".3f"),
            "motion": (100.0, ".2f"),
        }
        ours = " | ".join(
            f"{s * row[key][0]:{f}} ± {s * row[key][1]:{f}}" for key, (s, f) in scales.items()
        )
    published = PUBLISHED.get((row["robot"], row["rollout"]), " | | ")
    solved = f"{row['solved']}/{row['guesses']}"
    return f"| {row['robot']} | {row['rollout']} | {solved} | {ours} | {published} |"


# --- manifolds and sphere -------------------------------------------------------------------------


def progress(name: str, manifold: str, last: int = ITERATIONS) -> dict:
    """Fig. 3: cost and mean error after some of the iterations (the solver is run anew to each)."""
    run = problems.simulate(name, manifold, nodes=NODES[name])
    guess = problems.random_guess(run, np.random.default_rng(0), np.ones(7))
    counts = [n for n in np.unique(np.round(1.35 ** np.arange(19)).astype(int)) if n <= last]
    points = []
    for n in counts:
        points.append(solve(run, guess, "multiple", int(n)))
        if points[-1]["stopped"]:
            break
    return {
        "robot": name,
        "manifold": manifold,
        "best": solve(run, run.xs, "multiple")["cost"],
        "points": points,
    }


def sphere(method: str, bounded: bool, noise: float = 1.0) -> dict:
    """A sphere that Borinot holds, nothing known of it beforehand, the first state given.

    At first 70 % too heavy, its centre off.
    """
    run = problems.simulate("borinot", nodes=NODES["borinot"], noise=noise)
    of = run.problem
    pi = of.inertias(run.xs[0])[0][0]
    guess = [problems.with_bodies(of, x, [problems.wrong(pi, np.ones(7))]) for x in run.xs]
    window = problems.window(run, guess)
    solver = _core.SolverMultipleShooting(
        crocoddyl.ShootingProblem(guess[0], window.nodes, window.terminal)
    )
    configure(solver, of, "multiple")
    if not bounded:
        solver.largest_step = np.zeros(0)
    solver.method = getattr(_core.ParameterMethod, method)
    row = {"elimination": method, "trust region": "yes" if bounded else "no", "parameters": of.np}
    try:
        row["turn in the first step"] = float(
            abs(solver.direction(guess, window.us)[0][0][of.columns("theta")][4:7]).max()
        )
        row["solved for"] = solver.rank
        row["stopped"] = solver.solve(guess, window.us, ITERATIONS)
    except RuntimeError:  # nothing is known of the axes: the Hessian is singular
        return row
    found = of.inertias(solver.states()[-1])[0][0]
    moments = np.linalg.eigvalsh(inertia_about_com(found)) / np.linalg.eigvalsh(
        inertia_about_com(pi)
    )
    row |= {
        "iterations": solver.iter,
        "cost": solver.cost,
        "mass error [g]": 1e3 * float(found[0] - pi[0]),
    }
    return row | {
        "com error [mm]": 1e3 * float(np.linalg.norm(found[1:4] / found[0] - pi[1:4] / pi[0])),
        "moments": moments.tolist(),
    }


def draw(curves: list[dict], path: Path) -> None:
    """Cost over that of the solution found from the truth, and mean error, by iteration."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    names = list(dict.fromkeys(c["robot"] for c in curves))
    figure = Figure(figsize=(3.0 * len(names), 5.0), layout="constrained")
    panels = figure.subplots(2, len(names), sharex="col", squeeze=False)
    for column, axes in zip(names, panels.T):
        for curve, style in zip([c for c in curves if c["robot"] == column], ("-", "--")):
            points = [p for p in curve["points"] if "cost" in p]
            iterations = [p["iterations"] for p in points]
            label = curve["manifold"].replace("_", " ")
            axes[0].loglog(
                iterations, [p["cost"] / curve["best"] for p in points], style, label=label
            )
            axes[1].loglog(iterations, [p["mean error"] for p in points], style)
        axes[0].set_title(column)
        axes[1].set_xlabel("iteration")
    panels[0, 0].set_ylabel("cost / cost found from the truth")
    panels[1, 0].set_ylabel("mean error of the states")
    panels[0, 0].legend(fontsize="small")
    path.parent.mkdir(parents=True, exist_ok=True)
    FigureCanvasAgg(figure).print_png(str(path))


def report(results: dict) -> str:
    """Markdown of everything."""
    held = {
        "elimination": "",
        "trust region": "",
        "solved for": "d",
        "turn in the first step": ".0e",
        "iterations": "d",
        "cost": ".1f",
    }
    held |= {"mass error [g]": ".1f", "com error [mm]": ".1f"}
    return "\n".join(
        [HEAD, *(line(row) for row in results["rollouts"]), "", table(results["sphere"], held)]
    )


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--guesses", type=int, default=100)
    parser.add_argument(
        "--only",
        nargs="+",
        default=["kinova", "quadrotor", "hopper", "anymal", "talos"],
        help="robots",
    )
    parser.add_argument("--figure", type=Path, default=Path("prime_runs/papers.png"))
    parser.add_argument("--json", action="store_true", help="JSON instead of tables")
    args = parser.parse_args()
    results = {
        "rollouts": [
            row
            for name in args.only
            for row in rollouts(name, -(-args.guesses // FEWER.get(name, 1)))
        ],
        "manifolds": [
            progress(name, manifold)
            for name in args.only
            for manifold in ("log_cholesky", problems.EXPONENTIAL)
        ],
        "sphere": [
            sphere(method, bounded)
            for bounded in (False, True)
            for method in ("nullspace", "schur")
        ],
    }
    draw(results["manifolds"], args.figure)
    print(json.dumps(results, indent=1) if args.json else report(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
