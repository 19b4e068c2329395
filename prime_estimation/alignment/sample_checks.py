# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Checks of samples: stamps, number of values, finite values."""

from __future__ import annotations

import math
from collections import Counter
from numbers import Integral

import numpy as np

from ..errors import DataError
from ..types import Sample


def check_stamp(sample: Sample) -> None:
    """DataError where a stamp is no whole number [ns]: of seconds the fraction would be lost."""
    if not isinstance(sample.stamp_ns, Integral):
        kind, stamp = type(sample).__name__, sample.stamp_ns
        raise DataError(f"stamp_ns of a {kind} must be a whole number of ns, got {stamp!r}", sample)


def vector(value, size: int, name: str, sample: Sample) -> np.ndarray:
    """A value of a sample as an array (size,); DataError where it is none."""
    try:
        array = np.asarray(value, float)
    except (TypeError, ValueError) as error:
        what = f"a {name} sample must have {size} values, got {value!r:.60}"
        raise DataError(what, sample) from error
    if array.shape != (size,):
        raise DataError(f"a {name} sample must have {size} values, got shape {array.shape}", sample)
    return array


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
