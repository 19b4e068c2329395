# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Inertia to messages and back; whether a controller may use it."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from ..types import BodyInertia, Estimate
from .to_messages import Make, header, vector


def inertial_parameters(
    make: Make, estimate: Estimate, world_frame: str, sequence: int, valid: bool
):
    """prime_estimation_msgs/InertialParameters of all estimated bodies.

    `valid`: a controller may use them.
    """
    return make("prime_estimation_msgs/msg/InertialParameters")(
        header=header(make, estimate.stamp_ns, world_frame),
        sequence=int(sequence),
        valid=bool(valid),
        total_mass=float(estimate.total_mass),
        total_mass_stddev=float(estimate.total_mass_stddev),
        bodies=[_body(make, b) for b in estimate.bodies],
    )


def may_be_used(estimate: Estimate, mass_stddev_limit: float) -> bool:
    """Every body is observable, known better than the limit [kg], and physically consistent.

    The systematic part of the mass interval does not count: no longer run would make it smaller.
    """

    def consistent(parameters: np.ndarray) -> bool:
        pseudo = pin.PseudoInertia.FromDynamicParameters(parameters).toMatrix()
        return bool(np.isfinite(pseudo).all() and np.linalg.eigvalsh(pseudo)[0] > 0.0)

    return bool(estimate.bodies) and all(
        b.observable and b.covariance[0, 0] <= mass_stddev_limit**2 and consistent(b.parameters)
        for b in estimate.bodies
    )


def _body(make: Make, body: BodyInertia):
    return make("prime_estimation_msgs/msg/BodyInertia")(
        link=body.link,
        inertia=inertia_message(make, body.parameters),
        mass_stddev=float(body.mass_stddev),
        com_stddev=vector(make, body.com_stddev),
        covariance=np.array(body.covariance, dtype=float).ravel(),
        observable=bool(body.observable),
    )


def inertia_message(make: Make, parameters: np.ndarray):
    """geometry_msgs/Inertia of Pinocchio's 10-vector about the frame origin.

    com in the link frame, tensor about the com, link axes.
    """
    body = pin.Inertia.FromDynamicParameters(np.asarray(parameters, dtype=float))
    i = body.inertia
    return make("geometry_msgs/msg/Inertia")(
        m=float(body.mass),
        com=vector(make, body.lever),
        ixx=float(i[0, 0]),
        ixy=float(i[0, 1]),
        ixz=float(i[0, 2]),
        iyy=float(i[1, 1]),
        iyz=float(i[1, 2]),
        izz=float(i[2, 2]),
    )


def inertia_parameters(message) -> np.ndarray:
    """Pinocchio's vector (10,) of a geometry_msgs/Inertia: the inverse of `inertia_message`.

    NaN throughout where its tensor is not finite or not positive, which Pinocchio refuses.
    """
    m = message
    tensor = np.array([[m.ixx, m.ixy, m.ixz], [m.ixy, m.iyy, m.iyz], [m.ixz, m.iyz, m.izz]])
    try:
        body = pin.Inertia(m.m, np.array([m.com.x, m.com.y, m.com.z]), tensor)
    except RuntimeError:
        return np.full(10, np.nan)
    return body.toDynamicParameters()
