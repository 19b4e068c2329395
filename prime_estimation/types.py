# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Data types of the package: samples, measurements, estimates; frozen, SI, frames in their names.

Conventions: time is int64 nanoseconds. Quaternions are xyzw. The base velocity is (linear, angular)
in the base frame, as Pinocchio's free-flyer has it. `_world` and `_base` name the axes a vector is
expressed in. Arrays over joints follow the order of `Robot.joint_names`, never the order of a wire
message. Arrays handed out are read-only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

import numpy as np

Array = np.ndarray


def _freeze(instance) -> None:
    """Make every array of a frozen dataclass read-only: an estimate may have several readers."""
    for value in instance.__dict__.values():
        if type(value) is np.ndarray:
            value.setflags(False)


# --- samples of sensors ---


@dataclass(frozen=True)
class JointSample:
    """One reading of all actuated joints, in the order of `Robot.joint_names`."""

    stamp_ns: int
    position: Array  # (nj,) rad
    velocity: Array | None = None  # (nj,) rad/s
    effort: Array | None = None  # (nj,) Nm, torque of the motor at the joint


@dataclass(frozen=True)
class CommandSample:
    """Commanded joint torques, used where `JointSample.effort` is absent."""

    stamp_ns: int
    effort: Array  # (nj,) Nm


@dataclass(frozen=True)
class ImuSample:
    """One reading of an IMU, in its own frame."""

    stamp_ns: int
    angular_velocity: Array  # (3,) rad/s
    linear_acceleration: Array  # (3,) m/s^2, specific force: +g upwards at rest
    quat_world_imu: Array | None = None  # (4,) xyzw, from the IMU's own filter (yaw drifts)


@dataclass(frozen=True)
class PoseSample:
    """Motion capture's pose of the tracked body in the world.

    `stamp_ns` is when it was measured, `arrival_ns` when it came.
    """

    stamp_ns: int
    position_world: Array  # (3,) m
    quat_world_body: Array  # (4,) xyzw
    arrival_ns: int = 0


Sample = JointSample | CommandSample | ImuSample | PoseSample


# --- readings of a node of the window ---


@dataclass(frozen=True)
class Measurement:
    """Readings of all sensors for one node, aligned in time.

    State part, at `stamp_ns = t_k`: encoder position at t_k, and the mean of all readings in
    [t_k - dt, t_k], carried to t_k by the joint rates; joint rate and gyro averaged over the same
    time. Dynamics part, about the PREVIOUS node: torque and specific force averaged with
    triangular weight over [t_k - 2 dt, t_k], centred at t_k - dt; torque that jumps between two
    samples holds until the later one. A field that no sensor supplied is None. `*_samples` count
    the effective number of independent samples in an average, for its noise.
    """

    stamp_ns: int
    position: Array | None  # (nj,) rad
    velocity: Array | None  # (nj,) rad/s
    gyro: Array | None  # (3,) rad/s, IMU frame
    position_carried: Array | None = None  # (nj,) rad
    torque: Array | None = None  # (nj,) Nm
    torque_commanded: bool = False  # it is what the motors were told, not what they did
    accelerometer: Array | None = None  # (3,) m/s^2, IMU frame
    # (3,) m/s^2, mean over the last dt with weight growing linearly to t_k
    accelerometer_ramp: Array | None = None
    gyro_now: Array | None = None  # (3,) rad/s, newest reading at t_k
    quat_world_imu: Array | None = None  # (4,) xyzw at t_k
    readings: Mapping[str, Any] = field(default_factory=dict)  # of further sensors, by their name
    velocity_samples: float = 1.0
    gyro_samples: float = 1.0
    torque_samples: float = 1.0
    accelerometer_samples: float = 1.0
    # (nj,) rad/s, between its samples (`stream.between_samples`)
    velocity_change: Array | float = 0.0
    gyro_change: Array | float = 0.0  # (3,) rad/s
    accelerometer_change: Array | float = 0.0  # (3,) m/s^2

    def __post_init__(self):
        _freeze(self)

    @property
    def mocap(self) -> tuple[PoseSample, ...]:
        """Motion capture poses that came since the measurement before; they may be older."""
        return self.readings.get("mocap", ())


# --- estimates ---


class ContactState(IntEnum):
    """State of a contact, with the numbers of `prime_estimation_msgs/ContactWrench.state`."""

    OPEN = 0
    STICKING = 1
    SLIPPING = 2


class Activity(IntEnum):
    """What the robot does, with the numbers of `prime_estimation_msgs/EstimatorStatus.activity`."""

    UNKNOWN = 0
    LYING = 1  # on its belly, legs folded
    STANDING = 2
    WALKING = 3
    SUSPENDED = 4  # held by something else than the ground
    FALLING = 5
    FALLEN = 6  # on its side or back

    @property
    def base_contact(self) -> bool:
        """The trunk lies on the ground."""
        return self in (Activity.LYING, Activity.FALLEN)


