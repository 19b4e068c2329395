# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Dense twins of the recursive algorithms: window, marginalization, Kalman filter."""

from __future__ import annotations

import numpy as np


def dense_window(datas, gaps, free=None):
    """Least-squares solution of a linearized window without any recursion.

    Args:
        datas: node data (Fx, Fu, Rx, Ru, r) of the running nodes, then of the terminal node (Rx,
            r).
        gaps: f_k = f(x_k-1, u_k-1) (-) x_k, k = 1..T.
        free: (ndx, k) changes of the first state that are free; without, it is fixed.

    Returns:
        (dx, du, P, S): steps; posterior covariances of every dx_k, and of every (dx_k, du_k), k <
        T. Directions that no residual depends on stay as they are and have no variance.
    """
    *running, terminal = datas
    n = len(running[0].Fx)
    free = np.zeros((n, 0)) if free is None else free
    starts = np.cumsum([free.shape[1], *(len(d.Fu[0]) for d in running)])
    total = starts[-1]
    # dx_k = at + by @ (free part, du)
    at, by = np.zeros(n), np.hstack([free, np.zeros((n, total - starts[0]))])
    states, rows, rhs = [(at, by)], [], []
    selectors = [np.eye(total)[a:b] for a, b in zip(starts, starts[1:])]
    for d, gap, pick in zip(running, gaps, selectors):
        rows.append(d.Rx @ by + d.Ru @ pick)
        rhs.append(d.r + d.Rx @ at)
        at, by = d.Fx @ at + gap, d.Fx @ by + d.Fu @ pick
        states.append((at, by))
    rows.append(terminal.Rx @ by)
    rhs.append(terminal.r + terminal.Rx @ at)
    A, b = np.vstack(rows), np.concatenate(rhs)
    du, root = least_squares(A, -b)
    P = [(by @ root) @ (by @ root).T for _, by in states]
    joint = [np.vstack([by, pick]) @ root for (_, by), pick in zip(states, selectors)]
    return (
        [at + by @ du for at, by in states],
        [pick @ du for pick in selectors],
        P,
        [j @ j.T for j in joint],
    )


def marginalize(P, mean, d, gap, noise):
    """Cost-to-come of the next node.

    The minimum over (dx, du) of `1/2 |dx - mean|^2_P + 1/2 |r + Rx dx + Ru du|^2`, pushed through
    `dx+ = Fx dx + Fu du + gap` and widened by `noise noise^T`. Returns mean and covariance of
    dx+."""
    n, nu = len(P), len(d.Ru[0])
    whiten = np.linalg.inv(np.linalg.cholesky(P))
    A = np.vstack([np.hstack([whiten, np.zeros((n, nu))]), np.hstack([d.Rx, d.Ru])])
    b = np.concatenate([whiten @ mean, -d.r])
    solution, root = least_squares(A, b)
    F = np.hstack([d.Fx, d.Fu])
    return F @ solution + gap, (F @ root) @ (F @ root).T + noise @ noise.T


def least_squares(A, b):
    """Minimum of |A z - b|, and a root of the covariance (A^T A)^+, with columns scaled.

    Units differ by many orders.
    """
    norm = np.linalg.norm(A, axis=0)
    scale = 1.0 / np.where(norm > 1e-12, norm, 1.0)
    inverse = scale[:, None] * np.linalg.pinv(A * scale, rcond=1e-12)
    return inverse @ b, inverse


def kalman_update(x, P, C, z, R):
    """Measurement z = C x + N(0, R)."""
    K = np.linalg.solve(C @ P @ C.T + R, C @ P).T
    x = x + K @ (z - C @ x)
    L = np.eye(len(x)) - K @ C
    return x, L @ P @ L.T + K @ R @ K.T
