# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Table of `real_logs.py`: two rows per log, one column per figure."""

from __future__ import annotations

import math

from tables import table

WHO = {"prime": "ours", "ekf": "filter"}
DEGREES = 180.0 / math.pi


def _number(name: str, form: str, factor: float = 1.0):
    def cell(scores: dict) -> str:
        value = scores.get(name)
        return "" if value is None else format(factor * value, form)

    return cell


def _pair(first, second):
    """Two numbers in a cell, or the one that there is."""
    return lambda scores: " / ".join(filter(None, (first(scores), second(scores))))


def _of_path(scores: dict) -> str:
    """Height at the end in % of the path walked."""
    if scores.get("z_end") is None:
        return ""
    return format(100.0 * scores["z_end"] / max(scores["path"], 1e-9), "+.1f")


def _mass(scores: dict) -> str:
    """Total mass and its standard deviation, where it is told at all."""
    if not scores.get("observable"):
        return ""
    return f"{scores['mass']:.2f} ± {scores['mass_stddev']:.2f}"


# heading, cell of one estimator's scores
COLUMNS = (
    ("path [m]", _number("path", ".1f")),
    (
        "velocity: rms / worst second [mm/s]",
        _pair(_number("velocity", ".0f", 1e3), _number("worst_second", ".0f", 1e3)),
    ),
    ("drift: end / over 4 s [%]", _pair(_number("drift", ".1f"), _number("segments", ".1f"))),
    ("height: end / rms [mm]", _pair(_number("z_end", "+.0f", 1e3), _number("z", ".0f", 1e3))),
    ("height at end [%]", _of_path),
    (
        "tilt: mean / max [deg]",
        _pair(_number("tilt", ".2f", DEGREES), _number("tilt_max", ".2f", DEGREES)),
    ),
    (
        "yaw: end / rms [deg]",
        _pair(_number("yaw_end", "+.2f", DEGREES), _number("yaw", ".2f", DEGREES)),
    ),
    ("mass [kg]", _mass),
    ("restarts", _number("restarts", ".0f")),
)


def _held(figures: dict) -> str:
    """One line on a robot that hangs."""
    if figures["suspended"] is None:
        return f"hangs and is never said to; contact forces up to {figures['force']:.1f} N"
    return (
        f"hangs, said in {100.0 * figures['share']:.0f} % of the estimates, first "
        f"{figures['suspended']:.2f} s after the data begin; contact forces up to "
        f"{figures['force']:.1f} N; restarts {figures['restarts']}"
    )


def markdown(results: list[dict]) -> str:
    """Markdown; robots that hang, and what went wrong, are listed below the table."""
    rows, below = [], []
    for scores in results:
        if "error" in scores:
            below.append(f"{scores['log']}: {scores['error']}")
        for who, label in WHO.items():
            figures = scores.get(who)
            if figures and "error" in figures:
                below.append(f"{scores['log']}, {label}: {figures['error']}")
            elif figures and "force" in figures:
                below.append(f"{scores['log']}, {label}: {_held(figures)}")
            elif figures:
                rows.append([scores["log"], label, *(cell(figures) for _, cell in COLUMNS)])
    head = ["log", "", *(name for name, _ in COLUMNS)]
    return "\n".join([table(head, rows), *([""] if below else []), *below])
