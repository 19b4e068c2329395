# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The benchmark of a bi-level calibration goes through all its stages, on three seconds."""

from __future__ import annotations

import argparse
import sys

import pytest
from bilevel import main, measure


def test_rows_of_a_calibration(recorded_runs):
    pytest.importorskip("cvxpy")
    options = {"run": "go2_nominal", "robot": "go2", "seconds": 3.0, "oracle": "semidefinite"}
    rows = measure(argparse.Namespace(**options, iterations=2))
    assert [r["what"].split(",")[0] for r in rows[1:3]] == ["offsets", "first lower level"]
    losses = [r["loss"] for r in rows if "loss" in r]
    assert len(losses) == 2 and losses[1] < losses[0]
    # 300 nodes; thirty times what an iteration takes
    assert max(r["CPU [s]"] for r in rows if "loss" in r) < 10.0


def test_a_run_that_is_missing(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["bilevel.py", "--run", "nowhere"])
    assert main() == 2
    told = capsys.readouterr().err
    assert "no such bag" in told and told.count("\n") == 1
