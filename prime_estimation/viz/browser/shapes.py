# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Shapes that stand for quantities: boxes of inertia, ellipsoids of covariance, arrows, cones."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from scipy.special import chdtri

from ...inertia import inertia_about_com

Array = np.ndarray
# semi-axes, per standard deviation, of the ellipsoid that holds 95 % of a Gaussian in space
RADIUS_95 = math.sqrt(chdtri(3, 0.05))


@dataclass(frozen=True)
class Box:
    """Box: `centre` (3,) [m], orientation `quat` (4,) xyzw, lengths of its `edges` (3,) [m]."""

    centre: Array
    quat: Array
    edges: Array


@dataclass(frozen=True)
class Ellipsoid:
    """Ellipsoid: `centre` (3,), orientation `quat` (4,) xyzw, `semi_axes` (3,), all [m]."""

    centre: Array
    quat: Array
    semi_axes: Array


@dataclass(frozen=True)
class Arrow:
    """Arrow from `tail` (3,) to `tip` (3,) [m]."""

    tail: Array
    tip: Array


@dataclass(frozen=True)
class Cone:
    """Circular cone around the vertical, opening upwards: `apex` (3,), `height`, `radius` [m]."""

    apex: Array
    height: float
    radius: float


def equivalent_box(parameters: Array) -> Box | None:
    """Homogeneous box of the same mass, centre of mass and rotational inertia, in the link frame.

    Edges `l_i^2 = 6/m (I_j + I_k - I_i)` of the principal moments `I`.

    Args:
        parameters: (10,) Pinocchio's vector about the frame origin [kg, kg m, kg m^2].

    Returns:
        None where no body has these parameters.
    """
    if not np.isfinite(parameters).all() or parameters[0] <= 0.0:
        return None
    moments, axes = np.linalg.eigh(inertia_about_com(parameters))
    squares = 6.0 / parameters[0] * (moments.sum() - 2.0 * moments)
    if squares.min() <= 0.0:
        return None
    return Box(parameters[1:4] / parameters[0], _quat(axes), np.sqrt(squares))


def confidence_ellipsoid(centre: Array, covariance: Array, scale: float = 1.0) -> Ellipsoid:
    """Ellipsoid that holds 95 % of a Gaussian: semi-axes `scale sqrt(7.81 e_i)`.

    Args:
        centre: (3,) [m].
        covariance: (3, 3) with eigenvalues `e_i`; the unit squared, times `scale`, is m^2.
        scale: metres per unit.

    Returns:
        One with semi-axes that are not finite, of a covariance that is not.
    """
    if not np.isfinite(covariance).all():
        return Ellipsoid(centre, np.array([0.0, 0.0, 0.0, 1.0]), np.full(3, np.nan))
    values, axes = np.linalg.eigh(0.5 * (covariance + covariance.T))
    return Ellipsoid(centre, _quat(axes), scale * RADIUS_95 * np.sqrt(np.maximum(values, 0.0)))


def friction_cone(apex: Array, normal_force: float, friction: float, scale: float) -> Cone:
    """Cone whose rim is where the tip of a force with this normal part starts to slide.

    Args:
        apex: (3,) contact point [m].
        normal_force: vertical part of the force [N]; a pulling one has no cone.
        friction: coefficient of the ground.
        scale: metres per newton.
    """
    height = scale * max(normal_force, 0.0)
    return Cone(apex, height, friction * height)


def _quat(axes: Array) -> Array:
    """Orientation (4,) xyzw of axes in columns, which may be left-handed."""
    right_handed = axes * np.array([1.0, 1.0, np.sign(np.linalg.det(axes))])
    return pin.Quaternion(right_handed).coeffs().copy()
