# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Inertia of a link in three coordinates.

What people say (m, c, I_c), what the dynamics are linear in (pi), what is free (theta).

`psi = (m, c, I_c)`: mass, centre of mass in the link frame, tensor about it (xx, xy, yy, xz, yz,
zz). `pi = (m, m c, I_o)`: Pinocchio's dynamic parameters about the frame origin. `theta`:
coordinates in which every point is a physical body, on one of two manifolds: `log_cholesky`,
factors of the pseudo-inertia (Rucker and Wensing 2022), or `exponential_eigenvalue`, `(log m, m c,
omega, log of the principal second moments)` with their axes Exp(omega) (Martinez, Griffin and
Mastalli).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from . import _core

# largest standard deviation of principal axes for a relative error 1 of the tensor [rad]
TURN = 2.5
EXACT = 1e-8  # relative error that stands for none
# Pinocchio's order of a symmetric matrix
_SYMMETRIC = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))


@dataclass(frozen=True)
class InertiaBelief:
    """Inertia of the estimated links as an earlier estimate had learned it.

    Attributes:
        parameters: dynamic parameters (10,) of each link. covariances: of these (10, 10).
        age: since then [s].
    """

    parameters: tuple[np.ndarray, ...]
    covariances: tuple[np.ndarray, ...]
    age: float = 0.0

    def in_theta(self, manifold: str) -> tuple[np.ndarray, np.ndarray]:
        """Mean theta (10 n,) and its covariance (10 n, 10 n), links independent of each other."""
        n = 10 * len(self.parameters)
        mean, covariance = np.zeros(n), np.zeros((n, n))
        for i, (pi, P) in enumerate(zip(self.parameters, self.covariances, strict=True)):
            rows = slice(10 * i, 10 * i + 10)
            mean[rows] = to_theta(pi, manifold)
            inverse = np.linalg.inv(from_theta(mean[rows], manifold)[1])
            covariance[rows, rows] = inverse @ P @ inverse.T
        return mean, covariance


def to_theta(pi: np.ndarray, manifold: str) -> np.ndarray:
    """Coordinates theta (10,) of dynamic parameters (10,).

    ValueError when they belong to no physical body.
    """
    return _core.theta_from_inertia(np.asarray(pi, float), getattr(_core.InertiaManifold, manifold))


def from_theta(theta: np.ndarray, manifold: str) -> tuple[np.ndarray, np.ndarray]:
    """Dynamic parameters (10,) of theta (10,), and d pi / d theta (10, 10)."""
    return _core.inertia_from_theta(
        np.asarray(theta, float), getattr(_core.InertiaManifold, manifold)
    )


def pi_by_psi(pi: np.ndarray) -> np.ndarray:
    """Jacobian d pi / d psi (10, 10) at pi.

    `m c` and the parallel axis term `m (|c|^2 1 - c c^T)` beside I_c.
    """
    m, c = pi[0], pi[1:4] / pi[0]
    jacobian = np.zeros((10, 10))
    jacobian[0, 0] = 1.0
    jacobian[1:4, 0] = c
    jacobian[1:4, 1:4] = m * np.eye(3)
    jacobian[4:, 4:] = np.eye(6)
    steiner = np.dot(c, c) * np.eye(3) - np.outer(c, c)
    for row, (i, j) in enumerate(_SYMMETRIC):
        jacobian[4 + row, 0] = steiner[i, j]
        for k in range(3):
            e = np.eye(3)[k]
            jacobian[4 + row, 1 + k] = m * (2.0 * c[k] * (i == j) - e[i] * c[j] - c[i] * e[j])
    return jacobian


def inertia_about_com(pi: np.ndarray) -> np.ndarray:
    """Rotational inertia (3, 3) about the centre of mass, link axes [kg m^2]."""
    m, c = pi[0], pi[1:4] / pi[0]
    inertia = np.zeros((3, 3))
    for value, (i, j) in zip(pi[4:], _SYMMETRIC):
        inertia[i, j] = inertia[j, i] = value
    return inertia - m * (np.dot(c, c) * np.eye(3) - np.outer(c, c))


def tensor_stddev(pi: np.ndarray, share: float) -> np.ndarray:
    """Standard deviations (6,) of elements of the tensor, as in pi, that is wrong by a share.

    Of each moment about the centre of mass; of products, half the geometric mean of their two.
    """
    moments = np.diag(inertia_about_com(pi)).tolist()
    halves = (1.0 if i == j else 0.5 for i, j in _SYMMETRIC)
    pairs = zip(halves, _SYMMETRIC)
    return share * np.array([half * math.sqrt(moments[i] * moments[j]) for half, (i, j) in pairs])


def theta_root(
    pi: np.ndarray, mass: float, com: float, inertia: float, manifold: str
) -> np.ndarray:
    """Square root (10, 10) of the covariance of theta for errors of mass, com and inertia.

    A relative error of the tensor is that of `tensor_stddev`. Principal axes (exponential
    eigenvalue) are not believed to be off by more than TURN * `inertia` rad: where two moments are
    equal, no error of the tensor says anything about them.
    """
    principal = np.diag(inertia_about_com(pi))
    stddev = np.concatenate([[mass], np.full(3, com), tensor_stddev(pi, inertia)])
    floor = EXACT * np.concatenate(
        [[pi[0]], np.full(3, np.sqrt(principal.max() / pi[0])), np.full(6, principal.mean())]
    )
    _, jacobian = from_theta(to_theta(pi, manifold), manifold)
    # whitened rows "theta means this psi", then those of the axes; the inverse of their triangle is
    # a root
    rows = np.linalg.solve(pi_by_psi(pi), jacobian) / np.maximum(stddev, floor)[:, None]
    if manifold == "exponential_eigenvalue":
        rows = np.vstack([rows, np.eye(10)[4:7] / max(TURN * inertia, EXACT)])
    return np.linalg.inv(np.linalg.qr(rows, mode="r"))


def com_stddev(pi: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """Standard deviation (3,) of the centre of mass: root of the diagonal of `com_covariance`."""
    mass, *first = pi[:4].tolist()
    (of_mass, *shared), own = covariance[0, :4].tolist(), covariance.diagonal()[1:4].tolist()
    out = []
    for moment, by_mass, square in zip(first, shared, own):
        c = moment / mass
        variance = square - 2.0 * c * by_mass + c * c * of_mass
        out.append(math.sqrt(max(variance, 0.0)) / mass)
    return np.array(out)


def com_covariance(pi: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """Covariance (3, 3) of the centre of mass from that of pi (10, 10): c = (m c)/m."""
    c = pi[1:4] / pi[0]
    jacobian = np.hstack([-c[:, None], np.eye(3)]) / pi[0]
    return jacobian @ covariance[:4, :4] @ jacobian.T
