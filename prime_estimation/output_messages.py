# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Everything that is published about one estimate.

The same list for replay, Cyclone DDS and rclpy.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from .config.parameters import EstimatorConfig
from .io import inertia_messages
from .io import to_messages as outbound
from .io.to_messages import Make
from .robot import Robot
from .types import Estimate

WORLD_FRAME = "odom"

TOPICS = {
    "odometry": "nav_msgs/msg/Odometry",
    "joint_states": "sensor_msgs/msg/JointState",
    "contact_wrenches": "prime_estimation_msgs/msg/ContactWrenches",
    "inertial_parameters": "prime_estimation_msgs/msg/InertialParameters",
    "status": "prime_estimation_msgs/msg/EstimatorStatus",
    "external_wrench": "geometry_msgs/msg/WrenchStamped",
}
# where joint parameters are estimated
OF_JOINTS = {"joint_parameters": "prime_estimation_msgs/msg/JointParameters"}


class Outputs:
    """Builds the output messages of a robot's estimates.

    Args:
        robot: gives names and, through forward kinematics, the axes of the contact frames.
        config: limit of the mass' standard deviation below which inertia is marked valid.
        make: function from a message type's name to its class.
        world_frame: frame of odometry and contact wrenches.
        frame_prefix: before the names of frames; a world frame `/map` is shared and has none.
    """

    def __init__(
        self,
        robot: Robot,
        config: EstimatorConfig,
        make: Make,
        world_frame: str = WORLD_FRAME,
        frame_prefix: str = "",
    ):
        self.world_frame = world_frame_of(world_frame, frame_prefix)
        self.base_frame = frame_prefix + robot.base_frame
        self._robot, self._make, self.config = robot, make, config
        self._data = robot.model.createData()
        self._frames = {
            c.name: (frame_prefix + c.frame, robot.model.getFrameId(c.frame))
            for c in robot.contacts
        }
        self._feet = _flat_feet(robot)
        self._sequence = 0
        self._previous: Estimate | None = None

    def topics(self) -> dict[str, str]:
        """Types of all topics by name, the names relative to the node."""
        names = [*(c.name for c in self._robot.contacts), *self._feet]
        wrenches = {
            outbound.contact_topic(name): "geometry_msgs/msg/WrenchStamped" for name in names
        }
        joints = OF_JOINTS if self.config.tells_joints else {}
        topics = {**TOPICS, **joints, **wrenches, "/tf": "tf2_msgs/msg/TFMessage"}
        if not self._robot.config.floating_base:
            del topics["external_wrench"]  # what pushes a base that is held is not told
        return topics

    def odometry(self, estimate: Estimate):
        """nav_msgs/Odometry."""
        return outbound.odometry(self._make, estimate, self.world_frame, self.base_frame)

    def joint_states(self, estimate: Estimate):
        """sensor_msgs/JointState."""
        return outbound.joint_states(self._make, estimate, self._robot.joint_names)

    def transform(self, estimate: Estimate):
        """tf2_msgs/TFMessage, world -> base."""
        return outbound.transform(self._make, estimate, self.world_frame, self.base_frame)

    def messages(self, estimate: Estimate) -> list[tuple[str, object]]:
        """(topic, message) of all topics, once per node of the window."""
        make = self._make
        self._sequence += 1
        valid = inertia_messages.may_be_used(estimate, self.config.publish_mass_stddev)
        out = [
            ("odometry", self.odometry(estimate)),
            ("/tf", self.transform(estimate)),
            ("joint_states", self.joint_states(estimate)),
            ("contact_wrenches", outbound.contact_wrenches(make, estimate, self.world_frame)),
            (
                "inertial_parameters",
                inertia_messages.inertial_parameters(
                    make, estimate, self.world_frame, self._sequence, valid
                ),
            ),
            ("status", outbound.estimator_status(make, estimate, self.world_frame)),
        ]
        if estimate.joint_parameters:
            joints = outbound.joint_parameters(make, estimate, self.world_frame)
            out.append(("joint_parameters", joints))
        if estimate.external is not None:
            external = outbound.external_wrench(make, estimate.external, self.base_frame)
            out.append(("external_wrench", external))
        out += self._wrenches(estimate)
        self._previous = estimate
        return out

    def _wrenches(self, estimate: Estimate) -> list[tuple[str, object]]:
        # forces are one node older than the state: their frames come from the posture of that node
        before = self._previous
        posture = (
            before
            if before is not None and before.stamp_ns == estimate.contacts_stamp_ns
            else estimate
        )
        q = self._robot.coordinates(posture.joint_position)
        if self._robot.config.floating_base:
            q = np.concatenate([posture.position_world, posture.quat_world_base, q])
        pin.forwardKinematics(self._robot.model, self._data, q)
        contacts = {c.name: c for c in estimate.contacts}
        groups = {**{name: [name] for name in contacts}, **self._feet}
        out = []
        for name, members in groups.items():
            frame, index = self._frames[members[0]]
            pose = pin.updateFramePlacement(self._robot.model, self._data, index)
            message = outbound.wrench_stamped(
                self._make, [contacts[m] for m in members], estimate.contacts_stamp_ns, frame, pose
            )
            out.append((outbound.contact_topic(name), message))
        return out


def world_frame_of(world_frame: str, frame_prefix: str) -> str:
    """Name of the world frame: with the prefix of a robot, `/map` as it is without the slash."""
    return world_frame[1:] if world_frame.startswith("/") else frame_prefix + world_frame


def _flat_feet(robot: Robot) -> dict[str, list[str]]:
    """Contacts `<foot>/<corner>` of each foot that has several on one frame.

    Their sum is a topic of its own.
    """
    feet: dict[str, list[str]] = {}
    for contact in robot.contacts:
        foot, corner, _ = contact.name.partition("/")
        if corner:
            feet.setdefault(foot, []).append(contact.name)
    frame_of = {c.name: c.frame for c in robot.contacts}
    return {foot: names for foot, names in feet.items() if len({frame_of[n] for n in names}) == 1}
