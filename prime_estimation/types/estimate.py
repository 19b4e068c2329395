# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Estimate: state, contact forces and inertia at one instant, with covariances."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .arrays import Array, freeze
from .contacts import ContactEstimate, FootEstimate, feet_of
from .status import Activity, SolverStatus


@dataclass(frozen=True)
class BodyInertia:
    """Inertia of one moving body, with its fixed links, about its joint frame.

    `parameters` is Pinocchio's 10-vector (m, m c, Ixx, Ixy, Iyy, Ixz, Iyz, Izz) about the origin of
    that frame, `covariance` its covariance. Use it only if it is `observable`: its posterior
    standard deviations are then smaller than those of the prior.
    """

    link: str
    parameters: Array  # (10,)
    covariance: Array  # (10, 10)
    mass_stddev: float  # kg, systematic part included
    com_stddev: Array  # (3,) m
    observable: bool

    def __post_init__(self):
        freeze(self)

    @property
    def mass(self) -> float:
        """Mass [kg]."""
        return float(self.parameters[0])

    @property
    def com(self) -> Array:
        """Centre of mass in the link frame [m]."""
        return self.parameters[1:4] / self.parameters[0]


@dataclass(frozen=True)
class ExternalWrench:
    """External wrench on the robot, apart from ground contact and gravity: a hand, a rope, a kick.

    It acts at the origin of the base. It does not contain the weight of a payload, once that is
    part of the estimated inertia.
    """

    stamp_ns: int  # some nodes older than the state
    force_base: Array  # (3,) N
    moment_base: Array  # (3,) Nm, about the origin of the base
    covariance: Array  # (6, 6) force and moment, base axes

    def __post_init__(self):
        freeze(self)


@dataclass(frozen=True)
class JointParameter:
    """Loss, gain or zero of a joint, or of all joints of a type, in its kind's unit."""

    kind: str  # of prime_estimation.mhe.joint_parameters: armature, damping, ...
    name: str  # of the joint or the joint type
    value: float
    stddev: float
    observable: bool  # the data have added information to the prior


@dataclass(frozen=True)
class Estimate:
    """State, contact forces and inertia at the newest node, with covariances of one posterior."""

    stamp_ns: int
    position_world: Array  # (3,) m, base origin
    quat_world_base: Array  # (4,) xyzw
    linear_velocity_base: Array  # (3,) m/s, at the stamp
    angular_velocity_base: Array  # (3,) rad/s, at the stamp
    pose_covariance: Array  # (6, 6) tangent at the base frame (position, rotation in base axes)
    twist_covariance: Array  # (6, 6) base axes
    joint_position: Array  # (nj,) rad
    joint_velocity: Array  # (nj,) rad/s, mean over the node interval that ends at the stamp
    # (nj,) Nm of the motors, without what is known of the readings' errors, at `contacts_stamp_ns`
    joint_torque: Array
    contacts_stamp_ns: int  # one node older than the state
    contacts: tuple[ContactEstimate, ...]
    bodies: tuple[BodyInertia, ...]
    total_mass: float  # kg
    total_mass_stddev: float  # kg
    status: SolverStatus
    gyro_bias: Array = field(default_factory=lambda: np.zeros(3))  # (3,) rad/s
    accelerometer_bias: Array = field(default_factory=lambda: np.zeros(3))  # (3,) m/s^2
    friction: float = float("nan")  # coefficient of the ground
    ground_stiffness: float = float("nan")  # under a foot [N/m]
    # None while it cannot be separated from the contact forces: no torque, fixed base
    external: ExternalWrench | None = None
    activity: Activity = Activity.UNKNOWN
    joint_parameters: tuple[JointParameter, ...] = ()  # those that are estimated

    def __post_init__(self):
        freeze(self)

    @property
    def feet(self) -> tuple[FootEstimate, ...]:
        """Wrench of each foot, in the order of its first contact."""
        return feet_of(self.contacts)
