# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Pose sources: the message types in which motion capture and trackers say where a body is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class StampedPose:
    """A pose as geometry_msgs/PoseStamped has it."""

    header: object
    pose: object


@dataclass(frozen=True)
class PoseSource:
    """A message type with a pose in it.

    Attributes:
        type: of the message.
        pose: StampedPose in a message, of the body of a name; ValueError says why there is none.
    """

    type: str
    pose: Callable[[object, str], StampedPose]


def _plain(message, _body: str) -> StampedPose:
    return message


def _nested(message, _body: str) -> StampedPose:
    return StampedPose(message.header, message.pose.pose)


def _named(message, body: str) -> StampedPose:
    for entry in message.poses:
        if entry.name == body:
            return StampedPose(message.header, entry.pose)
    raise ValueError(
        f"no body '{body}' (node.mocap_body) among {', '.join(e.name for e in message.poses)}"
    )


POSE_SOURCES = {
    "pose": PoseSource("geometry_msgs/msg/PoseStamped", _plain),
    "pose_with_covariance": PoseSource("geometry_msgs/msg/PoseWithCovarianceStamped", _nested),
    "odometry": PoseSource("nav_msgs/msg/Odometry", _nested),
    "named_poses": PoseSource("motion_capture_tracking_interfaces/msg/NamedPoseArray", _named),
}
