# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The core finds its libraries by itself, whichever module is imported first."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize("module", ["_core", "inertia", "problem", "window", "estimator"])
def test_import_alone(module):
    subprocess.run([sys.executable, "-c", f"import prime_estimation.{module}"], check=True)
