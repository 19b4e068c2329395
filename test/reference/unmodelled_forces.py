# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Readable twin of the test of forces at the feet that no contact law explains."""

from __future__ import annotations

import numpy as np


def log_density(x: np.ndarray, P: np.ndarray) -> float:
    """Logarithm of N(x; 0, P)."""
    sign, logdet = np.linalg.slogdet(2.0 * np.pi * P)
    assert sign > 0.0
    return -0.5 * (x @ np.linalg.solve(P, x) + logdet)


def expect(
    J: np.ndarray, w: np.ndarray, stddev: np.ndarray, force_stddev: float, odds: float
) -> tuple[np.ndarray, np.ndarray, float]:
    """Mean (3,) and covariance (3, 3) of the force of a foot, probability that there is one.

    By Bayes' rule from the densities of w (3,) under both hypotheses; J (3, 3) of the contact point
    by the joints of its leg.
    """
    Q, F = np.diag(stddev**2), force_stddev**2 * np.eye(3)
    ratio = odds + log_density(w, Q + J.T @ F @ J) - log_density(w, Q)
    p = 1.0 / (1.0 + np.exp(-ratio))
    f = np.linalg.solve(J.T, w)
    S = np.linalg.inv(J @ np.linalg.inv(Q) @ J.T)
    return p * F @ np.linalg.solve(F + S, f), p * S + p * (1.0 - p) * np.outer(f, f), p
