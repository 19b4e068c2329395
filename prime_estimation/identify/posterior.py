# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Posterior of the inertia of some links, with its prior and systematic errors.

And the same in the words of a data sheet.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..evaluation.statistics import HALF_WIDTH_95
from ..inertia import from_theta, inertia_about_com, pi_by_psi
from ..mhe.problem import Problem

SHRUNK = 0.5  # of the prior's standard deviation: above, a quantity has not been observed

NAMES = ("mass", "com x", "com y", "com z", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
UNITS = ("kg", "m", "m", "m", *["kg m2"] * 6)
_TENSOR = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))


@dataclass(frozen=True)
class Quantity:
    """Number of a data sheet (mass, com, tensor about the com; link axes) with its 95 % interval.

    `stddev` = root of `statistical`^2 + `systematic`^2. A quantity that is not observable is
    reported with the prior's value and interval.
    """

    link: str
    name: str
    unit: str
    value: float
    stddev: float
    statistical: float
    systematic: float
    prior: float
    prior_stddev: float
    observable: bool

    @property
    def reported(self) -> float:
        """Value, the prior's where it is not observable: the middle of the interval."""
        return self.value if self.observable else self.prior

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval."""
        width = HALF_WIDTH_95 * (self.stddev if self.observable else self.prior_stddev)
        return self.reported - width, self.reported + width

    def to_dict(self) -> dict:
        """Plain values for JSON."""
        return {
            **{k: getattr(self, k) for k in self.__dataclass_fields__},
            "value": self.reported,
            "interval": list(self.interval),
        }


@dataclass(frozen=True)
class Posterior:
    """Gaussian knowledge of theta (10 per link, on `manifold`) beside the prior that it came from.

    Attributes:
        links: names of the moving links.
        theta, covariance: posterior, statistical part only.
        prior, prior_root: mean and square root of the covariance of the prior.
        budget: by cause, what one standard deviation of it does to pi (10 per link): the systematic
            errors, independent of each other.
    """

    links: tuple[str, ...]
    theta: np.ndarray
    covariance: np.ndarray
    prior: np.ndarray
    prior_root: np.ndarray
    budget: dict[str, np.ndarray]
    manifold: str = "log_cholesky"

    @staticmethod
    def of_problem(
        problem: Problem,
        theta: np.ndarray,
        covariance: np.ndarray,
        budget: dict[str, np.ndarray] | None = None,
    ) -> "Posterior":
        """Posterior with the prior of a problem."""
        links = tuple(problem.robot.estimated_links)
        return Posterior(
            links,
            theta,
            covariance,
            problem.theta_nominal,
            problem.theta_prior_root,
            budget or {},
            problem.config.estimator.manifold,
        )

    def pi(self, link: str) -> np.ndarray:
        """(10,) Pinocchio's dynamic parameters of a link."""
        return from_theta(self.theta[self._rows(link)], self.manifold)[0]

    def pi_covariance(self, link: str) -> np.ndarray:
        """(10, 10) covariance of the dynamic parameters of a link, statistical part."""
        rows = self._rows(link)
        _, jacobian = from_theta(self.theta[rows], self.manifold)
        return jacobian @ self.covariance[rows, rows] @ jacobian.T

    def pi_prior(self) -> tuple[np.ndarray, np.ndarray]:
        """Prior of the dynamic parameters (10 per link): mean and standard deviations."""
        mean, variance = [], []
        for link in self.links:
            rows = self._rows(link)
            pi, jacobian = from_theta(self.prior[rows], self.manifold)
            root = jacobian @ self.prior_root[rows, rows]
            mean.append(pi)
            variance.append(np.sum(root**2, axis=1))
        return np.concatenate(mean), np.sqrt(np.concatenate(variance))

    def psi_covariance(self, link: str) -> tuple[np.ndarray, np.ndarray]:
        """Covariance (10, 10) of (mass, com, tensor about the com): statistical, systematic."""
        rows = self._rows(link)
        pi, jacobian = from_theta(self.theta[rows], self.manifold)
        to_psi = np.linalg.inv(pi_by_psi(pi))
        turn = to_psi @ jacobian
        shifts = [to_psi @ shift[rows] for shift in self.budget.values()]
        return turn @ self.covariance[rows, rows] @ turn.T, sum(
            (np.outer(s, s) for s in shifts), np.zeros((10, 10))
        )

    def total_mass_variance(self) -> float:
        """Variance of the mass of all links together [kg^2], statistical part.

        Links that are told from each other badly have masses that vary against each other: their
        sum is known better than each of them.
        """
        by_theta = np.zeros(len(self.theta))
        for link in self.links:
            rows = self._rows(link)
            by_theta[rows] = from_theta(self.theta[rows], self.manifold)[1][0]
        return float(max(by_theta @ self.covariance @ by_theta, 0.0))

    def total_mass_stddev(self) -> float:
        """Standard deviation of the mass of all links together [kg], systematic part included."""
        systematic = sum(float(shift[::10].sum()) ** 2 for shift in self.budget.values())
        return float(np.sqrt(self.total_mass_variance() + systematic))

    def prior_psi(self, link: str) -> tuple[np.ndarray, np.ndarray]:
        """Prior of (mass, com, tensor about the com): mean (10,) and covariance (10, 10)."""
        rows = self._rows(link)
        pi, jacobian = from_theta(self.prior[rows], self.manifold)
        root = np.linalg.solve(pi_by_psi(pi), jacobian @ self.prior_root[rows, rows])
        return to_psi(pi), root @ root.T

    def quantities(self, link: str) -> list[Quantity]:
        """The ten numbers of a link's data sheet."""
        values, (prior, prior_covariance) = to_psi(self.pi(link)), self.prior_psi(link)
        statistical, systematic = (
            np.sqrt(np.maximum(np.diag(c), 0.0)) for c in self.psi_covariance(link)
        )
        prior_stddev = np.sqrt(np.diag(prior_covariance))
        out = []
        for i, (name, unit) in enumerate(zip(NAMES, UNITS)):
            stddev = float(np.hypot(statistical[i], systematic[i]))
            observable = bool(stddev < SHRUNK * prior_stddev[i])
            numbers = (values[i], stddev, statistical[i], systematic[i], prior[i], prior_stddev[i])
            out.append(Quantity(link, name, unit, *map(float, numbers), observable))
        return out

    def _rows(self, link: str) -> slice:
        i = self.links.index(link)
        return slice(10 * i, 10 * i + 10)


