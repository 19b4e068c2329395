# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The contact law: against its bracketed twin, its derivatives, and what physics asks of it."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.differences import jacobian, relative_error
from reference.contact_law import impulse

from prime_estimation import _core


def make(convex=False, kappa=500.0, compliance=0.01):
    law = _core.ContactLaw()
    law.correction, law.kappa, law.compliance = 0.0 if convex else 1.0, kappa, compliance
    return law


def velocities(n=200):
    """Contact velocities of all sizes.

    Gaps from deep penetration to far away, slow creep to fast sliding.
    """
    rng = np.random.default_rng(0)
    size = 10.0 ** rng.uniform(-5, 1.5, (n, 1))
    return rng.normal(size=(n, 3)) * np.hstack([size, size, 10.0 ** rng.uniform(-5, 1.5, (n, 1))])


@pytest.mark.parametrize("convex", [False, True])
@pytest.mark.parametrize("kappa, compliance", [(500.0, 0.01), (2000.0, 0.003), (100.0, 0.03)])
def test_equals_reference(convex, kappa, compliance):
    law = make(convex, kappa, compliance)
    for c in velocities():
        for mu in (0.3, 0.8, 1.5):
            expected = impulse(c, mu, kappa, compliance, convex=convex)
            np.testing.assert_allclose(
                law.evaluate(c, mu)[0], expected, rtol=1e-9, atol=1e-9 * np.linalg.norm(expected)
            )


@pytest.mark.parametrize("convex", [False, True])
def test_derivatives(convex):
    law = make(convex)
    for c in velocities(100):
        _, by_c, by_mu, by_sigma = law.evaluate(c, 0.8)
        scale = 0.1 * min(1.0, np.linalg.norm(c))  # a step within the curvature of the law
        numeric = jacobian(lambda d: law.evaluate(c + scale * d, 0.8)[0], 3) / scale
        assert relative_error(by_c, numeric) < 1e-5
        numeric = jacobian(lambda d: law.evaluate(c, 0.8 + d[0])[0], 1)[:, 0]
        assert abs(by_mu - numeric).max() < 1e-5 * max(
            abs(numeric).max(), np.linalg.norm(law.evaluate(c, 0.8)[0])
        )
        numeric = jacobian(lambda d: law.softened(d[0]).evaluate(c, 0.8)[0], 1)[:, 0]
        assert abs(by_sigma - numeric).max() < 1e-5 * max(
            abs(numeric).max(), np.linalg.norm(law.evaluate(c, 0.8)[0])
        )


def test_soft_ground_carries_less_per_depth_and_creeps_more():
    """At the same velocity less load, at the same load more sideways creep."""
    hard, soft = make(), make().softened(3.0)
    sinking = np.array([0.0, 0.0, -0.02])
    assert soft.evaluate(sinking, 0.8)[0][2] < 0.2 * hard.evaluate(sinking, 0.8)[0][2]
    assert soft.compliance == pytest.approx(hard.compliance * np.exp(3.0))
    assert soft.kappa < 0.5 * hard.kappa


def test_impulse_is_in_the_friction_cone_and_against_the_slip():
    law = make()
    for c in velocities():
        lam = law.evaluate(c, 0.6)[0]
        assert lam[2] > 0.0
        assert np.linalg.norm(lam[:2]) <= 0.6 * lam[2] * (1.0 + 1e-12)
        assert lam[:2] @ c[:2] <= 0.0


def test_sliding_is_coulomb_friction():
    """Fast sliding under load: |lambda_t| = mu lambda_n but for the smoothing."""
    lam = make(kappa=5000.0).evaluate(np.array([1.0, 0.0, -0.01]), 0.6)[0]
    assert -lam[0] / lam[2] == pytest.approx(0.6, rel=1e-3)


def test_correction_lifts_no_foot_in_the_air():
    """Moving sideways above the ground costs nothing with the correction.

    The published cone pushes the foot away.
    """
    c = np.array([1.0, 0.0, 0.3])
    assert make(convex=True).evaluate(c, 0.8)[0][2] > 5.0 * make().evaluate(c, 0.8)[0][2]


@pytest.mark.parametrize("convex", [False, True])
def test_derivative_is_dissipative(convex):
    """More approach, more impulse; the published law is the gradient of a convex potential."""
    law = make(convex)
    for c in velocities():
        by_c = law.evaluate(c, 0.8)[1]
        assert by_c[2, 2] < 0.0
        if convex:
            size = abs(by_c).max()
            np.testing.assert_allclose(by_c, by_c.T, atol=1e-9 * size)
            assert np.linalg.eigvalsh(-0.5 * (by_c + by_c.T)).min() > -1e-9 * size
