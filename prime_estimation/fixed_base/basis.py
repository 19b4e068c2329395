# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Trajectories as coefficients: sparse maps from them to positions, rates and accelerations.

The time-stepping scheme is enforced: rates and accelerations are no unknowns of their own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.interpolate import BSpline

from ..errors import ConfigError

DEGREE = 5  # of splines: accelerations at the nodes are right to the fourth order of the step


@dataclass(frozen=True)
class Basis(ABC):
    """Coefficients c of a trajectory on even nodes [s]: the dynamics are asked for at the nodes."""

    start: float
    step: float
    steps: int

    @classmethod
    def over(cls, first: float, last: float, step: float) -> Basis:
        """Basis of a span.

        Raises:
            ConfigError: the step is no length of time, or the span has fewer than ten of them.
        """
        if not step > 0.0:
            raise ConfigError(f"the step is {step:g} s, expected more than zero")
        steps = int((last - first) / step * (1.0 + 1e-12))
        if steps < 10:
            raise ConfigError(
                f"{last - first:.3g} s are fewer than 10 steps of {step:.3g} s: choose a smaller "
                "step"
            )
        return cls(first, step, steps)

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of coefficients."""

    @property
    @abstractmethod
    def nodes(self) -> np.ndarray:
        """(n,) times [s]."""

    @abstractmethod
    def motion(self) -> tuple[sparse.csr_matrix, sparse.csr_matrix, sparse.csr_matrix]:
        """Position, rate and acceleration at the nodes, (n, size) each."""

    @abstractmethod
    def positions(self, times: np.ndarray) -> sparse.csr_matrix:
        """Positions at any times of the span, (len(times), size)."""

    @abstractmethod
    def rates(self, times: np.ndarray) -> sparse.csr_matrix:
        """Rates at any times of the span, (len(times), size)."""


class Spline(Basis):
    """Splines of the fifth degree, uniform knots at the nodes."""

    @property
    def size(self) -> int:
        """One per step, and those that begin before the first."""
        return self.steps + DEGREE

    @property
    def nodes(self) -> np.ndarray:
        """The knots."""
        return self.start + self.step * np.arange(self.steps + 1)

    def motion(self) -> tuple[sparse.csr_matrix, ...]:
        """Values and derivatives of the splines."""
        return tuple(self._derivative(self.nodes, order) for order in range(3))

    def positions(self, times: np.ndarray) -> sparse.csr_matrix:
        """Values of the splines."""
        return self._derivative(times, 0)

    def rates(self, times: np.ndarray) -> sparse.csr_matrix:
        """First derivatives of the splines."""
        return self._derivative(times, 1)

    def _derivative(self, times: np.ndarray, order: int) -> sparse.csr_matrix:
        degree = DEGREE - order
        knots = np.arange(-degree, self.steps + degree + 1.0)  # in steps
        inside = np.clip((times - self.start) / self.step, 0.0, self.steps)
        values = BSpline.design_matrix(inside, knots, degree)
        for k in range(order):
            rows = self.size - order + k
            ones = np.full(rows, 1.0 / self.step)
            values = values @ sparse.diags([-ones, ones], [0, 1], shape=(rows, rows + 1))
        return sparse.csr_matrix(values)


class Leapfrog(Basis):
    """Positions at the nodes, central differences between them (Stoermer-Verlet)."""

    @property
    def size(self) -> int:
        """One per node, the first and last included."""
        return self.steps + 1

    @property
    def nodes(self) -> np.ndarray:
        """Those with a neighbour on both sides."""
        return self.start + self.step * np.arange(1, self.steps)

    def motion(self) -> tuple[sparse.csr_matrix, ...]:
        """Central differences."""
        shape, ones, h = (self.size - 2, self.size), np.ones(self.size - 2), self.step
        return (
            sparse.csr_matrix(sparse.diags([ones], [1], shape=shape)),
            sparse.csr_matrix(sparse.diags([-ones, ones], [0, 2], shape=shape) / (2.0 * h)),
            sparse.csr_matrix(
                sparse.diags([ones, -2.0 * ones, ones], [0, 1, 2], shape=shape) / h**2
            ),
        )

    def positions(self, times: np.ndarray) -> sparse.csr_matrix:
        """By cubic interpolation of four nodes."""
        at = np.clip((times - self.start) / self.step, 0.0, self.steps)
        first = np.clip(np.floor(at).astype(int) - 1, 0, self.steps - 3)
        x = at - first
        offsets = np.arange(4)
        weights = np.ones((len(times), 4))
        for i in offsets:
            for j in offsets[offsets != i]:
                weights[:, i] *= (x - j) / (i - j)
        rows, columns = np.repeat(np.arange(len(times)), 4), (first[:, None] + offsets).ravel()
        shape = (len(times), self.size)
        return sparse.csr_matrix((weights.ravel(), (rows, columns)), shape=shape)

    def rates(self, times: np.ndarray) -> sparse.csr_matrix:
        """Differences across the step that each time is in."""
        at = np.clip(np.floor((times - self.start) / self.step).astype(int), 0, self.steps - 1)
        rows = np.repeat(np.arange(len(times)), 2)
        columns = (at[:, None] + np.arange(2)).ravel()
        values = np.tile([-1.0 / self.step, 1.0 / self.step], len(times))
        return sparse.csr_matrix((values, (rows, columns)), shape=(len(times), self.size))
