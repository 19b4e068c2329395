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


def expect_at_stop(
    leg: tuple[np.ndarray, np.ndarray, np.ndarray],
    stopped: int,
    base: tuple[np.ndarray, np.ndarray],
    prior: tuple[float, float],
    dof: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Mean (3,) and covariance (3, 3) of the force at a foot one of whose joints is at its stop.

    The stop's torque is one more unknown of that joint, as large as the force may bring to it.

    Args:
        leg, base, prior, dof: as of `expect`; of one leg. stopped: which of its joints.
    """
    J, w, stddev = leg
    own = J[:, 6:].T
    variance = stddev**2
    variance[stopped] += prior[0] ** 2 * (own[stopped] @ own[stopped])
    H = np.vstack([own, J[:, :6].T])
    y, R = np.concatenate([w, base[0]]), np.diag(np.concatenate([variance, base[1] ** 2]))
    S = np.linalg.inv(H.T @ np.linalg.solve(R, H))
    f = S @ H.T @ np.linalg.solve(R, y)
    F = prior[0] ** 2 * np.eye(3)
    mean = F @ np.linalg.solve(F + S, f)
    odds = prior[1] - 0.5 * mean @ np.linalg.solve(F, mean)
    odds -= 0.5 * np.linalg.slogdet(np.eye(3) + F @ np.linalg.inv(S))[1]
    for sign, of in ((1.0, y - H @ mean), (-1.0, y)):
        tails = sum(log_tail(np.array([e]), dof) for e in of[:3] / np.sqrt(variance))
        odds += sign * (tails + log_base(of[3:], base[1] ** 2, dof))
    p = 1.0 / (1.0 + np.exp(-odds))
    return p * mean, p * S + p * (1.0 - p) * np.outer(f, f)
