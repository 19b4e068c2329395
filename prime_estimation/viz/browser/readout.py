# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Words and numbers of the page: figures of a robot, its label in the scene, the legend."""

from __future__ import annotations

import html
import math

from ...evaluation.statistics import HALF_WIDTH_95
from ...types import ContactState
from . import style
from .scene import RobotScene
from .track import Track

_ROWS = (
    (style.ESTIMATE, "estimated inertia, as a box"),
    (style.UNOBSERVABLE, "the same, not observable yet"),
    (style.NOMINAL, "nominal inertia (URDF)"),
    (style.STATE[ContactState.STICKING], "contact sticks"),
    (style.STATE[ContactState.SLIPPING], "contact slips"),
    (style.STATE[ContactState.OPEN], "contact open"),
    (style.INTERVAL, "95 % of the force's tip"),
    (style.TERRAIN, "ground where a foot stood"),
    (style.COVARIANCE, "95 % of the base, enlarged"),
    (style.PUSH, "external push"),
)
_SWATCH = (
    '<span style="display:inline-block;width:11px;height:11px;border-radius:3px;'
    'margin-right:7px;background:{}"></span>'
)
LEGEND = '<div style="font-size:12px;line-height:1.75;padding:4px 12px 10px">{}</div>'.format(
    "<br>".join(_SWATCH.format(style.css(color)) + text for color, text in _ROWS)
)


def label_text(scene: RobotScene, name: str, silent: str) -> str:
    """Label above a robot: its name and mass, and for how long it has been silent, if it has."""
    mass = f"{scene.total_mass:.2f} ± {HALF_WIDTH_95 * scene.total_mass_stddev:.2f} kg"
    known = mass if math.isfinite(scene.total_mass) else ""
    return "   ".join(filter(None, [name, known, silent and f"silent for {silent}"]))


def readout_html(scene: RobotScene, track: Track, silent: str) -> str:
    """Figures of a robot; `silent`: for how long nothing new has been told of it, if so."""
    nominal = track.robot.total_mass
    rows = {}
    if math.isfinite(scene.total_mass):
        rows["total mass"] = f"{_interval(scene.total_mass, scene.total_mass_stddev)} kg"
        rows["beyond the URDF"] = f"{scene.total_mass - nominal:+.2f} kg"
    for body in scene.bodies:
        known = "" if body.observable else ", not observable"
        rows[f"mass of {body.link}"] = f"{_interval(body.mass, body.mass_stddev)} kg{known}"
    extent = 1e3 * max(scene.covariance.semi_axes) / scene.zoom
    if math.isfinite(extent):
        rows["base position"] = f"± {extent:.1f} mm, drawn × {scene.zoom:g}"
    if scene.solve_time_ms > 0.0:  # there is an estimate
        rows["solve time"] = f"{scene.solve_time_ms:.2f} ms"
    if silent:
        rows["silent for"] = silent
    for trouble in track.troubles:  # of now: a robot that is silent is not drawn anew
        name, _, what = trouble.partition(": ")
        rows[name] = what
    cells = "".join(
        f'<tr><td style="color:#667">{html.escape(n)}</td>'
        f'<td style="text-align:right;font-variant-numeric:tabular-nums">{html.escape(v)}</td></tr>'
        for n, v in rows.items()
    )
    return f'<table style="width:100%;font-size:13px;padding:2px 10px">{cells}</table>'


def _interval(value: float, stddev: float) -> str:
    return f"{value:.3f} ± {HALF_WIDTH_95 * stddev:.3f}"
