# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""What is said about a model that does not fit, and that it is taken back."""

from types import SimpleNamespace

import numpy as np

from prime_estimation.config.parameters import Config
from prime_estimation.mhe.residual_rows import rows_by_sensor
from prime_estimation.monitors.consistency import DOUBT_NODES, Watch

NU, NJ = 20, 12
MASS = dict(mass=16.0, stddev=0.2, nominal=16.0)


def window(model: float):
    """One node whose model residuals have this mean square; the others are consistent."""
    problem = SimpleNamespace(nq=19, nv=18, nu=NU, nj=NJ, dynamics=SimpleNamespace(ncone=0))
    it = SimpleNamespace(
        problem=problem, xs=[np.zeros(37)], solver=SimpleNamespace(refused=0), data=[]
    )
    r = np.ones(max(rows.stop for rows in rows_by_sensor(it).values()))
    r[:NU] = np.sqrt(model)
    it.data.append(SimpleNamespace(r=r))
    return it


def test_doubt_comes_and_goes_within_seconds():
    watch = Watch(Config.load("go2"))
    for _ in range(DOUBT_NODES):
        watch.lost(window(5000.0))
    assert "fits its model badly" in watch.doubt(**MASS)
    for _ in range(4 * DOUBT_NODES):
        watch.lost(window(0.8))
    assert watch.doubt(**MASS) == ""
