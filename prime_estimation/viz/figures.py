# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Figures of an output bag: mass with its 95 % band, contact forces, velocity error, timing.

Against truth where there is one.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..evaluation.inertia import true_parameters
from ..evaluation.motion import Motion
from ..evaluation.statistics import HALF_WIDTH_95
from .canvas import canvas
from .output_bag import Recordings

ESTIMATE, TRUTH = "#0b6fa4", "#222222"  # readable in grey, and for colour-blind eyes
LONGEST_LINE = 0.1  # s without an estimate: a restart, not a line
CLOSE_UP = 1.5  # s of contact forces that a figure shows


def save_figures(
    estimate: str | Path, reference: str | Path | None, folder: str | Path, title: str = ""
) -> list[Path]:
    """Draws overview.png, mass.png, forces.png, velocity.png and timing.png, where there are data.

    Args:
        estimate: output bag.
        reference: the run, for its ground truth; may be None.
        folder: made if missing.
        title: of the overview.

    Raises:
        PrimeError: no matplotlib.
    """
    Figure, FigureCanvasAgg = canvas()  # noqa: N806 - they are classes
    bags = Recordings.load(estimate, reference)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    panels = {
        "mass": draw_mass,
        "forces": draw_force,
        "velocity": draw_velocity,
        "timing": draw_timing,
    }
    overview = Figure(figsize=(11, 7), layout="constrained")
    saved = []
    for axes, (name, draw) in zip(overview.subplots(2, 2).flat, panels.items()):
        draw(axes, bags)
        single = Figure(figsize=(9, 3.6 if name != "forces" else 8), layout="constrained")
        draw_forces(single, bags) if name == "forces" else draw(single.subplots(), bags)
        saved.append(_save(FigureCanvasAgg, single, folder / f"{name}.png"))
    overview.suptitle(title)
    return [_save(FigureCanvasAgg, overview, folder / "overview.png"), *saved]


def draw_mass(axes, bags: Recordings) -> None:
    """Mass of the estimated bodies over time with its 95 % band, and the truth."""
    messages = bags.estimate.get("/prime/inertial_parameters", [])
    t = bags.times(messages)
    axes.set(title="mass of the estimated body", xlabel="time [s]", ylabel="mass [kg]")
    for k, link in enumerate(dict.fromkeys(b.link for m in messages for b in m.bodies)):
        rows = [
            (time, b.inertia.m, b.mass_stddev)
            for time, m in zip(t, messages)
            for b in m.bodies
            if b.link == link
        ]
        time, mass, stddev = _broken_at_gaps(np.array(rows)).T
        color = ESTIMATE if k == 0 else f"C{k}"
        axes.fill_between(
            time,
            mass - HALF_WIDTH_95 * stddev,
            mass + HALF_WIDTH_95 * stddev,
            color=color,
            alpha=0.25,
            lw=0,
            label=f"{link}, 95 % interval",
        )
        axes.plot(time, mass, color=color, lw=1.2, label=link)
        if link in bags.truth.get("bodies_true", {}):
            axes.plot(
                time,
                [true_parameters(bags.truth, link, s)[0] for s in time],
                color=TRUTH,
                ls="--",
                lw=1,
                label="truth",
            )
        if link in bags.truth.get("bodies_nominal", {}):
            nominal = bags.truth["bodies_nominal"][link]["pin_dynamic_parameters"][0]
            axes.axhline(nominal, color=TRUTH, ls=":", lw=1, label="as in the URDF")
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="best", fontsize="small")


def draw_force(axes, bags: Recordings, contact: str | None = None) -> None:
    """Vertical force of one contact (default: the first), a close-up of the middle."""
    messages = bags.estimate.get("/prime/contact_wrenches", [])
    if not messages or not messages[0].contacts:
        axes.set_axis_off()
        return
    contact = contact or messages[0].contacts[0].name
    t = bags.times(messages)
    entries = [next(c for c in m.contacts if c.name == contact) for m in messages]
    force = np.array([c.wrench.force.z for c in entries])
    stddev = np.sqrt([c.force_covariance[8] for c in entries])
    middle = 0.5 * (t[0] + t[-1])
    shown = np.abs(t - middle) < 0.5 * CLOSE_UP
    axes.fill_between(
        t[shown],
        (force - HALF_WIDTH_95 * stddev)[shown],
        (force + HALF_WIDTH_95 * stddev)[shown],
        color=ESTIMATE,
        alpha=0.25,
        lw=0,
    )
    axes.plot(t[shown], force[shown], color=ESTIMATE, lw=1.2, label="estimate, 95 % interval")
    truth = bags.reference.get(f"/ground_truth/contacts/{contact}", [])
    if truth:
        s, f = bags.times(truth), np.array([m.wrench.force.z for m in truth])
        near = np.abs(s - middle) < 0.5 * CLOSE_UP
        axes.plot(s[near], f[near], color=TRUTH, ls="--", lw=1, label="truth (4 ms mean)")
    axes.set(title=f"vertical force, {contact}", xlabel="time [s]", ylabel="force [N]")
    axes.legend(loc="best", fontsize="small")


