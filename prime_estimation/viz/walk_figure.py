# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Figure of walks in closed loop: posture of the trunk and total mass while a load comes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ..evaluation.statistics import HALF_WIDTH_95
from .canvas import canvas

COLOURS = {"off": "#c0392b", "on": "#0b6fa4", "true": "#222222"}
NAMES = {"off": "without update", "on": "with update", "true": "true inertia"}
GREY, SHADE = "#7f8c8d", "#f4ecd8"


def save_walks(
    path: Path,
    traces: Mapping[str, object],
    loaded: tuple[float, float],
    begin: float,
    title: str,
) -> Path:
    """Draw the true height, roll and pitch of each walk, and the mass as it is estimated.

    Args:
        path: of the picture.
        traces: `closed_loop.trace.Trace` by what its controller learned: off, on, true.
        loaded: when the load came and went [s].
        begin: of the axes [s].
        title: of the figure.

    Raises:
        PrimeError: no matplotlib.
    """
    Figure, FigureCanvasAgg = canvas()  # noqa: N806 - they are classes
    figure = Figure(figsize=(8.0, 8.0), layout="constrained")
    axes = figure.subplots(4, 1, sharex=True)
    for update, trace in traces.items():
        style = dict(color=COLOURS[update], label=NAMES[update], lw=1.2)
        k = trace.t >= begin
        axes[0].plot(trace.t[k], 1e3 * (trace.height[k] - trace.nominal_height), **style)
        axes[1].plot(trace.t[k], np.degrees(trace.roll[k]), **style)
        axes[2].plot(trace.t[k], np.degrees(trace.pitch[k]), **style)
    trace = traces["on"] if "on" in traces else next(iter(traces.values()))
    _draw_mass(axes[3], trace)
    labels = ("height error [mm]", "roll [deg]", "pitch [deg]", "total mass [kg]")
    for axis, label in zip(axes, labels):
        axis.set_ylabel(label)
        axis.axvspan(*np.minimum(loaded, trace.t[-1]), color=SHADE, zorder=0)
        axis.grid(alpha=0.3)
    axes[0].legend(loc="lower right", fontsize=8)
    axes[0].set_title(title, fontsize=10)
    axes[3].set(xlabel="time [s]", xlim=(begin, trace.t[-1]))
    FigureCanvasAgg(figure).print_png(path, metadata={"Software": None})
    return path


def _draw_mass(axis, trace) -> None:
    band = HALF_WIDTH_95 * trace.mass_stddev
    low, high = trace.mass - band, trace.mass + band
    axis.fill_between(trace.t, low, high, color=COLOURS["on"], alpha=0.25, lw=0)
    axis.plot(trace.t, trace.mass, color=COLOURS["on"], label="estimated, with its 95 % interval")
    axis.plot(trace.t, trace.model_mass, color=GREY, lw=0.9, label="model of the MPC")
    axis.plot(trace.t, trace.true_mass, color=COLOURS["true"], lw=0.9, ls="--", label="truth")
    axis.legend(loc="lower right", fontsize=8)
