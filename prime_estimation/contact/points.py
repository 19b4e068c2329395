# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Contact spheres of a robot as the core has them."""

from __future__ import annotations

import numpy as np

from .. import _core
from ..config.policies import SOLE
from ..robot import Robot


def contact_points(robot: Robot) -> list["_core.ContactPoint"]:
    """The contact spheres of a robot, in the order of `robot.contacts`."""
    return [_contact_point(robot, contact) for contact in robot.contacts]


def leg_joints(robot: Robot) -> list[list[int]]:
    """Ids of the joints between the base and each contact, by contacts."""
    return [robot.joints_to(point.joint) for point in contact_points(robot)]


def flat_feet(robot: Robot) -> list[bool]:
    """Whether each foot of `robot.feet` has a sole: SOLE.spheres spheres at least span one."""
    of_contacts = [contact.foot for contact in robot.contacts]
    return [of_contacts.count(foot) >= SOLE.spheres for foot in robot.feet]


def bearing_joints(robot: Robot) -> set[int]:
    """Ids of the joints between the feet, the base and the links whose inertia is estimated."""
    frames = [robot.model.getFrameId(contact.frame) for contact in robot.contacts]
    links = [robot.model.frames[frame].parentJoint for frame in frames]
    links += [robot.link_joint(link) for link in robot.estimated_links]
    return {joint for link in links for joint in robot.model.supports[link]}


def idle_rows(robot: Robot) -> list[int]:
    """Velocity indices of all other joints: arms, a head."""
    joints, bearing = robot.model.joints, bearing_joints(robot)
    others = [joints[j] for j in range(1, robot.model.njoints) if j not in bearing]
    return [joint.idx_v + i for joint in others for i in range(joint.nv)]


def _contact_point(robot: Robot, contact) -> "_core.ContactPoint":
    frame = robot.model.frames[robot.model.getFrameId(contact.frame)]
    point = _core.ContactPoint()
    point.name, point.joint, point.radius = contact.name, frame.parentJoint, contact.radius
    point.position = frame.placement.act(np.array(contact.position, float))
    point.lever = frame.placement.rotation @ np.array(contact.position, float)
    point.foot = robot.feet.index(contact.foot)
    return point
