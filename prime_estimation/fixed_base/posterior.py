# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Covariance of the parameters by variable projection.

With the trajectories eliminated, T = (I - Jx (Jx^T Jx)^-1 Jx^T) Jp is the Jacobian of the residuals
by the parameters, and parameters answer an error e of the rows by -(T^T T)^-1 T^T e. Their
covariance is (T^T T)^-1 T^T E[e e^T] T (T^T T)^-1; what is taken for E[e e^T] makes the kinds:
`given` the weights, `white` what is left of each joint's rows as if each row stood alone
(Marklund et al.), `correlated` also that what is left at one node says something about the next:
friction that the model lacks does not change its sign from node to node. A box is known before: a
parameter somewhere in it has the variance width^2 / 12.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from .levenberg_marquardt import Free, Solution, linearized
from .segment import Segment

NEGLIGIBLE = 1e-12  # of the largest eigenvalue, diagonal scaled: a direction that no row feels
TOLD = 0.5  # of what the box leaves open: less is observable
PERSISTENT = 0.99  # largest autocorrelation from node to node that counts


class Posterior:
    """Covariances of the free parameters at a solution; order as in `Free`."""

    def __init__(self, segments: Sequence[Segment], solution: Solution, free: Free):
        self.prior_stddev = (free.upper - free.lower) / np.sqrt(12.0)
        self._residuals, self._projected, self._groups, self._nodes = [], [], [], []
        parts = linearized(segments, solution.values, solution.trajectories, free)
        for segment, part in zip(segments, parts):
            part.eliminate(0.0)
            self._residuals.append(part.rows.residual)
            self._projected.append(part.projected)
            self._groups.append(segment.groups)
            self._nodes.append(part.rows.nodes)

    @cached_property
    def information(self) -> np.ndarray:
        """T^T T."""
        return sum(T.T @ T for T in self._projected)

    @cached_property
    def _inverse(self) -> np.ndarray:
        """Of the information with that of the boxes, on what they feel."""
        information = self.information + np.diag(self.prior_stddev**-2.0)
        diagonal = np.diag(information)
        scale = 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
        values, vectors = np.linalg.eigh(scale[:, None] * information * scale)
        felt = values > NEGLIGIBLE * values.max(initial=1.0)
        half = scale[:, None] * vectors[:, felt] / np.sqrt(values[felt])
        return half @ half.T

    def covariance(self, kind: str = "correlated") -> np.ndarray:
        """Covariance of one kind: given, white or correlated."""
        inverse = self._inverse
        if kind == "given":
            return inverse
        middle = self._white() if kind == "white" else self._correlated()
        return inverse @ middle @ inverse

    def deviations(self, kind: str) -> np.ndarray:
        """Standard deviation of each parameter by one kind of covariance."""
        return np.sqrt(np.maximum(np.diag(self.covariance(kind)), 0.0))

    @property
    def stddev(self) -> np.ndarray:
        """Of each parameter, the larger of `given` and `correlated`."""
        return np.maximum(self.deviations("given"), self.deviations("correlated"))

    @property
    def observable(self) -> np.ndarray:
        """Whether the recordings say more of a parameter than its box."""
        return self.stddev < TOLD * self.prior_stddev

    def _white(self) -> np.ndarray:
        out = np.zeros_like(self.information)
        groups = np.concatenate(self._groups)
        r, T = np.concatenate(self._residuals), np.vstack(self._projected)
        for group in np.unique(groups):
            rows = groups == group
            out += np.mean(r[rows] ** 2) * T[rows].T @ T[rows]
        return out

    def _correlated(self) -> np.ndarray:
        """Sum of the autocovariances of the nodes' scores, Bartlett's kernel (Newey, West 1987)."""
        scores = []
        for r, T, node in zip(self._residuals, self._projected, self._nodes):
            score = np.zeros((node.max() + 1, T.shape[1]))
            np.add.at(score, node, T * r[:, None])
            scores.append(score)
        lags = bandwidth(scores)
        return sum(_bartlett(score, lags) for score in scores)


def bandwidth(scores: Sequence[np.ndarray]) -> int:
    """Number of lags for scores (n, p), as if each was autoregressive (Andrews 1991, eq. 6.4)."""
    n = sum(len(s) for s in scores)
    past, future = (np.vstack([s[part] for s in scores]) for part in (np.s_[:-1], np.s_[1:]))
    power = np.sum(past**2, axis=0)
    rho = np.sum(past * future, axis=0)[power > 0.0] / power[power > 0.0]
    rho = np.clip(rho, 0.0, PERSISTENT)
    weight = (1.0 - rho**2) ** 2 / (1.0 - rho) ** 4  # scores of unit variance count the same
    alpha = np.sum(weight * 4.0 * rho**2 / (1.0 - rho**2) ** 2) / max(np.sum(weight), 1e-300)
    return int(min(np.ceil(1.1447 * (alpha * n) ** (1.0 / 3.0)), n // 4))


def _bartlett(score: np.ndarray, lags: int) -> np.ndarray:
    out = score.T @ score
    for k in range(1, min(lags, len(score) - 1) + 1):
        product = score[k:].T @ score[:-k]
        out += (1.0 - k / (lags + 1.0)) * (product + product.T)
    return out
