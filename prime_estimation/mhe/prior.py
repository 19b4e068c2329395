# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Prior of single variables, replaced in the arrival cost."""

from __future__ import annotations

import numpy as np

from ..errors import DataError


def replace_prior(
    arrival, columns: list[int], rows: np.ndarray, stddev: np.ndarray, change: np.ndarray
) -> None:
    """Let variables be `rows dx + n`, n ~ N(0, stddev^2), at a changed reference.

    Without n the root of the covariance would be singular, which the core does not say: the next
    update divides by it.

    Args:
        arrival: arrival cost.
        columns: k variables of the tangent.
        rows: (k, ndx) dependence on the variables that there are.
        stddev: (k,) above 0.
        change: (k,) by which the reference moves.

    Raises:
        DataError: a standard deviation is 0, negative or NaN.
    """
    if not all(s > 0.0 for s in stddev.tolist()):
        told = f"a prior needs standard deviations above 0, got {stddev.tolist()}"
        raise DataError(f"{told}: for what is known exactly, give a small one", stddev)
    arrival.replace_prior(columns, rows, stddev, change)
