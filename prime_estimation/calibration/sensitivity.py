# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Gradient of a loss on the optimal trajectory by the noise covariances, by the adjoint method."""

from __future__ import annotations

import numpy as np

from ..errors import DataError
from .banded import Factorization
from .factor import Factor
from .offsets import Offsets
from .problem import KinematicProblem
from .rotations import rotate, transpose
from .trajectory import Trajectory

STEP = 1e-30  # of the complex step: its square vanishes
ITERATIONS = 60
TOLERANCE = 1e-10  # of the adjoint equation's residual, relative


def curvature(
    problem: KinematicProblem, x: Trajectory, offsets: Offsets, d: np.ndarray
) -> np.ndarray:
    """Exact Hessian of the problem's cost times a direction (n, width), by a complex step.

    Unlike Gauss-Newton's it holds the second derivatives of the residuals.
    """
    return problem.state_gradient(x.moved(1j * STEP * d), offsets).imag / STEP


def adjoint(
    problem: KinematicProblem,
    x: Trajectory,
    offsets: Offsets,
    factorization: Factorization,
    gradient: np.ndarray,
) -> np.ndarray:
    """Solution (n, width) of `H a = gradient` with the exact Hessian of the optimum.

    Conjugate gradients, preconditioned by the factorization of Newton's matrix, which differs from
    it by a curvature of the gyro bias in the ninth digit only: a step or two.

    Raises:
        DataError: it does not converge: the trajectory is no minimum.
    """
    none = np.zeros(0)
    a, r = np.zeros_like(gradient), gradient.copy()
    z = factorization.solve(r, none)[0]
    p, rz = z, float(np.sum(r * z))
    first = rz
    for _ in range(ITERATIONS):
        if rz <= TOLERANCE**2 * first:
            return a
        Hp = curvature(problem, x, offsets, p)
        step = rz / float(np.sum(p * Hp))
        a, r = a + step * p, r - step * Hp
        z = factorization.solve(r, none)[0]
        rz, before = float(np.sum(r * z)), rz
        p = z + (rz / before) * p
    raise DataError("the sensitivity of the estimate does not converge", rz / first)


def covariance_gradient(
    problem: KinematicProblem, found: list[Factor], adjoint_state: np.ndarray
) -> dict[str, np.ndarray]:
    """Derivative (d, d), symmetric, of the loss by each covariance block.

    The optimum moves by `dx = -H^-1 dg`, and `dg = -J^T W dR W r` where `R = sum G S G^T`: so
    `dL/dS = sum G^T (W r) (W J a)^T G` with `H a = dL/dx`.
    """
    out = {k: np.zeros_like(S) for k, S in problem.noise.blocks.items()}
    following = np.concatenate([adjoint_state[1:], np.zeros((1, adjoint_state.shape[1]))])
    both = np.concatenate([adjoint_state, following], axis=1)
    for f in found:
        W = problem.information[f.name]
        force = rotate(W, f.residual)
        moved = rotate(W, rotate(f.jacobian, both[f.node[:, None], f.columns]))
        covariance = problem.covariance[f.name]
        for term in covariance.terms:
            G = transpose(covariance.gain(term))
            outer = np.einsum("mi,mj->ij", rotate(G, force), rotate(G, moved))
            out[term.block] += 0.5 * (outer + outer.T)
    return out
