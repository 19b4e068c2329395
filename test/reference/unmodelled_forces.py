# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Readable twin of the test of forces at the feet that no contact law explains."""

from __future__ import annotations

import numpy as np


def log_tail(deviations: np.ndarray, dof: float) -> float:
    """Logarithm of a Student-t density of whitened values, but for what does not depend on them."""
    return -0.5 * (dof + deviations.size) * np.log(1.0 + np.sum(deviations**2) / dof)


def log_base(w: np.ndarray, variance: np.ndarray, dof: float) -> float:
    """The same of force and moment (6,) on the base, with these variances."""
    deviations = w / np.sqrt(variance)
    tails = log_tail(deviations[:3], dof) + log_tail(deviations[3:], dof)
    return tails - 0.5 * np.sum(np.log(variance))


def expect(
    legs: list[tuple[np.ndarray, np.ndarray, np.ndarray]],
    base: tuple[np.ndarray, np.ndarray],
    prior: tuple[float, float],
    dof: float,
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Means (3,) and covariances (3, 3) of the forces at feet whose legs have outliers.

    Args:
        legs: Jacobian (3, 9) of the contact point by base and the three joints, disturbances (3,)
            of these, their deviations (3,).
        base: disturbances (6,), deviations (6,).
        prior: deviation of a force [N], logarithm of the odds.
        dof: degrees of freedom of the disturbances' Student-t.
    """
    F = prior[0] ** 2 * np.eye(3)
    fs, Ss, odds = [], [], []
    for J, w, stddev in legs:
        own = J[:, 6:]
        f = np.linalg.solve(own.T, w)
        S = np.linalg.inv(own @ np.diag(stddev**-2.0) @ own.T)
        # densities of w: of a Gaussian with and without the force, the latter with heavy tails
        wide = np.diag(stddev**2) + own.T @ F @ own
        gaussian = -0.5 * (w @ np.linalg.solve(wide, w))
        gaussian -= 0.5 * (np.linalg.slogdet(wide)[1] - np.sum(np.log(stddev**2)))
        noise = sum(log_tail(np.array([e]), dof) for e in w / stddev)
        fs.append(f)
        Ss.append(S)
        odds.append(prior[1] + gaussian - noise)
    brought = [J[:, :6].T @ f for (J, *_), f in zip(legs, fs)]
    spread = [np.diag(J[:, :6].T @ S @ J[:, :6]) for (J, *_), S in zip(legs, Ss)]
    w, variance = base[0], base[1] ** 2
    out = []
    for i, (f, S) in enumerate(zip(fs, Ss)):
        others = [k for k in range(len(legs)) if k != i and odds[k] > 0.0]
        rest = w - sum((brought[k] for k in others), np.zeros(6))
        known = variance + sum((spread[k] for k in others), np.zeros(6))
        told = log_base(rest - brought[i], known + spread[i], dof) - log_base(rest, known, dof)
        p = 1.0 / (1.0 + np.exp(-(odds[i] + told)))
        mean = p * F @ np.linalg.solve(F + S, f)
        out.append((mean, p * S + p * (1.0 - p) * np.outer(f, f)))
    return out
