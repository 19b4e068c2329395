# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Signed axes: the ways in which axes may lie along others."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np


def signed_axes() -> list[np.ndarray]:
    """The 48 matrices (3, 3) that take axes to axes, mirrored ones among them; the identity first.

    Row i is the axis, with its sign, of what is given that becomes axis i.
    """
    return [
        np.diag(signs) @ np.eye(3)[list(order)] + 0.0  # no zero has a sign
        for order in permutations(range(3))
        for signs in product((1.0, -1.0), repeat=3)
    ]


def axis_names(axes: np.ndarray, positive: str = "") -> list[str]:
    """Names of the rows (n, 3) of signed axes, as `-y`; `positive`: before those without minus."""
    largest = np.abs(axes).argmax(axis=1)
    return [
        ("-" if row[axis] < 0.0 else positive) + "xyz"[axis] for row, axis in zip(axes, largest)
    ]
