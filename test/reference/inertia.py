# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Readable twin of the C++ inertial manifolds.

The maps to pi take complex theta, so that they can be differentiated exactly.
"""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

SYMMETRIC = ([0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2])  # xx, xy, yy, xz, yz, zz


def dynamic_parameters(theta, manifold):
    """pi = (m, h, I) with I = tr(Sigma) 1 - Sigma about the link's origin, of `log_cholesky` or
    `exponential_eigenvalue` theta."""
    m, h, sigma = (_log_cholesky if manifold == "log_cholesky" else _exponential_eigenvalue)(theta)
    inertia = np.trace(sigma) * np.eye(3) - sigma
    return np.array([m, *h, *inertia[SYMMETRIC]])


def _log_cholesky(theta):
    """Pseudo-inertia [Sigma h.

    H^T m] = U U^T, U = e^alpha [[e^d1, s12, s13, t1], [0, e^d2, s23, t2], [0, 0, e^d3, t3], [0, 0,
    0, 1]].
    """
    alpha, d1, d2, d3, s12, s23, s13, t1, t2, t3 = theta
    U = np.array(
        [
            [np.exp(d1), s12, s13, t1],
            [0.0, np.exp(d2), s23, t2],
            [0.0, 0.0, np.exp(d3), t3],
            [0.0, 0.0, 0.0, 1.0],
        ]
    )
    pseudo = np.exp(2.0 * alpha) * U @ U.T
    return pseudo[3, 3], pseudo[:3, 3], pseudo[:3, :3]


def _exponential_eigenvalue(theta):
    """Sigma = R diag(e^sigma) R^T + h h^T / m, R = Exp(omega), m = e^sigma_m."""
    m, h, omega, moments = np.exp(theta[0]), theta[1:4], theta[4:7], np.exp(theta[7:])
    x, y, z = omega
    R = expm(np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]))
    return m, h, R @ np.diag(moments) @ R.T + np.outer(h, h) / m


def differentiated(theta, manifold):
    """d pi / d theta (10, 10) by an imaginary step: exact to round-off."""
    h = 1e-30
    return np.array(
        [dynamic_parameters(theta + 1j * h * e, manifold).imag / h for e in np.eye(10)]
    ).T


def exponential_eigenvalue(pi):
    """theta of pi: principal second moments about the centre of mass, in the order and with the
    signs of the smallest turn of the axes."""
    m, h = pi[0], pi[1:4]
    inertia = np.zeros((3, 3))
    inertia[SYMMETRIC] = pi[4:]
    inertia += np.triu(inertia, 1).T
    moments, axes = np.linalg.eigh(
        0.5 * np.trace(inertia) * np.eye(3) - inertia - np.outer(h, h) / m
    )
    choices = [
        (list(order), signs)
        for order in permutations(range(3))
        for signs in product((1, -1), repeat=3)
    ]
    frames = [(axes[:, order] * signs, moments[order]) for order, signs in choices]
    R, moments = max((f for f in frames if np.linalg.det(f[0]) > 0.0), key=lambda f: np.trace(f[0]))
    return np.concatenate([[np.log(m)], h, Rotation.from_matrix(R).as_rotvec(), np.log(moments)])
