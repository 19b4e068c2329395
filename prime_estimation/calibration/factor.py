# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Factor: residuals of one kind with analytic Jacobian, for all nodes at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from .trajectory import Trajectory

GRAVITY = np.array([0.0, 0.0, -9.81])  # m/s2, world axes


@dataclass(frozen=True)
class Bend:
    """Block (m, 3, 3) of a second derivative by columns of two nodes laid side by side.

    Off the diagonal it stands for its transpose, too.
    """

    rows: slice
    columns: slice
    block: np.ndarray


def _straight(force: np.ndarray) -> list[Bend]:
    """Of a residual that is linear."""
    return []


@dataclass
class Factor:
    """Residuals of one kind, m times, of r rows.

    Attributes:
        name: of the kind.
        node: (m,) the (first) node that each concerns.
        residual: (m, r).
        columns: (c,) columns in the tangents of this node and the next one, laid side by side.
        jacobian: (m, r, c).
        parameters: (k,) columns of the offsets' vector.
        by_offsets: gives (m, r, k), the derivative by them, which not all that ask need.
        curvature: second derivative by the states of `force . residual`, forces (m, r) held.
    """

    name: str
    node: np.ndarray
    residual: np.ndarray
    columns: np.ndarray
    jacobian: np.ndarray
    parameters: np.ndarray = field(default_factory=lambda: np.zeros(0, int))
    by_offsets: Callable[[], np.ndarray] | None = None
    curvature: Callable[[np.ndarray], list[Bend]] = _straight

    @property
    def offset_jacobian(self) -> np.ndarray | None:
        """(m, r, k) derivative by the offsets; None: they do nothing."""
        return None if self.by_offsets is None else self.by_offsets()


def next_node(columns: slice, x: Trajectory) -> slice:
    """Columns of the next node, where the tangents of two are laid side by side."""
    return slice(columns.start + x.width, columns.stop + x.width)


def columns_of(*slices: slice, shift: int = 0) -> list[int]:
    """Numbers of the columns in slices, all shifted by the same."""
    return [i + shift for s in slices for i in range(s.start, s.stop)]


def side_by_side(shape: tuple, parts: list[np.ndarray], dtype) -> np.ndarray:
    """Matrices (m, r, c) of blocks (m, r, .) or (r, .) side by side."""
    m, r = shape
    return np.concatenate(
        [np.broadcast_to(p, (m, r, p.shape[-1])).astype(dtype) for p in parts], axis=2
    )
