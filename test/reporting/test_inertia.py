# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Inertias that are reported: what is not in the posterior, and which of them are in doubt."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.models import problem

from prime_estimation.config.policies import INTERVAL
from prime_estimation.inertia import com_stddev, tensor_stddev
from prime_estimation.reporting.inertia import OBSERVED, InertiaReport

SURE = 0.0, False, False, 0.0, 0.0  # torque error, contradicted, unlike, stuck, swaying


def of(name: str = "go2"):
    """A problem, its report, and its first state."""
    it = problem(name)
    return it, InertiaReport(it), it.first.neutral()


def by_mass(it, x, stddev: float) -> np.ndarray:
    """Covariance of theta with such a standard deviation of the first link's mass [kg]."""
    slope = it.inertias(x)[0][1][0]
    return (stddev / np.linalg.norm(slope)) ** 2 * np.eye(len(it.theta_nominal))


def test_an_inertia_is_that_of_theta_with_its_covariance():
    it, report, x = of("g1")
    root = np.random.default_rng(1).normal(size=(20, 20))
    theta = 1e-6 * root @ root.T
    for i, (body, (pi, jacobian)) in enumerate(zip(report.bodies(x, theta, *SURE), it.inertias(x))):
        own = theta[10 * i : 10 * i + 10, 10 * i : 10 * i + 10]
        assert body.link == it.robot.estimated_links[i]
        np.testing.assert_allclose(body.parameters, pi)
        expected = jacobian @ own @ jacobian.T
        expected[4:, 4:] += np.diag(tensor_stddev(pi, INTERVAL.tensor) ** 2)
        np.testing.assert_allclose(body.covariance, expected)
        assert body.mass_stddev == pytest.approx(np.sqrt(body.covariance[0, 0]))
        lasting = [INTERVAL.com, INTERVAL.com, INTERVAL.com_height]
        np.testing.assert_allclose(
            body.com_stddev, np.hypot(com_stddev(pi, body.covariance), lasting)
        )


def test_an_error_of_all_torques_is_one_of_all_the_mass():
    it, report, x = of()
    it.parameter(x, "theta")[:] += 0.1  # a load: the mass is that of the estimate
    theta, mass = by_mass(it, x, 0.1), it.total_mass(x)
    assert mass > 1.05 * it.robot.total_mass
    (body,) = report.bodies(x, theta, 0.02, *SURE[1:])
    assert body.mass_stddev == pytest.approx(np.hypot(0.1, 0.02 * mass))
    assert report.total(x, theta, 0.02) == pytest.approx((mass, np.hypot(0.1, 0.02 * mass)))


def test_the_total_mass_of_two_links_is_told_better_than_each():
    """What one has more the other has less: their covariance counts."""
    it, report, x = of("g1")
    slopes = [jacobian[0] for _, jacobian in it.inertias(x)]
    directions = np.concatenate([slopes[0] / (slopes[0] @ slopes[0]), np.zeros(10)]), np.zeros(20)
    directions[1][10:] = slopes[1] / (slopes[1] @ slopes[1])
    opposite = 2.0 * (directions[0] - directions[1])  # two kilograms to and fro
    theta = np.outer(opposite, opposite)
    assert [b.mass_stddev for b in report.bodies(x, theta, *SURE)] == pytest.approx([2.0, 2.0])
    assert report.total(x, theta, 0.0)[1] == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("share, contradicted, observable",
    [(0.9, False, True), (1.1, False, False), (0.9, True, False)])  # fmt: skip
def test_a_mass_is_observed_below_a_share_of_its_prior(share, contradicted, observable):
    it, report, x = of()
    theta = by_mass(it, x, share * OBSERVED * it.config.estimator.mass_stddev)
    (body,) = report.bodies(x, theta, 0.0, contradicted, False, 0.0, 0.0)
    assert body.observable == observable


def test_a_robot_unlike_its_yaml_and_one_that_stands_have_another_centre():
    it, report, x = of()
    theta, stuck = by_mass(it, x, 0.01), 0.02
    (usual,), (unlike,), (rests,) = (
        report.bodies(x, theta, 0.0, False, *other, 0.0)
        for other in ((False, 0.0), (True, 0.0), (False, stuck))
    )
    added = np.sqrt(unlike.com_stddev**2 - usual.com_stddev**2)
    np.testing.assert_allclose(added, INTERVAL.unlike_com)
    added = np.sqrt(rests.com_stddev**2 - usual.com_stddev**2)
    along = stuck * it.robot.total_mass * INTERVAL.rest_arm / usual.mass
    np.testing.assert_allclose(added, [along, along, 0.0], atol=1e-9)


def test_what_a_doubted_link_has_beyond_its_model_may_be_another_ones():
    it, report, x = of("g1")
    part = it.parameter(x, "theta")
    part[:] += 0.1 * np.random.default_rng(2).normal(size=20)
    bodies = report.bodies(x, 1e-6 * np.eye(20), *SURE)
    assert report.doubted(bodies, frozenset()) is bodies
    kept, doubted = report.doubted(bodies, frozenset([1]))
    assert kept is bodies[0] and bodies[1].observable and not doubted.observable
    link = it.robot.link_joint(it.robot.estimated_links[1])
    added = bodies[1].parameters - it.robot.model.inertias[link].toDynamicParameters()
    np.testing.assert_allclose(
        doubted.covariance, bodies[1].covariance + np.outer(added, added), atol=1e-12
    )
    assert doubted.mass_stddev == pytest.approx(np.hypot(bodies[1].mass_stddev, added[0]))
    assert (doubted.com_stddev >= bodies[1].com_stddev).all()
    np.testing.assert_array_equal(doubted.parameters, bodies[1].parameters)


def test_a_fixed_base_has_no_creep_of_its_centre_of_mass():
    it, report, x = of("kinova")
    theta = 1e-6 * np.eye(10)
    (body,) = report.bodies(x, theta, *SURE)
    np.testing.assert_allclose(body.com_stddev, com_stddev(body.parameters, body.covariance))
    jacobian = it.inertias(x)[0][1]
    np.testing.assert_allclose(body.covariance, jacobian @ theta @ jacobian.T)
