# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Checks of a robot's configuration against its URDF: base, zeros, feet, estimated links."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..errors import ConfigError, RobotError
from .model import frame_id

if TYPE_CHECKING:
    from ..config.parameters import Config
    from .robot import Robot


def check_base(robot: Robot) -> None:
    """RobotError where the base frame is not the root, whose pose the estimate is.

    Under the name of another frame it would be wrong, or hang nowhere in tf.
    """
    model, name = robot.model, robot.base_frame
    # it may have a prefix for tf
    name = name if model.existFrame(name) else name.rpartition("/")[2]
    frame = model.frames[model.getFrameId(name)] if model.existFrame(name) else None
    if robot.config.floating_base and (
        frame is None or frame.parentJoint != 1 or not frame.placement.isIdentity(1e-6)
    ):
        raise RobotError(
            f"{robot.name}: base_frame {robot.base_frame} is not at the root of the URDF, which "
            f"is {robot.links[1]}",
            name,
        )


def check_configuration(robot: Robot, config: Config) -> None:
    """RobotError where a configuration is that of another robot: noise, contact law, priors.

    Raises:
        ConfigError: one of them is something else; nobody checks types of a call in Python.
    """
    if not (hasattr(robot, "estimated_links") and hasattr(config, "estimator")):
        what = f"got a {type(robot).__name__} and a {type(config).__name__}"
        raise ConfigError(f"this call takes a Robot (Robot.load) and a Config: {what}", robot)
    if config.robot.name not in ("", robot.name):
        raise RobotError(
            f"the configuration is that of {config.robot.name}, the robot is {robot.name}: make "
            "both of one, Robot(config.robot)",
            config.robot.name,
        )


def check_zeros(robot: Robot) -> None:
    """RobotError where zeros are given of joints that the robot has not."""
    unknown = sorted(set(robot.config.joint_zeros) - set(robot.joint_names))
    if unknown:
        known = ", ".join(robot.joint_names)
        what = f"joint_zeros names unknown joints {', '.join(unknown)}; joints are {known}"
        raise RobotError(f"{robot.name}: {what}", unknown)


def check_estimated_links(robot: Robot) -> None:
    """RobotError where an inertia that is estimated, which keeps it physical, does not begin so."""
    for link in robot.estimated_links:
        inertia = robot.model.inertias[robot.link_joint(link)]
        if np.linalg.eigvalsh(inertia.toPseudoInertia().toMatrix())[0] <= 0.0:
            what = "a moment is negative, or exceeds the sum of the two others"
            raise RobotError(
                f"{robot.name}: the URDF's inertia of {link} is that of no physical body ({what})",
                link,
            )


def check_feet(robot: Robot) -> None:
    """RobotError where a foot is on several links, or on the base: no torque tells its force.

    Or where two feet are on one link, as torques tell the sum of their forces only, or two contacts
    are one point: nothing tells which of them carries.
    """
    carriers: dict[str, set] = {}
    points: dict[tuple, str] = {}
    for contact in robot.contacts:
        point = (contact.frame, *contact.position)
        if (other := points.setdefault(point, contact.name)) != contact.name:
            raise RobotError(
                f"{robot.name}: the contacts {other} and {contact.name} are the same point of "
                f"{contact.frame}; each needs a frame or position of its own",
                contact,
            )
        frame = frame_id(robot.model, contact.frame, robot.name, "contact")
        carriers.setdefault(contact.foot, set()).add(robot.model.frames[frame].parentJoint)
    for foot, joints in carriers.items():
        if len(joints) > 1:
            links = ", ".join(robot.links[j] for j in sorted(joints))
            raise RobotError(
                f"{robot.name}: foot '{foot}' has contacts on several links ({links}); each "
                "needs a foot of its own",
                foot,
            )
        if robot.config.floating_base and joints == {1}:
            raise RobotError(
                f"{robot.name}: foot '{foot}' is on the base ({robot.links[1]}), where no joint "
                "feels its force",
                foot,
            )
    on_link: dict[int, str] = {}
    for foot, (joint,) in carriers.items():
        if (other := on_link.setdefault(joint, foot)) != foot:
            raise RobotError(
                f"{robot.name}: the feet '{other}' and '{foot}' are on one link "
                f"({robot.links[joint]}), whose joints feel the sum of their forces: make them "
                f"one foot, with 'foot: {other}' in every contact there",
                foot,
            )
