# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Tables of `prime calibrate` for people."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from rich.table import Table

from ..calibration.outcome import CalibrationOutcome, WrittenOutcome, observable_in_words
from .console import say, table, warn


def report(args: argparse.Namespace, outcome: CalibrationOutcome) -> None:
    """Tables for people."""
    for notice in outcome.notices:
        warn(notice)
    for r in outcome.runs:
        state = "converged" if r.result.converged else "NOT converged"
        effort = f"{r.result.iterations} iterations in {r.seconds:.1f} s, {state}"
        say(args, f"{r.name}: {r.nodes} nodes, {effort}")
    if len(outcome.fused.free):
        say(args, _offset_table(outcome))
    if outcome.descent is not None:
        say(args, _noise_table(outcome))
    for scores in outcome.held_out:
        columns = [k for k in scores if k != "run"]
        rows = {m: [scores[c][m] for c in columns] for m in scores[columns[0]]}
        say(args, table(f"without motion capture: {scores['run']}", rows, tuple(columns)))


def use_of(outcome: WrittenOutcome, files: Mapping[str, str]) -> str:
    """The line that says what the YAML is for."""
    if outcome.unfinished:
        return f"{files['yaml']} is unfinished, and not for use: {outcome.unfinished}"
    return f"use it as --robot {files['yaml']}"


def _offset_table(outcome: CalibrationOutcome) -> Table:
    rows = {}
    for r in outcome.rows():
        scale, unit = (1e3, "mm") if r["unit"] == "m" else (57.29578, "deg")
        low, high = (scale * v for v in r["interval"])
        told = "" if r["observable"] else "not observable"
        parts = (scale * r[k] for k in ("value", "statistical", "systematic"))
        value, *rest = (f"{v:.2f}" for v in parts)
        rows[f"{r['name']} [{unit}]"] = [value, f"[{low:.2f}, {high:.2f}]", *rest, told]
    columns = ("offset", "95 % interval", "statistical", "systematic", "")
    return table("offsets, true minus model", rows, columns)


def _noise_table(outcome: CalibrationOutcome) -> Table:
    rows = {}
    for row in outcome.noise_rows():
        before, after = (" ".join(f"{v:.3g}" for v in row[k]) for k in ("before", "after"))
        told = observable_in_words(row["observable"])
        rows[f"{row['name']} [{row['unit']}]"] = [before, after, f"{row['correlation']:.2f}", told]
    d = outcome.descent
    state = "gap closed" if d.converged else "gap still open"
    title = f"noise, loss {d.before:.4g} -> {d.after:.4g}, {len(d.history)} iterations, {state}"
    return table(title, rows, ("before", "after", "largest correlation", ""))
