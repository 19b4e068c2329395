# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Estimates with known content, for tests of what is done with estimates."""

from __future__ import annotations

import dataclasses

import numpy as np
from scipy.spatial.transform import Rotation

from prime_estimation.robot import Robot
from prime_estimation.types import (
    BodyInertia,
    ContactEstimate,
    ContactState,
    Estimate,
    ExternalWrench,
    SensorHealth,
    SolverStatus,
)

STEP_NS = 10_000_000


def covariance(rng: np.random.Generator, size: int, scale: float = 1e-4) -> np.ndarray:
    """A random positive definite matrix."""
    a = rng.normal(size=(size, size))
    return scale * (a @ a.T + np.eye(size))


def make_estimate(
    robot: Robot, stamp_ns: int = 1_700_000_000_000_000_000, seed: int = 0, **changes
) -> Estimate:
    """A random but valid estimate of a robot, with the given fields replaced."""
    rng = np.random.default_rng(seed)
    link = robot.estimated_links[0]
    parameters = np.array(robot.model.inertias[robot.link_joint(link)].toDynamicParameters())
    contacts = tuple(
        ContactEstimate(
            c.name,
            rng.normal(size=3),
            np.array([1.0, -2.0, 40.0]),
            covariance(rng, 3, 1.0),
            0.9,
            ContactState.STICKING,
            c.foot,
        )
        for c in robot.contacts
    )
    estimate = Estimate(
        stamp_ns=stamp_ns,
        position_world=rng.normal(size=3),
        quat_world_base=Rotation.random(random_state=seed).as_quat(),
        linear_velocity_base=rng.normal(size=3),
        angular_velocity_base=rng.normal(size=3),
        pose_covariance=covariance(rng, 6),
        twist_covariance=covariance(rng, 6),
        joint_position=rng.normal(size=robot.nj),
        joint_velocity=rng.normal(size=robot.nj),
        joint_torque=rng.normal(size=robot.nj),
        contacts_stamp_ns=stamp_ns - STEP_NS,
        contacts=contacts,
        bodies=(BodyInertia(link, parameters, covariance(rng, 10), 0.05, np.full(3, 0.002), True),),
        external=ExternalWrench(
            stamp_ns - 4 * STEP_NS, rng.normal(size=3), rng.normal(size=3), covariance(rng, 6, 1.0)
        ),
        total_mass=robot.total_mass,
        total_mass_stddev=0.05,
        status=SolverStatus(
            1.5,
            2.0,
            1,
            12.0,
            1e-6,
            10,
            0,
            3,
            0,
            0,
            (
                SensorHealth("joint_states", normalized_innovation=1.0),
                SensorHealth("imu", normalized_innovation=0.9),
                SensorHealth("mocap", False, "no data"),
            ),
        ),
    )
    return dataclasses.replace(estimate, **changes)
