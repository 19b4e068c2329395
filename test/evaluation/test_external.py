# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Figures of an external wrench whose errors are known."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from prime_estimation.errors import DataError
from prime_estimation.evaluation.external import external_figures

PUSH, MOMENT = np.array([-25.0, 10.0, 0.0]), np.array([0.0, 0.0, 2.0])
TURN = Rotation.from_euler("z", 0.7)


def message(t: float, force: np.ndarray, moment: np.ndarray):
    ns = round(t * 1e9)
    stamp = SimpleNamespace(sec=ns // 10**9, nanosec=ns % 10**9)
    vector = [SimpleNamespace(**dict(zip("xyz", v))) for v in (force, moment)]
    wrench = SimpleNamespace(force=vector[0], torque=vector[1])
    return SimpleNamespace(header=SimpleNamespace(stamp=stamp), wrench=wrench)


def figures(scale: float, free: np.ndarray, settle: float = 2.0, pushes: bool = True) -> dict:
    """An estimate in base axes that scales pushes from 4 to 7 s and says `free` [N] elsewhere."""
    truth, estimate = [], []
    for k in range(2500):
        t = 0.004 * k
        on = pushes and 4.0 <= t < 7.0
        truth.append(message(t, PUSH * on, MOMENT * on))
    for k in range(1000):
        t = 0.01 * k
        on = pushes and 4.0 <= t < 7.0
        force = scale * PUSH if on else free
        estimate.append(message(t, TURN.inv().apply(force), TURN.inv().apply(MOMENT * on)))
    t = np.arange(0.0, 10.0, 0.004)
    motion = SimpleNamespace(t=t, rotation=TURN * Rotation.identity(len(t)))
    return external_figures(estimate, truth, motion, 0, settle)


def test_pushed_and_free_are_told_apart():
    f = figures(1.1, np.array([0.0, 1.0, 0.0]))
    assert f["relative_rmse_pushed"] == pytest.approx(0.1, rel=0.05)
    assert f["force_rmse_pushed_N"] == pytest.approx(0.1 * np.linalg.norm(PUSH), rel=0.05)
    assert f["moment_rmse_pushed_Nm"] < 0.1
    assert f["force_rmse_free_N"] == pytest.approx(1.0, rel=0.05)


def test_a_run_without_a_push():
    f = figures(1.0, np.array([0.0, 0.0, 2.0]), pushes=False)
    assert f["relative_rmse_pushed"] is None and f["force_rmse_pushed_N"] is None
    assert f["force_rmse_free_N"] == pytest.approx(2.0)


def test_an_estimate_of_another_time():
    with pytest.raises(DataError, match="of the same run"):
        figures(1.0, np.zeros(3), settle=20.0)
