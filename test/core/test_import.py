# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The core finds its libraries by itself, whichever module is imported first."""

import os
import subprocess
import sys

import pytest


@pytest.mark.parametrize("module", ["_core", "inertia", "mhe.problem", "mhe.window", "estimator"])
def test_import_alone(module):
    subprocess.run([sys.executable, "-c", f"import prime_estimation.{module}"], check=True)


@pytest.mark.parametrize("omp", [None, "16"])
def test_products_stay_in_one_thread(omp):
    """Whatever OpenMP is told.

    Eigen's own threads make the small products of a window slower by an order of magnitude.
    """
    environment = {k: v for k, v in os.environ.items() if k != "OMP_NUM_THREADS"} | (
        {"OMP_NUM_THREADS": omp} if omp else {}
    )
    code = "from prime_estimation import _core; assert _core.eigen_threads() == 1"
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
