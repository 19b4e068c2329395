# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Report of an identification: one HTML file with its figures inside."""

from __future__ import annotations

import base64
import html
import io
import math
from pathlib import Path

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from ..identify.outcome import Outcome, error_table
from .identification_figures import (
    draw_boxes,
    draw_convergence,
    draw_forces,
    draw_quantities,
    draw_residuals,
)

STYLE = """body{font:15px/1.5 sans-serif;max-width:1100px;margin:2em auto;padding:0 1em;color:#222}
table{border-collapse:collapse;margin:1em 0}
td,th{padding:.25em .8em;border-bottom:1px solid #ddd;text-align:right}
td:first-child,th:first-child{text-align:left}img{max-width:100%}
.no{color:#a33}.note{background:#fff6dd;padding:.5em 1em}"""


def write_report(outcome: Outcome, folder: Path) -> Path:
    """Write report.html into `folder`."""
    parts = [
        f"<h1>Inertia of {_e(', '.join(outcome.posterior.links))}, {_e(outcome.robot.name)}</h1>"
    ]
    parts += [f'<p class="note">{_e(n)}</p>' for n in outcome.notices]
    parts.append(_runs(outcome))
    for link in outcome.posterior.links:
        parts += _link(outcome, link)
    parts += _joints(outcome)
    parts += ["<h2>Convergence</h2>", _figure(9, 3.2, lambda f: draw_convergence(f, outcome))]
    parts += [
        "<h2>Residuals with nominal and identified inertia</h2>",
        _figure(9, 3.2, lambda f: draw_residuals(f, outcome)),
    ]
    if outcome.robot.contacts:
        parts += [
            "<h2>Contact forces</h2>",
            _figure(
                9, 1.7 * len(outcome.robot.feet) + 0.6, lambda f: draw_forces(f, outcome.runs[0])
            ),
        ]
    parts += _checks(outcome)
    path = folder / "report.html"
    title = f"{outcome.robot.name}: identified inertia"
    head = f'<meta charset="utf-8"><title>{_e(title)}</title><style>{STYLE}</style>'
    path.write_text(
        f'<!doctype html><html lang="en"><head>{head}</head><body>{"".join(parts)}</body></html>\n',
        encoding="utf-8",
    )
    return path


def _link(outcome: Outcome, link: str) -> list[str]:
    return [
        f"<h2>{_e(link)}</h2>",
        _inertia_table(outcome, link),
        _figure(9, 3.2, lambda f: draw_quantities(f, outcome, link)),
        "<h3>Equivalent box</h3>",
        _figure(9, 3.4, lambda f: draw_boxes(f, outcome, link)),
        "<h3>What the motion showed</h3>",
        _directions_table(outcome, link),
        "<h3>Error budget</h3><p>What one standard deviation of each constant does to the result; "
        "more data do not reduce it.</p>",
        _budget_table(outcome, link),
    ]


def _inertia_table(outcome: Outcome, link: str) -> str:
    rows = []
    for i, q in enumerate(outcome.posterior.quantities(link)):
        low, high = q.interval
        value = f"{q.value:.4g}" if q.observable else '<span class="no">not observable</span>'
        errors = [f"{q.statistical:.2g}", f"{q.systematic:.2g}"]
        others = [f"{outcome.baseline_psi(method, link)[i]:.4g}" for method in outcome.baseline]
        told = [f"{q.name} [{q.unit}]", value, f"{low:.4g} … {high:.4g}"]
        rows.append([*told, *errors, f"{q.prior:.4g}", *others])
    head = ["", "identified", "95 % interval", "statistical", "systematic", "URDF"]
    return _table([*head, *outcome.baseline], rows)


def _directions_table(outcome: Outcome, link: str) -> str:
    rows = [
        [
            d.words,
            f"{100 * d.shrinkage:.1f} %",
            "yes" if d.observed else '<span class="no">no</span>',
            "" if d.observed else d.motion,
        ]
        for d in outcome.posterior_directions(link)
    ]
    head = ["direction", "left of the prior's width", "observed", "what would excite it"]
    return _table(head, rows)


def _budget_table(outcome: Outcome, link: str) -> str:
    causes = {cause: by_link[link] for cause, by_link in error_table(outcome.posterior).items()}
    rows = [
        [_e(cause), *(f"{1e3 * v:+.2f}" for v in shift.values())] for cause, shift in causes.items()
    ]
    return _table(["cause", "mass [g]", "com x [mm]", "com y [mm]", "com z [mm]"], rows)


def _joints(outcome: Outcome) -> list[str]:
    """Joint parameters beside what was taken for them before."""
    if outcome.joints is None:
        return []
    rows = []
    for q in outcome.joints.quantities():
        value = f"{q.value:.4g}" if q.observable else '<span class="no">not observable</span>'
        intervals = [f"{low:.4g} … {high:.4g}" for low, high in (q.interval, q.prior_interval)]
        rows.append([_e(f"{q.kind} {q.label}"), q.unit, value, intervals[0], f"{q.prior:.4g}"])
        rows[-1].append(intervals[1])
    head = ["", "unit", "identified", "95 % interval", "before", "95 % interval before"]
    return ["<h2>Joints</h2>", _table(head, rows)]


def _runs(outcome: Outcome) -> str:
    rows = []
    for r in outcome.runs:
        state = "converged" if r.result.converged else '<span class="no">not converged</span>'
        span = f"{r.span[0]:.2f} … {r.span[1]:.2f} s"
        touches = math.isfinite(r.friction[0])
        friction = f"{r.friction[0]:.3f} ± {r.friction[1]:.3f}" if touches else "no contacts"
        rows.append(
            [
                _e(r.name),
                span,
                str(r.nodes),
                f"{len(r.result.history)}, {r.result.seconds:.1f} s",
                state,
                friction,
            ]
        )
    return "<h2>Recordings</h2>" + _table(["", "span", "nodes", "iterations", "", "friction"], rows)


def _checks(outcome: Outcome) -> list[str]:
    out = []
    repeat = outcome.to_dict()["repeatability"]
    for link, quantities in (repeat or {}).items():
        rows = [
            [
                f"{name} [{v['unit']}]",
                f"{v['mean']:.4g}",
                f"{v['spread']:.2g}",
                f"{v['promised']:.2g}",
            ]
            for name, v in quantities.items()
        ]
        out += [
            f"<h2>Repeatability of {_e(link)}</h2>",
            _table(["", "mean", "standard deviation between recordings", "promised"], rows),
        ]
    for v in outcome.held_out:
        names = ("cost_per_node", "base_force_rms_N", "base_moment_rms_Nm", "joint_torque_rms_Nm")
        rows = [
            [name, *(f"{v[who][name]:.3g}" for who in ("nominal", "identified", "own"))]
            for name in names
        ]
        out += [
            f"<h2>Held out: {_e(v['run'])}</h2>",
            _table(["", "nominal", "identified from the others", "from itself"], rows),
        ]
    return out


def _table(head: list[str], rows: list[list[str]]) -> str:
    cells = "".join(f"<tr>{''.join(f'<td>{c}</td>' for c in row)}</tr>" for row in rows)
    return f"<table><tr>{''.join(f'<th>{_e(h)}</th>' for h in head)}</tr>{cells}</table>"


def _figure(width: float, height: float, draw) -> str:
    figure = Figure(figsize=(width, height), layout="constrained")
    draw(figure)
    buffer = io.BytesIO()
    FigureCanvasAgg(figure).print_png(buffer, metadata={"Software": None})
    return (
        f'<img alt="" src="data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()}">'
    )


def _e(text: str) -> str:
    return html.escape(str(text))
