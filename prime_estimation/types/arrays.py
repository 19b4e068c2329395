# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Arrays of the types: read-only once they are handed out."""

from __future__ import annotations

import math

import numpy as np

Array = np.ndarray


def freeze(instance) -> None:
    """Make every array of a frozen dataclass read-only: an estimate may have several readers."""
    for value in instance.__dict__.values():
        if type(value) is np.ndarray:
            value.setflags(False)


def finite(*readings: Array | None) -> bool:
    """All of these readings are there, and are numbers."""
    return all(x is not None and math.isfinite(sum(x.tolist())) for x in readings)
