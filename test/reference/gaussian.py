# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Dense twins of the recursive algorithms: window, marginalization, Kalman filter."""

from __future__ import annotations

import numpy as np


def dense_window(datas, gaps):
    """Least-squares solution of a linearized window without any recursion.

    Args:
        datas: node data (Fx, Fu, Rx, Ru, r) of the running nodes, then of the terminal node (Rx, r); the first state is fixed.
        gaps: f_k = f(x_k-1, u_k-1) (-) x_k, k = 1..T.

    Returns:
        (dx, du, P, S): steps; posterior covariances of every dx_k, and of every (dx_k, du_k), k < T.
    """
    *running, terminal = datas
    sizes = [len(d.Fu[0]) for d in running]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(int)
    total, n = starts[-1], len(running[0].Fx)
    at, by = np.zeros(n), np.zeros((n, total))  # dx_k = at + by @ du
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
    return [at + by @ du for at, by in states], [pick @ du for pick in selectors], P, [j @ j.T for j in joint]


def marginalize(P, mean, d, gap, noise):
    """Cost-to-come of the next node: the minimum over (dx, du) of `1/2 |dx - mean|^2_P + 1/2 |r + Rx dx + Ru du|^2`, pushed through
    `dx+ = Fx dx + Fu du + gap` and widened by `noise noise^T`. Returns mean and covariance of dx+."""
    n, nu = len(P), len(d.Ru[0])
    whiten = np.linalg.inv(np.linalg.cholesky(P))
    A = np.vstack([np.hstack([whiten, np.zeros((n, nu))]), np.hstack([d.Rx, d.Ru])])
    b = np.concatenate([whiten @ mean, -d.r])
    solution, root = least_squares(A, b)
    F = np.hstack([d.Fx, d.Fu])
    return F @ solution + gap, (F @ root) @ (F @ root).T + noise @ noise.T


def least_squares(A, b):
    """Minimum of |A z - b|, and a root of the covariance (A^T A)^-1, with columns scaled: units differ by many orders."""
    scale = 1.0 / np.linalg.norm(A, axis=0)
    Q, R = np.linalg.qr(A * scale)
    return scale * np.linalg.solve(R, Q.T @ b), scale[:, None] * np.linalg.inv(R)


def kalman_update(x, P, C, z, R):
    """Measurement z = C x + N(0, R)."""
    K = np.linalg.solve(C @ P @ C.T + R, C @ P).T
    x = x + K @ (z - C @ x)
    L = np.eye(len(x)) - K @ C
    return x, L @ P @ L.T + K @ R @ K.T
