# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The benchmark of the backward pass.

Both solvers find the same step, ours in a fraction of the time.
"""

from __future__ import annotations

import pytest
from backward import compare, standing_window


@pytest.mark.parametrize("links, fraction", [(1, 0.5), (13, 0.1)])
def test_backward_pass(links, fraction):
    row = compare(standing_window("go2", links, 5), 7)
    assert row["step difference"] < 1e-6
    assert row["ratio"] < fraction
