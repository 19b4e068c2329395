# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Figures of an identification: convergence, intervals, equivalent boxes, residuals, forces."""

from __future__ import annotations

from itertools import product

import numpy as np

from ..evaluation.statistics import HALF_WIDTH_95
from ..identify.outcome import Outcome, equivalent_box
from ..identify.posterior import Quantity
from ..identify.single import Run
from ..inertia import from_theta
from .figures import CLOSE_UP, ESTIMATE, TRUTH

NOMINAL = "#999999"


def draw_convergence(figure, outcome: Outcome) -> None:
    """Cost, and masses of the links, over the iterations of every recording."""
    left, right = figure.subplots(1, 2)
    for run in outcome.runs:
        history, problem = run.result.history, run.result.window.problem
        left.semilogy([i.cost for i in history], ".-", label=run.name)
        start = problem.columns("theta").start - 2 * problem.nv
        for k, link in enumerate(problem.robot.estimated_links):
            thetas = [i.parameters[start + 10 * k : start + 10 * k + 10] for i in history]
            right.plot(
                [from_theta(theta, problem.config.estimator.manifold)[0][0] for theta in thetas],
                ".-",
                label=f"{link}, {run.name}",
            )
    left.set(title="cost", xlabel="iteration")
    right.set(title="mass [kg]", xlabel="iteration")
    for axes in (left, right):
        axes.legend(fontsize="small")


def draw_quantities(figure, outcome: Outcome, link: str) -> None:
    """Mass, com and moments of inertia with their 95 % intervals, where they are observable.

    Every recording, all together, baseline, URDF.
    """
    groups = (("mass [kg]", [0]), ("com [m]", [1, 2, 3]), ("moments of inertia [kg m2]", [4, 6, 9]))
    q = outcome.posterior.quantities(link)
    for axes, (title, which) in zip(figure.subplots(1, 3, width_ratios=(1, 2, 2)), groups):
        _draw_group(axes, outcome, link, which)
        values = [
            v
            for i in which
            for v in (q[i].value - 3 * q[i].stddev, q[i].value + 3 * q[i].stddev, q[i].prior)
        ]
        margin = 0.15 * (max(values) - min(values)) + 1e-6
        axes.set(
            title=title,
            xticks=np.arange(len(which)),
            xticklabels=[
                q[i].name + ("" if q[i].observable else "\nnot\nobservable") for i in which
            ],
            ylim=(min(values) - margin, max(values) + margin),
        )
    axes.legend(fontsize="x-small")


def _draw_group(axes, outcome: Outcome, link: str, which: list[int]) -> None:
    """Quantities of one unit: prior, every recording, all together, baseline."""
    q, places = outcome.posterior.quantities(link), np.arange(len(which))
    prior = [q[i].prior for i in which], [HALF_WIDTH_95 * q[i].prior_stddev for i in which]
    style = dict(fmt="s", color=NOMINAL, ms=4, lw=1)
    axes.errorbar(places - 0.3, *prior, **style, label="URDF (prior)")
    for k, run in enumerate(outcome.runs if len(outcome.runs) > 1 else ()):
        own = run.posterior.quantities(link)
        values = _told(own, which)
        axes.errorbar(places - 0.15 + 0.05 * k, *values, fmt=".", color=NOMINAL, ms=3, lw=0.7)
    style = dict(fmt="o", color=ESTIMATE, ms=5, capsize=4)
    axes.errorbar(places, *_told(q, which), **style, label="identified")
    for k, method in enumerate(outcome.baseline):
        psi = outcome.baseline_psi(method, link)[which]
        style = dict(marker="x" if k else "+", linestyle="", color=TRUTH, ms=6)
        axes.plot(places + 0.2 + 0.1 * k, psi, **style, label=method)


def _told(quantities: list[Quantity], which: list[int]) -> np.ndarray:
    """(2, n) values and half widths of their 95 % intervals; NaN, no mark, where not observable."""
    chosen = [quantities[i] for i in which]
    told = [(q.value, HALF_WIDTH_95 * q.stddev) if q.observable else (np.nan,) * 2 for q in chosen]
    return np.array(told).T


def draw_boxes(figure, outcome: Outcome, link: str) -> None:
    """The homogeneous boxes of the same inertia, seen along the three axes of the link."""
    nominal = outcome.posterior.pi_prior()[0][10 * outcome.posterior.links.index(link) :][:10]
    for axes, (i, j) in zip(figure.subplots(1, 3), ((0, 1), (0, 2), (1, 2))):
        for pi, color, label in (
            (nominal, NOMINAL, "URDF"),
            (outcome.posterior.pi(link), ESTIMATE, "identified"),
        ):
            for edge in _edges(equivalent_box(pi)):
                axes.plot(edge[:, i], edge[:, j], color=color, lw=1.2)
            centre = pi[1:4] / pi[0]
            axes.plot(centre[i], centre[j], "o", color=color, ms=4, label=label)
        axes.set(xlabel=f"{'xyz'[i]} [m]", ylabel=f"{'xyz'[j]} [m]", aspect="equal")
    axes.legend(fontsize="small")


def _edges(box: dict) -> list[np.ndarray]:
    """(2, 3) end points of the twelve edges."""
    half = 0.5 * np.array(box["edges"])
    axes = np.array(box["axes"])
    centre = np.array(box["centre"])
    corners = [np.array(c) for c in product((-1.0, 1.0), repeat=3)]
    pairs = [
        (a, b)
        for k, a in enumerate(corners)
        for b in corners[k + 1 :]
        if np.abs(a - b).sum() == 2.0
    ]
    return [np.array([centre + axes @ (half * a), centre + axes @ (half * b)]) for a, b in pairs]


def draw_residuals(figure, outcome: Outcome) -> None:
    """Rms of the whitened residuals by sensor, nominal and identified inertia (1: as expected)."""
    axes = figure.subplots()
    names = list(outcome.runs[0].after.mean_squares)
    for shift, color, label, which in (
        (-0.2, NOMINAL, "nominal", "before"),
        (0.2, ESTIMATE, "identified", "after"),
    ):
        values = [
            np.sqrt(np.mean([getattr(r, which).mean_squares.get(n, np.nan) for r in outcome.runs]))
            for n in names
        ]
        axes.bar(np.arange(len(names)) + shift, values, 0.38, color=color, label=label)
    axes.axhline(1.0, color=TRUTH, lw=0.8, ls=":")
    axes.set(
        xticks=range(len(names)),
        xticklabels=[n if n != "model" else "unexplained forces" for n in names],
        ylabel="rms / noise",
    )
    axes.legend(fontsize="small")


def draw_forces(figure, run: Run) -> None:
    """Vertical force of each foot over a close-up from the middle of the recording."""
    window = run.result.window
    robot = window.problem.robot
    force = np.array(
        [node.contact_forces(data)[0][2::3] for node, data in zip(window.nodes, window.data)]
    )
    t = 1e-9 * (np.array(window.stamps[:-1]) - window.stamps[0]) + run.span[0]
    shown = np.abs(t - 0.5 * (t[0] + t[-1])) < CLOSE_UP
    for axes, foot in zip(
        figure.subplots(len(robot.feet), 1, sharex=True, squeeze=False)[:, 0], robot.feet
    ):
        mine = [c.foot == foot for c in robot.contacts]
        axes.plot(t[shown], force[shown][:, mine].sum(axis=1), color=ESTIMATE, lw=1.2)
        axes.set(ylabel=f"{foot} [N]", xlabel="time [s]")
        axes.label_outer()
