# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Base state that a policy observes, and that of the feet, in base axes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from scipy.special import ndtr

from ..robot import GRAVITY
from ..types import CONTACT_SHARE, Array, Estimate

_DOWN = np.array([0.0, 0.0, -1.0])


@dataclass(frozen=True)
class BaseState:
    """State of the base at the newest reading of the IMU; NaN if there is no estimate.

    A controller may use it only if it is `valid`; otherwise `reason` says why not. `warnings` name
    sensors and assumptions that are violated although the state is still valid.
    """

    stamp_ns: int
    valid: bool
    reason: str
    linear_velocity_base: Array  # (3,) m/s, of the base's origin
    linear_velocity_covariance: Array  # (3, 3) base axes
    angular_velocity_base: Array  # (3,) rad/s
    angular_velocity_covariance: Array  # (3, 3) base axes
    projected_gravity: Array  # (3,) unit vector of gravity in base axes: (0, 0, -1) when level
    projected_gravity_covariance: Array  # (3, 3)
    feet: tuple[str, ...]  # names, order of the arrays below
    contacts: Array  # (nf,) bool, carries load: probability above one half
    contact_probability: Array  # (nf,)
    contact_force_world: Array  # (nf, 3) N, on the robot by the ground, one node (10 ms) older
    joint_position: Array  # (nj,) rad, newest reading, in the observer's order
    joint_velocity: Array  # (nj,) rad/s, newest reading; estimated where none is measured
    warnings: tuple[str, ...] = ()
    estimate: Estimate | None = None  # everything else: pose, inertia, wrenches, health


@dataclass(frozen=True)
class Joints:
    """Newest joint readings (nj,) in the order of the observer; NaN where there are none yet."""

    position: Array
    velocity: Array


def no_state(stamp_ns: int, reason: str, feet: tuple[str, ...], joints: Joints) -> BaseState:
    """The state of which nothing is known, and why."""
    vector, matrix = np.full(3, np.nan), np.full((3, 3), np.nan)
    count = len(feet)
    return BaseState(
        stamp_ns,
        False,
        reason,
        *(vector, matrix) * 3,
        feet,
        np.zeros(count, bool),
        np.full(count, np.nan),
        np.full((count, 3), np.nan),
        joints.position,
        joints.velocity,
    )


def base_state(estimate: Estimate, reason: str, feet: tuple[str, ...], joints: Joints) -> BaseState:
    """Base state of an estimate, as a policy observes it.

    Gravity in base axes `g = -R' e_z`, its covariance `[g]x P [g]x'` with P that of the rotation.

    Args:
        estimate: possibly predicted to an IMU reading.
        reason: why it is not valid; empty when it is.
        feet: names in the order of the output.
        joints: newest readings.
    """
    world_R_base = pin.Quaternion(np.array(estimate.quat_world_base)).toRotationMatrix()
    gravity = world_R_base.T @ _DOWN
    cross = pin.skew(gravity)
    probability, force = _feet(estimate, feet)
    return BaseState(
        stamp_ns=estimate.stamp_ns,
        valid=not reason,
        reason=reason,
        linear_velocity_base=np.array(estimate.linear_velocity_base),
        linear_velocity_covariance=estimate.twist_covariance[:3, :3].copy(),
        angular_velocity_base=np.array(estimate.angular_velocity_base),
        angular_velocity_covariance=estimate.twist_covariance[3:, 3:].copy(),
        projected_gravity=gravity,
        projected_gravity_covariance=cross @ estimate.pose_covariance[3:, 3:] @ cross.T,
        feet=feet,
        contacts=probability > 0.5,
        contact_probability=probability,
        contact_force_world=force,
        joint_position=joints.position,
        joint_velocity=joints.velocity,
        warnings=tuple(str(s) for s in estimate.status.sensors if not s.ok),
        estimate=estimate,
    )


def _feet(estimate: Estimate, feet: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Probability (nf,) that a foot carries load, and its force (nf, 3); corners taken together."""
    force, variance = np.zeros((len(feet), 3)), np.full(len(feet), 1e-12)
    for contact in estimate.contacts:
        foot = feet.index(contact.foot)
        force[foot] += contact.force_world
        variance[foot] += contact.force_covariance[2, 2]
    threshold = CONTACT_SHARE * GRAVITY * estimate.total_mass
    return ndtr((force[:, 2] - threshold) / np.sqrt(variance)), force
