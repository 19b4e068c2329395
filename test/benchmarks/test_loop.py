# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Benchmark of the closed loop: its cases, and the page that it writes."""

from collections import Counter
from dataclasses import asdict

import pytest

pytest.importorskip("mujoco")

from loop import KINDS, cases
from loop_report import report

from prime_estimation.closed_loop.trace import Scores


def test_cases_of_three_seeds():
    all_of_them = list(cases(3, 1, set(KINDS)))
    assert len({case.key for case in all_of_them}) == len(all_of_them)
    count = Counter((case.kind, case.scenario.gait) for case in all_of_them)
    robots, updates, places = 2, 3, 3
    assert count["loads", "trot"] == 3 * robots * updates * places
    assert count["loads", "walk"] == robots * updates * places
    assert count["pushes", "trot"] == 3 * robots * updates
    assert count["endurance", "trot"] == 3 * robots * 2


def row(kind: str, update: str, height: float, **more) -> dict:
    scores = asdict(Scores(height, 0.01, 0.01, 0.002, 0.03, 6.0, 20.0))
    part = "walked" if kind == "endurance" else "loaded"
    told = dict(kind=kind, name="back", robot="go1", gait="trot", update=update, seed=0)
    rest = dict(fell=False, stopped="", end=9.0, solve_ms=[4.0, 5.0], mass_error=0.012)
    return {**told, **rest, part: scores, **more}


def test_report():
    rows = [row("loads", "off", 0.0112), row("loads", "on", 0.0005, stopped="no odometry")]
    text = report([*rows, row("endurance", "on", 0.001)])
    assert "| go1 | trot | back | off | 0 of 1 | 11.2 |" in text
    assert "| go1 | trot | back | on | 1 of 1 | 0.5 |" in text
    assert "0.030 (worst 0.030)" in text and "median 4.0 ms" in text and "| 1.2 |" in text