def draw_forces(figure, bags: Recordings) -> None:
    """`draw_force` for all contacts, one below the other."""
    messages = bags.estimate.get("/prime/contact_wrenches", [])
    names = [c.name for c in messages[0].contacts] if messages else []
    if names:
        for axes, name in zip(
            figure.subplots(len(names), 1, sharex=True, squeeze=False)[:, 0], names
        ):
            draw_force(axes, bags, name)
            axes.label_outer()
            if name != names[0]:
                axes.get_legend().remove()


def draw_velocity(axes, bags: Recordings) -> None:
    """Error of the base velocity (base axes) with the 95 % band of its length in one axis.

    The velocity itself without truth.
    """
    est = Motion(bags.estimate["/prime/odometry"], bags.start_ns)
    truth = bags.reference.get("/ground_truth/odom")
    value = est.velocity
    if truth:
        ref = Motion(truth, bags.start_ns)
        value = est.velocity - np.stack(
            [np.interp(est.t, ref.t, column) for column in ref.velocity.T], axis=1
        )
        band = HALF_WIDTH_95 * np.sqrt(
            np.maximum(np.trace(est.velocity_covariance, axis1=1, axis2=2) / 3, 0)
        )
        axes.fill_between(
            est.t, -band, band, color="#bbbbbb", alpha=0.6, lw=0, label="95 % interval"
        )
    rows = _broken_at_gaps(np.column_stack([est.t, value]))
    for column, name in zip(rows[:, 1:].T, "xyz", strict=True):
        axes.plot(rows[:, 0], column, lw=0.7, label=name)
    axes.set(
        title="error of the base velocity" if truth else "base velocity",
        xlabel="time [s]",
        ylabel="[m/s]",
    )
    if truth:
        _limit_to(axes, value)
    axes.legend(loc="best", fontsize="small", ncols=4)


def draw_timing(axes, bags: Recordings) -> None:
    """Duration of the window updates over time, with median and 99th percentile."""
    messages = bags.estimate.get("/prime/status", [])
    solve = np.array([m.solve_time_ms for m in messages])
    axes.set(title="window update", xlabel="time [s]", ylabel="solve time [ms]")
    if len(solve):
        median, high = np.percentile(solve, [50, 99])
        axes.plot(bags.times(messages), solve, ".", ms=2, color=ESTIMATE)
        axes.axhline(median, color=TRUTH, lw=1, label=f"median {median:.2f} ms")
        axes.axhline(high, color=TRUTH, lw=1, ls=":", label=f"99 % {high:.2f} ms")
        axes.set_ylim(0, 1.6 * high)
        axes.legend(loc="best", fontsize="small")


def _broken_at_gaps(rows: np.ndarray) -> np.ndarray:
    """Rows that start with a time, with a row of NaN in every gap, where no line is drawn."""
    gaps = np.flatnonzero(np.diff(rows[:, 0]) > LONGEST_LINE) + 1
    return np.insert(rows, gaps, np.nan, axis=0)


def _limit_to(axes, values: np.ndarray) -> None:
    """Show the bulk of the values: a wide band or one spike must not flatten the rest."""
    values = np.asarray(values)[np.isfinite(values)]
    if values.size:
        low, high = np.percentile(values, [0.05, 99.95])
        margin = 0.25 * (high - low) + 1e-3 * max(1.0, abs(high))
        axes.set_ylim(low - margin, high + margin)


def _save(canvas, figure, path: Path) -> Path:
    canvas(figure).print_figure(str(path), dpi=120)
    return path
