# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Checks of samples: number of values, finite values."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np

from ..errors import DataError
from ..types import Sample


def check_shape(value, size: int, name: str, sample: Sample) -> None:
    """DataError where a value of a sample is not a vector of `size`."""
    if np.shape(value) != (size,):
        raise DataError(
            f"a {name} sample must have {size} values, got shape {np.shape(value)}", sample
        )


def is_in_range(row: np.ndarray, most: np.ndarray, name: str, counts: Counter) -> bool:
    """Whether all values are what a sensor reads; counted as `<name>_out_of_range` where not."""
    if (np.abs(row) < most).all():
        return True
    counts[f"{name}_out_of_range"] += 1
    return False


def is_finite(row: np.ndarray, name: str, counts: Counter) -> bool:
    """Whether all values of a row are finite; counted as `<name>_not_finite` where not."""
    # no product: BLAS lets the solver's thread have the interpreter, and waits to get it back
    if math.isfinite(np.add.reduce(row)):
        return True
    counts[f"{name}_not_finite"] += 1
    return False
