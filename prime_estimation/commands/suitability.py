# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Suitability of settings for a robot of one's own: defaults are made for quadrupeds of 15 kg."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from ..config.parameters import Config, NoiseConfig, RobotConfig
from ..config.parameters.robot import HALF_TURN
from ..estimator import Estimator
from ..robot import GRAVITY, Robot

REFERENCE_MASS = 15.0  # kg, of the robots that the defaults of disturbances suit
REFERENCE_LOAD = 3.75  # kg on a contact, that the default of robot.kappa suits
LARGEST_ZERO = 0.5  # rad, of an encoder that was put on by hand
LARGEST_FOOT = 0.1  # m, radius of a sphere that may be larger than its link
TOLERATED = 3.0  # factor by which a setting may be off


def described(robot: Robot, config: Config) -> dict[str, str]:
    """Facts of a robot by name, as the estimator understands its YAML and URDF.

    Raises:
        RobotError: the estimator cannot use them.
    """
    Estimator(robot, config, mocap=False)
    imu = (
        "none"
        if robot.imu_joint is None
        else f"{robot.config.imu_frame}, fixed to {robot.links[robot.imu_joint]}"
    )
    masses = (
        f"{link} {robot.model.inertias[robot.link_joint(link)].mass:.3f} kg"
        for link in robot.estimated_links
    )
    contacts = ", ".join(c.name for c in robot.contacts)
    return {
        "name": robot.name,
        "base": f"{robot.base_frame}, {'floating' if robot.config.floating_base else 'fixed'}",
        "mass": f"{robot.total_mass:.3f} kg",
        "joints": f"{robot.nj}: {', '.join(robot.joint_names)}",
        "IMU": imu,
        "contacts": f"{len(robot.contacts)} on {len(robot.feet)} feet: {contacts}",
        "estimated": ", ".join(masses) or "no inertia (robot.estimated_links)",
        "moving links": ", ".join(robot.links[1:]),
    }


def hints(robot: Robot, config: Config) -> Iterator[str]:
    """Hints on settings that probably do not suit the robot, one line each."""
    if robot.nj and not robot.model.armature[-robot.nj :].any():
        yield (
            "robot.armature is 0: give the reflected inertia of the motors, gear ratio^2 times "
            "rotor inertia; URDFs do not have it"
        )
    if robot.config.floating_base and robot.imu_joint is None:
        yield "no robot.imu_frame: without an IMU attitude and velocity need motion capture"
    yield from _hints_on_legs(robot)
    yield from _hints_on_units(robot)
    yield from _hints_on_size(robot, config)


def _hints_on_legs(robot: Robot) -> Iterator[str]:
    legs = {}
    for contact in robot.contacts:
        frame = robot.model.frames[robot.model.getFrameId(contact.frame)]
        legs[contact.foot] = set(robot.joints_to(frame.parentJoint))
    for (foot, own), (other, whole) in itertools.permutations(legs.items(), 2):
        if own < whole:
            yield (
                f"robot.contacts: the feet {foot} and {other} are on one leg, whose torques do not "
                "tell which of them carries: while both do, its load counts twice"
            )


def _hints_on_units(robot: Robot) -> Iterator[str]:
    for name, zero in robot.config.joint_zeros.items():
        if abs(zero) > LARGEST_ZERO:
            degrees = np.degrees(zero)
            yield f"robot.joint_zeros, {name}: {zero:g} rad is {degrees:.0f} degrees: meant?"
    for name in ("imu_rotation", "mocap_rotation"):
        rpy = getattr(robot.config, name)
        if max(map(abs, rpy)) > HALF_TURN:
            yield f"robot.{name} is {rpy} rad, more than half a turn: is it in degrees?"
    for contact in robot.contacts:
        frame = robot.model.frames[robot.model.getFrameId(contact.frame)]
        reach = float(np.linalg.norm(frame.placement.act(np.array(contact.position, float))))
        if contact.radius > max(LARGEST_FOOT, reach):
            yield (
                f"robot.contacts, {contact.name}: a sphere of radius {contact.radius:g} m reaches "
                f"beyond its joint, {reach:.2g} m away: is it in metres?"
            )


def _hints_on_size(robot: Robot, config: Config) -> Iterator[str]:
    mass, noise, default = robot.total_mass, config.noise, NoiseConfig()
    scale, suited = mass / REFERENCE_MASS, noise.base_force / default.base_force * REFERENCE_MASS
    if robot.config.floating_base and not 1.0 / TOLERATED < suited / mass < TOLERATED:
        names = ("base_force", "base_moment", "joint_model")
        wanted = ", ".join(f"{name}: {getattr(default, name) * scale:.2g}" for name in names)
        yield (
            f"disturbances suit a robot of {suited:.3g} kg; for one of {mass:.3g} kg begin with "
            f"noise: {{{wanted}}}"
        )
    if robot.config.floating_base:
        kappa = RobotConfig().kappa * REFERENCE_LOAD * len(robot.contacts) / mass
        if robot.config.kappa < kappa / TOLERATED:
            wanted = f"robot: {{kappa: {float(f'{kappa:.2g}'):g}}}"
            yield f"contacts creep under so light a robot; begin with {wanted}"
    if noise.joint_torque > 0.01 * GRAVITY * mass:
        yield (
            f"noise.joint_torque, {noise.joint_torque:g} Nm, is large for a robot of "
            f"{mass:.3g} kg; give that of its sensors"
        )
    for link in robot.estimated_links:
        body = robot.model.inertias[robot.link_joint(link)].mass
        stddev = config.estimator.mass_stddev
        if stddev > body:
            wanted = f"estimator: {{mass_stddev: {0.4 * body:.2g}}}"
            yield f"{link} weighs {body:.3g} kg and may be off by {stddev:g}; begin with {wanted}"
