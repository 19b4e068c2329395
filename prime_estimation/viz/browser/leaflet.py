# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Leaflet in a recorded web page: curves of the whole recording and the legend of the scene."""

from __future__ import annotations

import html
import io
from collections.abc import Sequence

from . import style
from .plots import feet_of, force_curves, mass_curves, time_curves
from .readout import LEGEND
from .robot_view import RobotView

_SHEET = (
    "position:fixed;top:12px;right:12px;width:340px;max-height:calc(100vh - 90px);overflow:auto;"
    "z-index:1000;background:rgba(255,255,255,0.92);border-radius:6px;padding:8px 12px;"
    "font:13px sans-serif;box-shadow:0 0 12px rgba(0,0,0,0.12)"
)


def leaflet(robots: Sequence[RobotView], begin: float, end: float) -> str:
    """HTML of the leaflet, which its reader can fold away."""
    parts = [
        f"<b>{html.escape(robot.source.name)}</b>{_curves(robot, begin, end)}" for robot in robots
    ]
    body = f'<summary style="cursor:pointer">curves and legend</summary>{"".join(parts)}{LEGEND}'
    return f'<details open style="{_SHEET}">{body}</details>'


def _curves(robot: RobotView, begin: float, end: float) -> str:
    """SVG with mass, normal forces and solve time over the span [s]."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    zero = robot.zero_ns
    span = (robot.source.track, zero + round(1e9 * begin), zero + round(1e9 * end), zero)
    figure = Figure(figsize=(4.4, 5.6), layout="constrained")
    top, middle, bottom = figure.subplots(3, 1, sharex=True)
    color = tuple(c / 255 for c in style.ESTIMATE)
    t, mass, high, low = mass_curves(*span)
    top.fill_between(t, low, high, color=color, alpha=0.22, lw=0)
    top.plot(t, mass, color=color, lw=1.2)
    t, *forces = force_curves(*span)
    for name, force, c in zip(feet_of(robot.source.track), forces, style.CURVES * 8):
        middle.plot(t, force, lw=0.8, color=tuple(v / 255 for v in c), label=name)
    middle.legend(fontsize="x-small", ncols=2)
    bottom.semilogy(*time_curves(*span), color=color, lw=0.8)
    titles = ("total mass [kg], 95 % band", "normal forces [N]", "solve time [ms]")
    for axes, title in zip((top, middle, bottom), titles):
        axes.set_title(title, fontsize="small")
        axes.tick_params(labelsize="small")
    bottom.set_xlabel("time [s]", fontsize="small")
    out = io.StringIO()
    FigureCanvasSVG(figure).print_svg(out)
    text = out.getvalue()
    return text[text.index("<svg") :].replace("<svg ", '<svg style="width:100%;height:auto" ', 1)
