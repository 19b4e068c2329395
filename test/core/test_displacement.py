# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Place and heading beside the cost-to-come, against covariances of all that is written out."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.models import problem
from helpers.nodes import adjoint, covariance, random_node, turning_disturbance
from reference.gaussian import least_squares

from prime_estimation import _core

TIGHT = 1e-3


def random_motions(ndx, rng):
    """Directions (ndx, 3) that move the base and something behind it."""
    motions = 0.3 * rng.normal(size=(ndx, 3))
    motions[:6] = np.linalg.qr(rng.normal(size=(6, 3)))[0]
    return motions


def released(P, shared, D, motions, carry):
    """Covariances of tangent (n, n), displacement with it (3, n), displacement (3, 3)."""
    n = len(P)
    axes = np.vstack([motions[:6], np.zeros((n - 6, 3))])
    joint = np.block([[P, shared.T], [shared, D]])
    away = np.eye(n) - motions @ axes.T
    T = np.block([[away, np.zeros((n, 3))], [axes.T, carry]])
    joint = T @ joint @ T.T
    return (joint[:n, :n] + TIGHT**2 * motions @ motions.T, joint[n:, :n], joint[n:, n:])


def close(a, b, P):
    std = np.sqrt(np.diag(P))
    np.testing.assert_allclose(a / std, b / std, atol=1e-9 * abs(b / std).max())


def test_release_takes_the_motion_out():
    """Twice, so that the displacement is known from the tangent; and back again."""
    of, rng = problem("go2"), np.random.default_rng(3)
    P = covariance(of)
    arrival = _core.ActionArrival(of.state, of.state.rand(), P)
    arrival.mean = rng.normal(size=of.ndx)
    shared, D = np.zeros((3, of.ndx)), np.zeros((3, 3))
    for _ in range(2):
        motions, carry, mean = random_motions(of.ndx, rng), rng.normal(size=(3, 3)), arrival.mean
        P, shared, D = released(P, shared, D, motions, carry)
        arrival.release(motions, motions[:6], carry, TIGHT)
        close(arrival.covariance, P, P)
        np.testing.assert_allclose(arrival.displacement, D, rtol=1e-9)
        np.testing.assert_allclose(arrival.mean, mean - motions @ motions[:6].T @ mean[:6])
        assert np.all(np.diag(arrival.L) > 0.0) and not np.triu(arrival.L, 1).any()
    motions = random_motions(of.ndx, rng)
    arrival.restore(motions)
    back = np.hstack([np.eye(of.ndx), motions])
    close(arrival.covariance, back @ np.block([[P, shared.T], [shared, D]]) @ back.T, P)
    assert not arrival.displacement.any()


@pytest.mark.parametrize("name", ["go2", "g1"])
def test_displacement_outlasts_the_node_that_leaves(name):
    """What the tangent says of it goes on through rows and dynamics of a node.

    Measured by what the next release adds, in which it has a part.
    """
    node, rng = random_node(name, "forward", "coulomb", "stance", 5), np.random.default_rng(5)
    of, state = node.problem, node.problem.state
    d = node.calc(node.x, node.u)
    small = 0.01 * rng.normal(size=(2, of.ndx))
    reference, next_state = state.integrate(node.x, small[0]), state.integrate(d.xnext, small[1])
    P, motions = covariance(of), random_motions(of.ndx, rng)
    arrival = _core.ActionArrival(state, reference, P)
    arrival.release(motions, motions[:6], np.eye(3), TIGHT)
    P, shared, D = released(P, np.zeros((3, of.ndx)), np.zeros((3, 3)), motions, np.eye(3))

    A = adjoint(state, reference, state.diff(reference, node.x))
    B = np.linalg.inv(adjoint(state, next_state, state.diff(next_state, np.array(d.xnext))))
    P, shared = A @ P @ A.T, shared @ A.T
    turned = turning_disturbance(node, d)
    whiten = np.linalg.inv(np.linalg.cholesky(P))
    rows = np.block([[whiten, np.zeros((of.ndx, of.nu))], [turned.Rx, turned.Ru]])
    _, root = least_squares(rows, np.zeros(len(rows)))
    after = B @ np.hstack([turned.Fx, turned.Fu]) @ root
    guess = shared @ np.linalg.inv(P)
    D -= guess @ (P - root[: of.ndx] @ root[: of.ndx].T) @ guess.T  # what the node tells of it
    shared = guess @ root[: of.ndx] @ after.T
    P = after @ after.T

    arrival.marginalize(
        node.model, node.model.createData(), node.x, node.u, next_state, np.zeros((of.ndx, 1))
    )
    motions = random_motions(of.ndx, rng)
    _, _, D = released(P, shared, D, motions, np.eye(3))
    arrival.release(motions, motions[:6], np.eye(3), TIGHT)
    np.testing.assert_allclose(arrival.displacement, D, rtol=1e-5, atol=1e-7 * abs(D).max())
