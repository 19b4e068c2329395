# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Hold: keeps parameters at the values of the robot's YAML until the data contradict these."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


class Hold:
    """Parameter blocks that can be held, with their priors in both states.

    While held, they have a narrow prior and no random walk, and the window treats them as known.
    Nodes that leave the window still add their information about them to the arrival cost.

    Attributes:
        names: of the blocks. possible: they are held at first. held: at present.
        mean: (n,) of the prior of all blocks. stddev: (n,) where they are not held.

    Args:
        names, mean, stddev: as above.
        possible: hold them until something contradicts.
        narrow: the prior's width while they are held, of its own.
    """

    def __init__(
        self,
        names: Sequence[str],
        mean: np.ndarray,
        stddev: np.ndarray,
        possible: bool,
        narrow: float,
    ):
        self.names, self.mean, self.stddev = tuple(names), mean, stddev
        self.possible = self.held = possible and len(mean) > 0
        self._narrow = narrow

    @property
    def let_go(self) -> bool:
        """Data have contradicted."""
        return self.possible and not self.held

    @property
    def share(self) -> float:
        """Width of the prior at present, of its own."""
        return self._narrow if self.held else 1.0

    def estimate(self, mean: np.ndarray, covariance: np.ndarray) -> tuple[np.ndarray, float]:
        """What the data would rather have, and by how much the cost would fall.

        With the prior N(m_0, S_h) while held and the posterior N(m, P), the data alone have the
        information `J = P^-1 - S_h^-1` and the gradient `g = P^-1 (m - m_0)`; with the own prior S,

            d = (J + S^-1)^-1 g,   fall = g^T d / 2

        Args:
            mean: m (n,), while held.
            covariance: P (n, n).

        Returns:
            m_0 + d (n,), and the fall.
        """
        information = np.linalg.inv(covariance)
        gradient = information @ (mean - self.mean)
        away = self._own_width(information) @ gradient
        return self.mean + away, float(0.5 * gradient @ away)

    def without(self, mean: np.ndarray, covariance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """`m_0 + d` and its covariance `(J + S^-1)^-1`, as of `estimate`."""
        information = np.linalg.inv(covariance)
        wider = self._own_width(information)
        return self.mean + wider @ information @ (mean - self.mean), wider

    def _own_width(self, information: np.ndarray) -> np.ndarray:
        """Covariance (n, n) with the own prior instead of that while held, of P^-1 (n, n)."""
        own, held = self.stddev**-2.0, (self._narrow * self.stddev) ** -2.0
        return np.linalg.inv(information + np.diag(own - held))
