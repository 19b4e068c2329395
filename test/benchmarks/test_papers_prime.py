# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""PRIME's tables: the contact models are three different programs, the shifted trunk is what it
says, short runs give every column."""

from __future__ import annotations

import numpy as np
import papers_prime
import pytest

from prime_estimation.config.parameters import Config
from prime_estimation.robot import Robot


def test_contact_models_differ():
    configs = [
        Config.load("g1").updated(variant.overlay).estimator for variant in papers_prime.MODELS
    ]
    assert [(c.contact_model, c.cone) for c in configs] == [
        ("smoothed", "coulomb"),
        ("smoothed", "convex"),
        ("rigid", "coulomb"),
    ]


def test_shifted_trunk(tmp_path):
    """The same robot but for the height of one centre of mass.

    Noise and contacts are found under its name.
    """
    case = next(c for c in papers_prime.CASES if c.shift)
    path = papers_prime.shifted(case, tmp_path)
    nominal, lowered = Config.load(case.robot), Config.load(str(path))
    assert lowered.noise == nominal.noise and lowered.robot.contacts == nominal.robot.contacts
    bodies = [list(Robot(c.robot).model.inertias)[1:] for c in (nominal, lowered)]
    for k, (a, b) in enumerate(zip(*bodies)):
        assert b.mass == pytest.approx(a.mass)
        np.testing.assert_allclose(
            b.lever - a.lever, [0.0, 0.0, case.shift if k == 0 else 0.0], atol=1e-8
        )
        np.testing.assert_allclose(b.inertia, a.inertia, atol=1e-8)


def test_short_runs_fill_the_tables(recorded_runs, monkeypatch, tmp_path):
    monkeypatch.setattr(papers_prime, "KAPPAS", (500,))
    monkeypatch.setattr(papers_prime, "KAPPA_RUNS", {"go2_payload3": "go2"})
    (row,) = papers_prime.sharpness(1.0)
    assert set(row) >= set(papers_prime.COLUMNS["kappa"]) - {"error, raw"}
    assert row["iterations"] < papers_prime.LIMIT and row["gap"] < papers_prime.CLOSED
    monkeypatch.setattr(papers_prime, "CASES", [papers_prime.CASES[0]])
    row = next(papers_prime.payloads(2.0, tmp_path))
    assert set(row) >= set(papers_prime.COLUMNS["payloads"])
    assert abs(row["mass error [kg]"]) < row["+- 95 % [kg]"] and row[
        "PRIME: mass error [kg]"
    ] == pytest.approx(0.048)