def fused(
    means: list[np.ndarray], covariances: list[np.ndarray], prior: np.ndarray, root: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Mean (n,) and covariance (n, n) of several posteriors, whose common prior counts once.

    In coordinates z whitened by the prior (theta = theta_0 + L z) a posterior has the information
    W_i >= 1, of which W_i - 1 came from its data. Then W = 1 + sum (W_i - 1), z = W^-1 sum W_i z_i.

    Args:
        means: (n,) of the posteriors.
        covariances: (n, n) of them.
        prior: (n,) mean theta_0 of the prior.
        root: (n, n) L of the prior, whose covariance is L L^T.
    """
    one = np.eye(len(prior))
    total, vector = one.copy(), np.zeros(len(prior))
    for mean, covariance in zip(means, covariances):
        data = _told(covariance, root)
        total += data
        vector += (data + one) @ np.linalg.solve(root, mean - prior)
    return prior + root @ np.linalg.solve(total, vector), root @ np.linalg.inv(total) @ root.T


def _told(covariance: np.ndarray, root: np.ndarray) -> np.ndarray:
    """Information (n, n) that data told beside the prior, whitened by the prior's root.

    Round-off and systematic errors must not take away what the prior knows.
    """
    whitened = np.linalg.solve(root, np.linalg.solve(root, covariance).T)
    information = np.linalg.inv(0.5 * (whitened + whitened.T))
    values, vectors = np.linalg.eigh(information - np.eye(len(root)))
    return (vectors * np.maximum(values, 0.0)) @ vectors.T


def to_psi(pi: np.ndarray) -> np.ndarray:
    """Mass, com and tensor about the com, (xx, xy, yy, xz, yz, zz), of dynamic parameters."""
    tensor = inertia_about_com(pi)
    return np.concatenate([pi[:1], pi[1:4] / pi[0], [tensor[i, j] for i, j in _TENSOR]])
