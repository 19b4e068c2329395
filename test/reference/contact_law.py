# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Readable twin of the C++ contact law."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq


def impulse(c, mu, kappa=500.0, compliance=0.01, smoothing=0.02, convex=False):
    """Impulse (lambda_t, lambda_n) [N s] of the contact velocity c = (c_t, a) [m/s].

    A bracketed root of the implicit equation

    alpha = a + mu (sqrt(|c_t|^2 + eps^2) - eps) + R lambda_n(alpha)
    lambda_n = 2 alpha / (kappa (alpha^2 - mu^2 |c_t|^2))
    """
    slip = np.hypot(c[0], c[1])
    edge = mu * slip  # the cone: alpha > edge
    b = c[2] + (0.0 if convex else mu * (np.hypot(slip, smoothing) - smoothing))

    def normal(beyond):  # of alpha = edge + beyond, without cancellation near the edge
        return 2.0 * (edge + beyond) / (kappa * beyond * (beyond + 2.0 * edge))

    def residual(log_beyond):
        beyond = np.exp(log_beyond)
        return edge + beyond - b - compliance * normal(beyond)

    beyond = np.exp(brentq(residual, -80.0, 20.0, xtol=1e-15, rtol=1e-15, maxiter=500))
    s = beyond * (beyond + 2.0 * edge) / mu**2
    return np.array([-2.0 * c[0] / (kappa * s), -2.0 * c[1] / (kappa * s), normal(beyond)])
