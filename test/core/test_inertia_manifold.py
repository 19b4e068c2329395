# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Coordinates of physical inertias.

Both manifolds against their twins, derivatives, bodies without principal axes, priors.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from helpers.models import problem
from reference.inertia import differentiated, dynamic_parameters, exponential_eigenvalue

from prime_estimation.inertia import (
    InertiaBelief,
    com_covariance,
    com_stddev,
    from_theta,
    pi_by_psi,
    theta_root,
    to_theta,
)

MANIFOLDS = ("log_cholesky", "exponential_eigenvalue")


def body(moments, turn=(0.0, 0.0, 0.0), mass=3.0, com=(0.02, -0.01, 0.05)) -> np.ndarray:
    """Dynamic parameters of a body with given principal moments of inertia."""
    R = pin.exp3(np.array(turn))
    return pin.Inertia(mass, np.array(com), R @ np.diag(moments) @ R.T).toDynamicParameters()


SINGULAR = {
    "sphere": body([0.01, 0.01, 0.01]),
    "disk": body([0.02, 0.02, 0.035]),
    "tilted disk": body([0.02, 0.02, 0.035], turn=(0.7, -0.4, 1.1)),
    "rod": body([0.02, 0.02, 1e-5], turn=(0.0, 1.2, 0.0)),
}


@pytest.mark.parametrize("manifold", MANIFOLDS)
@pytest.mark.parametrize("turn", [0.0, 1e-9, 1e-4, 0.7, 3.5])
def test_map_and_derivative_equal_reference(manifold, turn):
    """At any size of the turn of the principal axes; the derivative to 1e-9 relative."""
    rng = np.random.default_rng(5)
    for _ in range(20):
        theta = rng.normal(0.0, 0.7, 10)
        if manifold == "exponential_eigenvalue":
            theta[4:7] *= turn / np.linalg.norm(theta[4:7])
        pi, jacobian = from_theta(theta, manifold)
        expected, derivative = dynamic_parameters(theta, manifold), differentiated(theta, manifold)
        np.testing.assert_allclose(pi, expected, atol=1e-12 * abs(expected).max())
        np.testing.assert_allclose(jacobian, derivative, atol=1e-9 * abs(derivative).max())


@pytest.mark.parametrize("manifold", MANIFOLDS)
def test_theta_of_a_body(manifold):
    rng = np.random.default_rng(6)
    for _ in range(20):
        theta = rng.normal(0.0, 0.7, 10)
        if manifold == "exponential_eigenvalue":
            # within the range in which the smallest turn is the one it was made with
            theta[4:7] *= 0.3
        pi = dynamic_parameters(theta, manifold)
        if manifold == "exponential_eigenvalue":
            np.testing.assert_allclose(
                to_theta(pi, manifold), exponential_eigenvalue(pi), atol=1e-9
            )
        else:
            np.testing.assert_allclose(to_theta(pi, manifold), theta, atol=1e-9)
        np.testing.assert_allclose(
            from_theta(to_theta(pi, manifold), manifold)[0], pi, atol=1e-12 * abs(pi).max()
        )


@pytest.mark.parametrize("manifold", MANIFOLDS)
@pytest.mark.parametrize("name", ["go1", "go2", "g1", "kinova"])
def test_every_link_survives_the_round_trip(name, manifold):
    for inertia in problem(name).robot.model.inertias.tolist()[1:]:
        pi = inertia.toDynamicParameters()
        np.testing.assert_allclose(from_theta(to_theta(pi, manifold), manifold)[0], pi, atol=1e-12)


@pytest.mark.parametrize("name", SINGULAR)
def test_body_without_principal_axes(name):
    """Equal moments: theta exists, the turn is the smallest one, and the derivative misses one
    direction per pair of equal moments."""
    pi = SINGULAR[name]
    theta = to_theta(pi, "exponential_eigenvalue")
    value, jacobian = from_theta(theta, "exponential_eigenvalue")
    np.testing.assert_allclose(value, pi, atol=1e-14 + 1e-13 * abs(pi).max())
    np.testing.assert_allclose(
        jacobian, differentiated(theta, "exponential_eigenvalue"), atol=1e-9 * abs(jacobian).max()
    )
    missing = 3 if name == "sphere" else 1
    assert (
        np.sum(np.linalg.svd(jacobian[4:, 4:7] / pi[4:].max(), compute_uv=False) < 1e-7) == missing
    )
    if name in ("sphere", "disk"):
        np.testing.assert_allclose(theta[4:7], 0.0, atol=1e-6)


