# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Forces of the corners of soles, inside their friction cones."""

from __future__ import annotations

import numpy as np
from scipy.optimize import nnls

CONE = 0.5  # friction coefficient that is used; the ground has more
EFFORT = 0.003  # price of a force, against the accelerations that it gives


def cone_forces(J: np.ndarray, wrench: np.ndarray, S: np.ndarray) -> np.ndarray:
    """Corner forces f (3 n,) in their friction cones, as small as possible.

    They minimize `|J f - wrench|^2_S`.
    """
    n = J.shape[1] // 3
    rays = np.kron(
        np.eye(n), np.array([[CONE, -CONE, 0, 0], [0, 0, CONE, -CONE], [1, 1, 1, 1]], float)
    )
    root = np.linalg.cholesky(S).T
    A = np.vstack([root @ J @ rays, EFFORT * np.eye(4 * n)])
    return rays @ nnls(A, np.concatenate([root @ wrench, np.zeros(4 * n)]))[0]
