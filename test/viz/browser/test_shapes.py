# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Shapes of inertia, covariance and friction, against closed forms."""

import numpy as np
import pinocchio as pin
import pytest

from prime_estimation.viz.browser.shapes import (
    RADIUS_95,
    confidence_ellipsoid,
    equivalent_box,
    friction_cone,
)


def test_the_box_of_a_box_is_that_box():
    rng = np.random.default_rng(0)
    for _ in range(20):
        edges = np.sort(rng.uniform(0.1, 0.6, 3))
        pose = pin.SE3.Random()
        body = pose.act(pin.Inertia.FromBox(7.0, *edges))
        box = equivalent_box(body.toDynamicParameters())
        np.testing.assert_allclose(box.centre, pose.translation, atol=1e-9)
        np.testing.assert_allclose(np.sort(box.edges), edges, atol=1e-9)
        made = pin.SE3(pin.Quaternion(box.quat), box.centre).act(
            pin.Inertia.FromBox(7.0, *box.edges)
        )
        assert made.isApprox(body, 1e-9)


def test_there_is_no_box_of_what_is_no_body():
    assert equivalent_box(np.full(10, np.nan)) is None
    assert equivalent_box(np.zeros(10)) is None
    # a moment that exceeds the sum of the two others
    assert equivalent_box(np.array([1.0, 0, 0, 0, 0.1, 0, 0.1, 0, 0, 0.5])) is None


def test_a_covariance_that_is_not_known_has_no_extent():
    ellipsoid = confidence_ellipsoid(np.ones(3), np.full((3, 3), np.nan))
    assert np.isnan(ellipsoid.semi_axes).all() and np.isfinite(ellipsoid.quat).all()


def test_the_ellipsoid_holds_95_percent():
    rng = np.random.default_rng(1)
    root = rng.normal(size=(3, 3))
    centre, covariance = np.array([1.0, -2.0, 3.0]), root @ root.T
    shape = confidence_ellipsoid(centre, covariance)
    samples = rng.multivariate_normal(centre, covariance, 100_000) - shape.centre
    axes = pin.Quaternion(shape.quat).toRotationMatrix()
    inside = np.linalg.norm(samples @ axes / shape.semi_axes, axis=1) < 1.0
    assert np.mean(inside) == pytest.approx(0.95, abs=0.003)
    assert RADIUS_95 == pytest.approx(2.7955, abs=1e-4)


def test_the_ellipsoid_of_a_diagonal():
    shape = confidence_ellipsoid(np.zeros(3), np.diag([9.0, 1.0, 4.0]), scale=0.1)
    np.testing.assert_allclose(shape.semi_axes, 0.1 * RADIUS_95 * np.array([1.0, 2.0, 3.0]))
    # a covariance that rounding has made slightly negative
    assert np.isfinite(confidence_ellipsoid(np.zeros(3), -1e-12 * np.eye(3)).semi_axes).all()


def test_the_cones_rim_is_where_a_force_slides():
    apex = np.array([0.1, 0.2, 0.0])
    cone = friction_cone(apex, 50.0, 0.6, 0.01)
    assert (cone.height, cone.radius) == (pytest.approx(0.5), pytest.approx(0.3))
    assert friction_cone(apex, -5.0, 0.6, 0.01).height == 0.0