@pytest.mark.parametrize("manifold", MANIFOLDS)
@pytest.mark.parametrize("moments", [[1.0, 1.0, 3.0], [1.0, -1.0, 1.0]])
def test_impossible_inertia_is_refused(manifold, moments):
    """A moment larger than the sum of the others, or a negative one."""
    with pytest.raises(ValueError, match="physically consistent"):
        to_theta(
            body([1.0, 1.0, 1.0])
            + np.array([0, 0, 0, 0, moments[0], 0, moments[1], 0, 0, moments[2]]) * 100.0,
            manifold,
        )


def test_mass_must_be_positive():
    for manifold in MANIFOLDS:
        with pytest.raises(ValueError, match="physically consistent"):
            to_theta(np.array([-1.0, 0, 0, 0, 0.1, 0, 0.1, 0, 0, 0.1]), manifold)


@pytest.mark.parametrize("inertia", [0.1, 0.4])
def test_prior_says_the_same_on_both_manifolds(inertia):
    """Errors of mass, centre of mass and tensor, mapped to theta and back to pi.

    Axes of nearly equal moments are held a little tighter.
    """
    pi = body([0.024, 0.098, 0.107], turn=(0.01, 0.02, 0.03), mass=6.9)
    covariances = {}
    for manifold in MANIFOLDS:
        root = theta_root(pi, 0.5, 0.02, inertia, manifold)
        _, jacobian = from_theta(to_theta(pi, manifold), manifold)
        covariances[manifold] = jacobian @ root @ root.T @ jacobian.T
    psi = (
        np.linalg.solve(pi_by_psi(pi), covariances["log_cholesky"]) @ np.linalg.inv(pi_by_psi(pi)).T
    )
    np.testing.assert_allclose(np.sqrt(np.diag(psi))[:4], [0.5, 0.02, 0.02, 0.02], rtol=1e-9)
    np.testing.assert_allclose(
        np.sqrt(np.diag(com_covariance(pi, covariances["log_cholesky"]))), 0.02, rtol=1e-9
    )
    ratio = np.diag(covariances["exponential_eigenvalue"]) / np.diag(covariances["log_cholesky"])
    np.testing.assert_allclose(ratio[[0, 1, 2, 3, 4, 6, 9]], 1.0, rtol=0.02)
    assert np.all(ratio < 1.0 + 1e-9) and np.all(ratio > 0.2)


@pytest.mark.parametrize("name", SINGULAR)
def test_prior_of_a_body_without_axes_is_positive_definite(name):
    root = theta_root(SINGULAR[name], 0.5, 0.02, 0.4, "exponential_eigenvalue")
    stddev = np.sqrt(np.diag(root @ root.T))
    assert np.all(stddev > 0.0) and np.all(stddev[4:7] <= 1.0 + 1e-9)
    np.linalg.cholesky(root @ root.T)


def test_nothing_known_to_walk_does_not_walk():
    for manifold in MANIFOLDS:
        assert abs(theta_root(SINGULAR["disk"], 0.0, 0.0, 0.0, manifold)).max() < 1e-6


def test_deviation_of_a_centre_of_mass_is_that_of_its_covariance():
    """With mass and moment correlated, as they are."""
    root = np.random.default_rng(3).normal(size=(10, 10))
    pi = body([0.05, 0.06, 0.04])
    for covariance in (1e-4 * root @ root.T, np.zeros((10, 10))):
        expected = np.sqrt(np.diag(com_covariance(pi, covariance)))
        np.testing.assert_allclose(com_stddev(pi, covariance), expected, rtol=1e-9)


@pytest.mark.parametrize("manifold", MANIFOLDS)
def test_a_belief_says_the_same_in_theta(manifold):
    """Of two links: back in pi by the map's derivative, its covariance is what it was."""
    root = np.random.default_rng(4).normal(size=(10, 10))
    bodies = body([0.05, 0.06, 0.04]), body([0.02, 0.03, 0.035], mass=1.0)
    covariances = 1e-6 * root @ root.T, 1e-8 * np.diag(np.arange(1.0, 11.0))
    mean, covariance = InertiaBelief(bodies, covariances).in_theta(manifold)
    for i, (pi, P) in enumerate(zip(bodies, covariances)):
        rows = slice(10 * i, 10 * i + 10)
        back, jacobian = from_theta(mean[rows], manifold)
        np.testing.assert_allclose(back, pi, atol=1e-12)
        told = jacobian @ covariance[rows, rows] @ jacobian.T
        np.testing.assert_allclose(told, P, rtol=1e-6, atol=1e-12)
    assert not covariance[:10, 10:].any()