@dataclass(frozen=True)
class ContactEstimate:
    """Force on the robot by the ground at one contact: triangular mean of +-dt around its stamp."""

    name: str  # `<foot frame>` or `<foot frame>/<corner>`
    position_world: Array  # (3,) m, the contact point
    force_world: Array  # (3,) N
    force_covariance: Array  # (3, 3) N^2
    probability: float  # of carrying load, in [0, 1]
    state: ContactState

    def __post_init__(self):
        _freeze(self)


@dataclass(frozen=True)
class FootEstimate:
    """Wrench on a foot by the ground, at the centre of pressure of its contacts.

    `c = sum f_n,i p_i / sum f_n,i`, about which only the moment around the vertical and that of an
    uneven ground remain.
    """

    name: str
    force_world: Array  # (3,) N
    moment_world: Array  # (3,) Nm, about the centre of pressure
    centre_of_pressure_world: Array  # (3,) m; NaN where the foot carries nothing

    def __post_init__(self):
        _freeze(self)


@dataclass(frozen=True)
class BodyInertia:
    """Inertia of one moving body (fixed links lumped into it), about its joint frame.

    `parameters` is Pinocchio's 10-vector (m, m c, Ixx, Ixy, Iyy, Ixz, Iyz, Izz) about the frame
    origin, `covariance` its covariance. `observable` says that the posterior has shrunk against the
    prior; otherwise do not use it.
    """

    link: str
    parameters: Array  # (10,)
    covariance: Array  # (10, 10)
    mass_stddev: float  # kg, systematic part included
    com_stddev: Array  # (3,) m
    observable: bool

    def __post_init__(self):
        _freeze(self)

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
    """Wrench on the robot by what is neither ground nor gravity, at the origin of the base.

    A hand, a rope, a kick. What a payload weighs is not in it once the inertia knows it.
    """

    stamp_ns: int  # some nodes older than the state
    force_base: Array  # (3,) N
    moment_base: Array  # (3,) Nm, about the origin of the base
    covariance: Array  # (6, 6) force and moment, base axes

    def __post_init__(self):
        _freeze(self)


@dataclass(frozen=True)
class SensorHealth:
    """State of one sensor, or of an assumption of the estimator (`robot`, `feet`, `base`...).

    `normalized_innovation`: mean square of its whitened innovations, 1 is consistent, NaN no data.
    """

    name: str
    ok: bool = True
    message: str = ""  # what is wrong; empty when nothing is
    normalized_innovation: float = float("nan")

    def __str__(self) -> str:
        return f"{self.name}: {self.message}" if self.message else self.name


@dataclass(frozen=True)
class SolverStatus:
    """Solver figures of the last window update, and counts since the start."""

    solve_time_ms: float
    latency_ms: float  # from the stamp's data being complete to the estimate being ready
    iterations: int
    cost: float
    feasibility: float  # largest gap of the dynamics [mixed SI]
    window_nodes: int
    overruns: int = 0
    dropped_samples: int = 0
    restarts: int = 0
    refused_steps: int = 0
    sensors: tuple[SensorHealth, ...] = ()


@dataclass(frozen=True)
class JointParameter:
    """Loss, gain or zero of a joint, or of all joints of a type, in its kind's unit."""

    kind: str  # of prime_estimation.mhe.joint_parameters: armature, damping, ...
    name: str  # of the joint or the joint type
    value: float
    stddev: float
    observable: bool  # the data have told more than was known before


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
    joint_torque: Array  # (nj,) Nm, at `contacts_stamp_ns`
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
    # None while it is not told from the contact forces: no torque, fixed base
    external: ExternalWrench | None = None
    activity: Activity = Activity.UNKNOWN
    joint_parameters: tuple[JointParameter, ...] = ()  # those that are estimated

    def __post_init__(self):
        _freeze(self)

    @property
    def feet(self) -> tuple[FootEstimate, ...]:
        """Wrench of each foot, in the order of its first contact.

        Contacts named `<foot>/<corner>` belong together.
        """
        groups: dict[str, list[ContactEstimate]] = {}
        for contact in self.contacts:
            groups.setdefault(contact.name.split("/")[0], []).append(contact)
        return tuple(_foot(name, group) for name, group in groups.items())


def _foot(name: str, contacts: list[ContactEstimate]) -> FootEstimate:
    forces, points = (
        np.array([c.force_world for c in contacts]),
        np.array([c.position_world for c in contacts]),
    )
    force, normal = forces.sum(axis=0), np.maximum(forces[:, 2], 0.0)
    if not normal.sum() > 0.0:
        return FootEstimate(name, force, np.full(3, np.nan), np.full(3, np.nan))
    centre = normal @ points / normal.sum()
    return FootEstimate(name, force, np.cross(points - centre, forces).sum(axis=0), centre)
