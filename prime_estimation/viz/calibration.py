# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Report of a calibration: one HTML file with its figures inside."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..calibration.outcome import CalibrationOutcome, observable_in_words
from ..evaluation.statistics import HALF_WIDTH_95
from .identification import STYLE, _e, _figure, _table

SCALE = {"m": (1e3, "mm"), "rad": (180.0 / np.pi, "deg")}


def write_calibration_report(outcome: CalibrationOutcome, folder: Path) -> Path:
    """Write report.html into `folder`."""
    title = f"{outcome.robot.name}: kinematic calibration"
    parts = [f"<h1>{_e(title)}</h1>"]
    parts += [f'<p class="note">{_e(n)}</p>' for n in outcome.notices]
    parts += [_runs(outcome), "<h2>Offsets from the model</h2>", _offsets(outcome)]
    for unit in ("m", "rad"):
        rows = [r for r in outcome.rows() if r["unit"] == unit]
        if rows:
            height = 0.22 * len(rows) + 0.9
            parts.append(_figure(9, height, lambda f, rows=rows, unit=unit: _draw(f, rows, unit)))
    if outcome.descent is not None:
        parts += ["<h2>Noise</h2>", _noise(outcome), _figure(9, 2.8, lambda f: _loss(f, outcome))]
        parts.append(_figure(9, 2.6, lambda f: _ellipses(f, outcome)))
    parts += [_held_out(v) for v in outcome.held_out]
    path = folder / "report.html"
    head = f'<meta charset="utf-8"><title>{_e(title)}</title><style>{STYLE}</style>'
    path.write_text(
        f'<!doctype html><html lang="en"><head>{head}</head><body>{"".join(parts)}</body></html>\n',
        encoding="utf-8",
    )
    return path


def _runs(outcome: CalibrationOutcome) -> str:
    rows = [
        [
            _e(run.name),
            str(run.nodes),
            f"{run.result.iterations}, {run.seconds:.1f} s",
            "converged" if run.result.converged else '<span class="no">not converged</span>',
        ]
        for run in outcome.runs
    ]
    return "<h2>Recordings</h2>" + _table(["", "nodes", "iterations", ""], rows)


def _offsets(outcome: CalibrationOutcome) -> str:
    rows = []
    for r in outcome.rows():
        scale, unit = SCALE[r["unit"]]
        low, high = (scale * v for v in r["interval"])
        told = "" if r["observable"] else '<span class="no">not observable</span>'
        parts = (f"{scale * r[k]:.2f}" for k in ("statistical", "systematic"))
        value = f"{scale * r['value']:+.2f}"
        rows.append([f"{_e(r['name'])} [{unit}]", value, f"{low:.2f} … {high:.2f}", *parts, told])
    return _table(["", "offset", "95 % interval", "statistical", "systematic", ""], rows)


def _draw(figure, rows: list[dict], unit: str) -> None:
    """Offsets with their 95 % intervals."""
    scale, name = SCALE[unit]
    axes, at = figure.subplots(), np.arange(len(rows))[::-1]
    value = scale * np.array([r["value"] for r in rows])
    stddev = scale * np.array([r["stddev"] for r in rows])
    statistical = scale * np.array([r["statistical"] for r in rows])
    axes.errorbar(value, at, xerr=HALF_WIDTH_95 * stddev, fmt="none", ecolor="0.7", capsize=3)
    axes.errorbar(value, at, xerr=HALF_WIDTH_95 * statistical, fmt="o", ms=4, color="C0", capsize=2)
    axes.axvline(0.0, color="k", lw=0.6)
    axes.set_yticks(at, [r["name"] for r in rows], fontsize=8)
    axes.set_xlabel(f"true minus model [{name}]; thin: with the systematic part")


def _held_out(scores: dict) -> str:
    columns = [k for k in scores if k != "run"]
    rows = [[_e(m), *(f"{scores[c][m]:.4g}" for c in columns)] for m in scores[columns[0]]]
    return f"<h2>Without motion capture: {_e(scores['run'])}</h2>" + _table(["", *columns], rows)


def _noise(outcome: CalibrationOutcome) -> str:
    rows = []
    for r in outcome.noise_rows():
        before, after = (" ".join(f"{v:.3g}" for v in r[k]) for k in ("before", "after"))
        name = f"{_e(r['name'])} [{_e(r['unit'])}]"
        told = observable_in_words(r["observable"])
        rows.append([name, before, after, f"{r['correlation']:.2f}", told])
    return _table(["standard deviations", "before", "after", "largest correlation", ""], rows)


def _loss(figure, outcome: CalibrationOutcome) -> None:
    """Loss and duality gap by iteration."""
    axes, history = figure.subplots(), outcome.descent.history
    axes.semilogy([i.loss for i in history], "o-", label="loss")
    axes.semilogy([max(i.gap, 1e-12) for i in history], "s--", label="duality gap")
    axes.set_xlabel("iteration")
    axes.legend()


def _ellipses(figure, outcome: CalibrationOutcome) -> None:
    """First two axes of each block before (grey) and after, in standard deviations before."""
    rows = outcome.noise_rows()
    angle = np.linspace(0.0, 2.0 * np.pi, 60)
    circle = np.stack([np.cos(angle), np.sin(angle)])
    for axes, row in zip(figure.subplots(1, len(rows)), rows):
        unit = np.array(row["before"])[:2]
        relative = np.array(row["covariance"])[:2, :2] / np.outer(unit, unit)
        axes.plot(*circle, color="0.6")
        axes.plot(*(np.linalg.cholesky(relative) @ circle), color="C0")
        axes.set_title(row["name"], fontsize=7)
        axes.set_aspect("equal")
        axes.tick_params(labelsize=6)
