# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Rotations of whole trajectories: arrays (..., 3) and (..., 3, 3), real or complex.

Everything is a polynomial or an analytic function of its arguments, so that a complex step gives
directional derivatives to machine precision.
"""

from __future__ import annotations

import numpy as np


def skew(v: np.ndarray) -> np.ndarray:
    """Cross product matrix (..., 3, 3) of vectors (..., 3): `skew(a) @ b = a x b`."""
    out = np.zeros((*v.shape, 3), v.dtype)
    out[..., 0, 1], out[..., 0, 2], out[..., 1, 2] = -v[..., 2], v[..., 1], -v[..., 0]
    out[..., 1, 0], out[..., 2, 0], out[..., 2, 1] = v[..., 2], -v[..., 1], v[..., 0]
    return out


def transpose(A: np.ndarray) -> np.ndarray:
    """Matrices (..., n, m) transposed, without conjugation."""
    return np.swapaxes(A, -1, -2)


def rotate(A: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Matrices (..., n, m) times vectors (..., m)."""
    return (A @ v[..., None])[..., 0]


def exp(w: np.ndarray) -> np.ndarray:
    """Rotation matrices (..., 3, 3) of rotation vectors (..., 3) [rad], by Rodrigues' formula."""
    square = np.sum(w * w, axis=-1)[..., None, None]
    small = np.abs(square) < 1e-8
    angle = np.sqrt(np.where(small, 1.0, square))
    first = np.where(small, 1.0 - square / 6.0, np.sin(angle) / angle)
    second = np.where(small, 0.5 - square / 24.0, (1.0 - np.cos(angle)) / angle**2)
    W = skew(w)
    return np.eye(3) + first * W + second * (W @ W)


def right_jacobian(w: np.ndarray) -> np.ndarray:
    """`exp(w + d) = exp(w) exp(right_jacobian(w) d)` to first order in d."""
    square = np.sum(w * w, axis=-1)[..., None, None]
    small = np.abs(square) < 1e-8
    angle = np.sqrt(np.where(small, 1.0, square))
    first = np.where(small, 0.5 - square / 24.0, (1.0 - np.cos(angle)) / angle**2)
    second = np.where(small, 1.0 / 6.0 - square / 120.0, (angle - np.sin(angle)) / angle**3)
    W = skew(w)
    return np.eye(3) - first * W + second * (W @ W)


def about_axis(axis: np.ndarray, angle: np.ndarray) -> np.ndarray:
    """Rotation matrices (n, 3, 3) by angles (n,) [rad] about one unit axis (3,)."""
    W = skew(axis)
    s, c = np.sin(angle)[:, None, None], np.cos(angle)[:, None, None]
    return np.eye(3) + s * W + (1.0 - c) * (W @ W)


def sine_vector(R: np.ndarray) -> np.ndarray:
    """Sine of the angle times the axis (..., 3): rotation error without a logarithm."""
    A = 0.5 * (R - transpose(R))
    return np.stack([A[..., 2, 1], A[..., 0, 2], A[..., 1, 0]], axis=-1)


def sine_jacobian(R: np.ndarray) -> np.ndarray:
    """Derivative of `sine_vector(R exp(d))` by d, (..., 3, 3): `(tr(R) I - R^T) / 2`."""
    trace = np.trace(R, axis1=-2, axis2=-1)[..., None, None]
    return 0.5 * (trace * np.eye(3) - transpose(R))


def bending(N: np.ndarray) -> np.ndarray:
    """Second derivative (..., 3, 3) of `tr(N exp(d))` by d at zero: `(N + N^T) / 2 - tr(N) I`."""
    trace = np.trace(N, axis1=-2, axis2=-1)[..., None, None]
    return 0.5 * (N + transpose(N)) - trace * np.eye(3)


def outer(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """`a b^T` (..., 3, 3) of vectors (..., 3)."""
    return a[..., :, None] * b[..., None, :]
