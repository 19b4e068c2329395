# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Knowledge of the inertia that is kept outside of a window."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Kept:
    """Covariance along directions of the inertia that the data of a window do not excite.

    Attributes:
        across: (ntheta, ntheta) projector on the directions. root: of the covariance along them.
    """

    across: np.ndarray
    root: np.ndarray

    @property
    def covariance(self) -> np.ndarray:
        """(ntheta, ntheta)."""
        return self.root @ self.root.T

    def wider(self, root: np.ndarray) -> Kept:
        """By a covariance with this root."""
        return Kept(self.across, square_root(np.hstack([self.root, self.across @ root])))


def square_root(wide: np.ndarray) -> np.ndarray:
    """Root (n, n) of the covariance of which a wide root (n, k) is known, k >= n."""
    return np.linalg.qr(wide.T, mode="r").T
