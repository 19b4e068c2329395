# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The papers' test problems: their truth is their optimum, their derivatives are right, and the
table comes out with two guesses."""

from __future__ import annotations

import sys

import numpy as np
import paper_problems as problems
import papers
import pytest
from helpers.differences import jacobian, relative_error
from helpers.nodes import exact_node
from paper_motion import MACHINES

MANIFOLDS = ("log_cholesky", problems.EXPONENTIAL)


@pytest.mark.parametrize("manifold", MANIFOLDS)
@pytest.mark.parametrize("name", MACHINES)
def test_truth_is_stationary(name, manifold):
    """Sensors without noise leave no residual at the truth, and no step away from it."""
    run = problems.simulate(name, manifold, nodes=8, noise=0.0)
    of, window = run.problem, problems.window(run, run.xs)
    steps, _ = window.solver.direction([run.xs[0], *run.xs], [np.zeros(of.ndx), *window.us])
    moving = np.concatenate([np.arange(2 * of.nv), np.arange(of.ndx)[of.columns("theta")]])
    assert window.solver.cost == 0.0 or window.solver.largest_gap < 1e-9
    assert max(abs(d.r).max() for d in window.data) < 1e-6
    assert max(abs(dx[moving]).max() for dx in steps[1:]) < 1e-4


@pytest.mark.parametrize("manifold", MANIFOLDS)
@pytest.mark.parametrize("name", MACHINES)
def test_derivatives_of_a_node(name, manifold):
    """At a guess: every body wrong, the state somewhere else, in all of x and u."""
    run, rng = problems.simulate(name, manifold, nodes=4), np.random.default_rng(2)
    of = run.problem
    x = problems.random_guess(run, rng)[2]
    u = np.concatenate([0.5 * rng.normal(size=of.nv), 0.01 * rng.normal(size=of.dynamics.nxi)])
    model = exact_node(of)
    model.input = run.inputs[2]
    data, trial = model.createData(), model.createData()
    for d in (data, trial):
        model.calc(d, x, u)
    model.calcDiff(data, x, u)
    x_next = np.array(data.xnext)

    def at(dx, du):
        model.calc(trial, of.state.integrate(x, dx), u + du)
        return np.concatenate([of.state.diff(x_next, np.array(trial.xnext)), trial.r])

    by_x = jacobian(lambda dx: at(dx, np.zeros(of.nu)), of.ndx)
    by_u = jacobian(lambda du: at(np.zeros(of.ndx), du), of.nu)
    blocks = {"Fx": (data.Fx, by_x[: of.ndx]), "Fu": (data.Fu, by_u[: of.ndx])}
    blocks |= {"Rx": (data.Rx, by_x[of.ndx :]), "Ru": (data.Ru, by_u[of.ndx :])}
    errors = {block: relative_error(*pair) for block, pair in blocks.items()}
    assert max(errors.values()) < 1e-5, errors


def test_bodies_are_wrong_by_70_percent():
    run = problems.simulate("kinova", nodes=1)
    for pi, _ in run.problem.inertias(run.xs[0]):
        heavy, light = problems.wrong(pi, np.ones(7)), problems.wrong(pi, -np.ones(7))
        np.testing.assert_allclose([heavy[0], light[0]], [1.7 * pi[0], 0.3 * pi[0]])
        np.testing.assert_allclose(heavy[1:4] / heavy[0], 1.7 * pi[1:4] / pi[0], atol=1e-12)


@pytest.mark.parametrize("name", ["kinova", "quadrotor", "borinot"])
def test_holding_holds(name):
    """The disturbance from which single shooting starts leaves the robot where it is."""
    run = problems.simulate(name, nodes=5)
    x = problems.at_rest(run.problem, problems.random_guess(run, np.random.default_rng(3))[0])
    node = run.problem.node()
    data = node.createData()
    for given, u in zip(run.inputs, problems.holding(run, x)):
        node.input = given
        node.calc(data, x, u)
        assert abs(run.problem.state.diff(x, np.array(data.xnext))).max() < 1e-9


@pytest.mark.slow
def test_table_with_two_guesses(tmp_path, capsys, monkeypatch):
    """All rollouts of arm and quadrotor solve, both manifolds end at one cost.

    Table and figure are written.
    """
    monkeypatch.setattr(
        sys,
        "argv",
        [
            "papers.py",
            "--guesses",
            "2",
            "--only",
            "kinova",
            "quadrotor",
            "--figure",
            str(tmp_path / "f.png"),
        ],
    )
    assert papers.main() == 0
    lines = capsys.readouterr().out.splitlines()
    rows = [line for line in lines if line.startswith(("| kinova", "| quadrotor"))]
    assert len(rows) == 6 and all("| 2/2 |" in row for row in rows)
    assert all(line.count("|") == lines[0].count("|") for line in rows)
    assert (tmp_path / "f.png").stat().st_size > 10_000


def test_manifolds_end_at_one_cost():
    last = [papers.progress("kinova", manifold)["points"][-1] for manifold in MANIFOLDS]
    assert all(point["stopped"] and point["motion"] < 0.2 for point in last)
    assert last[0]["cost"] == pytest.approx(last[1]["cost"], rel=0.05)


def test_rollouts_of_a_walking_robot():
    """Multiple shooting solves ANYmal from a guess whose rollout is far off."""
    run = problems.simulate("anymal", nodes=papers.NODES["anymal"])
    result = papers.solve(run, problems.random_guess(run, np.random.default_rng(0)), "multiple")
    assert result["stopped"] and result["motion"] < 0.2
    assert result["cost"] < papers.SOLVED * papers.solve(run, run.xs, "multiple")["cost"]


def test_sphere():
    """Nullspace: the axes of equal moments are not turned, and the sphere is found.

    Without the null space taken out there is no step.
    """
    found = papers.sphere("nullspace", bounded=True, noise=0.0)
    assert found["solved for"] == found["parameters"] - 3 and found["turn in the first step"] == 0.0
    assert (
        found["stopped"] and abs(found["mass error [g]"]) < 1e-3 and found["com error [mm]"] < 1e-3
    )
    np.testing.assert_allclose(found["moments"], 1.0, rtol=1e-5)
    assert "iterations" not in papers.sphere("schur", bounded=False, noise=0.0)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("name", "rollout"), [("kinova", "single"), ("hopper", "multiple"), ("quadrotor", "feasible")]
)
def test_where_it_stops_little_is_left(name, rollout, seed):
    """However short the trust region has become.

    As many iterations again lower the cost by less than a hundredth.
    """
    run = problems.simulate(name, nodes=papers.NODES[name])
    guess = problems.random_guess(run, np.random.default_rng(seed))
    window = problems.window(run, guess)
    solver, of = window.solver, run.problem
    papers.configure(solver, of, rollout if rollout != "single" else "feasible")
    stopped = solver.solve(
        [guess[0], *guess],
        [of.state.diff(window.arrival.reference, guess[0]), *window.us],
        papers.ITERATIONS,
    )
    cost, iterations = solver.cost, solver.iter
    solver.th_stop = 1e-9
    solver.solve(solver.states(), solver.controls(), iterations)
    assert solver.largest_gap < 1e-2
    assert not stopped or solver.cost > 0.99 * cost
