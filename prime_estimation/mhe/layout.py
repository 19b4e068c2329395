# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Named parts of a state x = (q, v, p) and of its tangent."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

NOTHING = slice(0, 0)


class StateLayout:
    """Layout of a state and of its tangent: where the parts lie.

    `q` configuration, `v` velocity, `p` the parameters of a window, in named blocks. Base, if it
    floats: position (3), quaternion xyzw (4), linear and angular velocity in base axes (3 + 3).

    Args:
        nq, nv: of the robot's model. nj: joints.
        blocks: (name, size) of the parameter blocks, in order.

    Attributes:
        coordinates: by name, slice of x. tangent: by name, slice of the tangent; both have the
            parameter blocks, `joints` (coordinates), `joint_rates`, and of a floating base
            `position`, `rotation`, `velocity`, `rate`.
        np, nx, ndx: number of parameters, coordinates and tangent components.
    """

    def __init__(self, nq: int, nv: int, nj: int, blocks: Iterable[tuple[str, int]]):
        self.nq, self.nv, self.nj = nq, nv, nj
        base_v = nv - nj
        floating = base_v == 6
        first_q = 7 if floating else 0
        self.coordinates: dict[str, slice] = {
            "joints": slice(first_q, nq),
            "joint_rates": slice(nq + base_v, nq + nv),
        }
        self.tangent: dict[str, slice] = {
            "joints": slice(base_v, nv),
            "joint_rates": slice(nv + base_v, 2 * nv),
        }
        if floating:
            self._add("position", slice(0, 3), slice(0, 3))
            self._add("rotation", slice(3, 7), slice(3, 6))
            self._add("velocity", slice(nq, nq + 3), slice(nv, nv + 3))
            self._add("rate", slice(nq + 3, nq + 6), slice(nv + 3, nv + 6))
        self.blocks = tuple(blocks)
        first = 0
        for name, size in self.blocks:
            self._add(
                name,
                slice(nq + nv + first, nq + nv + first + size),
                slice(2 * nv + first, 2 * nv + first + size),
            )
            first += size
        self.np = first
        self.nx, self.ndx = nq + nv + first, 2 * nv + first

    def _add(self, name: str, coordinates: slice, tangent: slice) -> None:
        self.coordinates[name], self.tangent[name] = coordinates, tangent

    def __contains__(self, name: str) -> bool:
        return name in self.tangent

    def columns(self, name: str) -> slice:
        """Tangent slice of a part; empty when it is absent."""
        return self.tangent.get(name, NOTHING)

    def components(self, names: Iterable[str]) -> np.ndarray:
        """Indices of several parts in the tangent."""
        parts = [self.columns(name) for name in names]
        return np.array([i for part in parts for i in range(part.start, part.stop)], int)

    def parameter_rows(self, name: str) -> slice:
        """Slice of a block within p; empty when it is absent."""
        columns = self.columns(name)
        offset = 2 * self.nv if name in self.tangent else 0
        return slice(columns.start - offset, columns.stop - offset)

    def part(self, x: np.ndarray, name: str) -> np.ndarray:
        """View of a part of x; empty when it is absent."""
        return x[self.coordinates.get(name, NOTHING)]

    def q(self, x: np.ndarray) -> np.ndarray:
        """View of the configuration in x."""
        return x[: self.nq]

    def v(self, x: np.ndarray) -> np.ndarray:
        """View of the velocity in x."""
        return x[self.nq : self.nq + self.nv]

    def p(self, x: np.ndarray) -> np.ndarray:
        """View of the parameters in x."""
        return x[self.nq + self.nv :]


def block_diagonal(blocks: list[np.ndarray]) -> np.ndarray:
    """The matrix with these blocks on its diagonal."""
    rows, columns = (sum(b.shape[axis] for b in blocks) for axis in (0, 1))
    out, i, j = np.zeros((rows, columns)), 0, 0
    for block in blocks:
        n, m = block.shape
        out[i : i + n, j : j + m] = block
        i, j = i + n, j + m
    return out
