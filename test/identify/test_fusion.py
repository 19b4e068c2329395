# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Fusing posteriors: on a linear problem it is the posterior of all data, with the prior counted
once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from helpers.models import problem

from prime_estimation.errors import DataError
from prime_estimation.identify import fuse
from prime_estimation.identify.fusion import check_agreement, repeatability
from prime_estimation.identify.observability import directions
from prime_estimation.identify.posterior import Posterior


def prior() -> Posterior:
    p = problem("go2")
    root = p.theta_prior_root
    return Posterior.of_problem(p, p.theta_nominal, root @ root.T)


def measured(before: Posterior, C: np.ndarray, z: np.ndarray) -> Posterior:
    """Posterior after unit-noise readings z = C (theta - prior)."""
    information = np.linalg.inv(before.prior_root @ before.prior_root.T) + C.T @ C
    covariance = np.linalg.inv(information)
    return replace(before, theta=before.prior + covariance @ C.T @ z, covariance=covariance)


def test_fusion_is_the_posterior_of_all_data():
    rng, before = np.random.default_rng(0), prior()
    readings = [(30.0 * rng.normal(size=(n, 10)), rng.normal(size=n)) for n in (3, 12, 7)]
    together = measured(before, *(np.concatenate(parts) for parts in zip(*readings)))
    fused = fuse([measured(before, C, z) for C, z in readings])
    np.testing.assert_allclose(fused.theta, together.theta, atol=1e-9)
    np.testing.assert_allclose(fused.covariance, together.covariance, atol=1e-9)


def test_what_no_recording_saw_keeps_the_prior():
    before = prior()
    fused = fuse([before, before, before])
    np.testing.assert_allclose(fused.covariance, before.covariance, rtol=1e-6, atol=1e-9)
    assert not any(q.observable for q in fused.quantities("base"))


def test_what_is_wider_than_the_prior_takes_nothing_away():
    """By systematic errors, or round-off: it tells nothing, and the others keep what they know."""
    rng, before = np.random.default_rng(2), prior()
    one = measured(before, 30.0 * rng.normal(size=(12, 10)), rng.normal(size=12))
    fused = fuse([one, replace(before, covariance=2.0 * before.covariance)])
    np.testing.assert_allclose(fused.theta, one.theta, atol=1e-9)
    np.testing.assert_allclose(fused.covariance, one.covariance, atol=1e-9)


@pytest.mark.parametrize(("share", "observable"), [(0.49, True), (0.51, False)])
def test_a_quantity_that_is_not_observable_is_reported_as_it_was_known_before(share, observable):
    before = prior()
    found = replace(before, theta=before.theta + 1e-9, covariance=share**2 * before.covariance)
    for q in found.quantities("base"):
        assert q.observable == observable and q.stddev == pytest.approx(share * q.prior_stddev)
        assert q.reported == (q.value if observable else q.prior) and q.value != q.prior
        half = 1.96 * q.prior_stddev * (share if observable else 1.0)
        assert np.diff(q.interval)[0] == pytest.approx(2.0 * half, rel=1e-5)
        assert q.to_dict()["value"] == q.reported


def test_prior_of_the_dynamic_parameters():
    before = prior()
    mean, stddev = before.pi_prior()
    np.testing.assert_allclose(mean, before.pi("base"))
    np.testing.assert_allclose(stddev**2, np.diag(before.pi_covariance("base")))


def test_systematic_errors_do_not_average_out():
    rng, shift = np.random.default_rng(1), np.eye(10)[0] * 0.15
    one = replace(
        measured(prior(), 1e3 * rng.normal(size=(20, 10)), rng.normal(size=20)),
        budget={"torque scale": shift},
    )
    fused = fuse([one] * 4)
    mass, single = fused.quantities("base")[0], one.quantities("base")[0]
    assert mass.systematic == pytest.approx(0.15) and mass.statistical == pytest.approx(
        0.5 * single.statistical, rel=0.05
    )


def test_what_is_not_of_one_prior_is_not_fused():
    """Of another prior, or of another link whose parameters are as many."""
    one = prior()
    for other in (
        replace(one, links=("FL_hip",)),
        replace(one, manifold="exponential_eigenvalue"),
        replace(one, prior=one.prior + 0.01),
        replace(one, prior_root=1.1 * one.prior_root),
    ):
        with pytest.raises(DataError, match="posteriors to fuse are of other links, or another"):
            fuse([one, other])


def test_contradictory_recordings_are_refused(run):
    shifted = run.posterior.theta.copy()
    shifted[0] += 0.1  # 20 % of mass, and what goes with it
    other = replace(run, name="other", posterior=replace(run.posterior, theta=shifted))
    check_agreement([run, run])
    with pytest.raises(DataError, match="contradict each other: mass of base"):
        check_agreement([run, other])
    table = repeatability([run, other])["base"]["mass"]
    assert table["spread"] > 5.0 * table["promised"]


def test_directions_are_named():
    """Only the mass and the com's x are known: the other eight directions have all of the prior's
    width."""
    before = prior()
    mean, covariance = before.prior_psi("base")
    found = directions(before, "base")
    assert len(found) == 10 and all(d.shrinkage == pytest.approx(1.0) for d in found)
    by_theta = np.linalg.inv(before.prior_root)
    fused = measured(before, 1e4 * by_theta[:2], np.zeros(2))
    shrunk = [d for d in directions(fused, "base") if d.observed]
    assert len(shrunk) == 2 and all("motion" not in d.words and d.motion for d in shrunk)
