# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Kinematics of legs for all nodes of a trajectory at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from ..errors import RobotError
from ..robot import Robot
from .rotations import about_axis, rotate


@dataclass(frozen=True)
class LegMotion:
    """Motion of a foot relative to the base, base axes, of n nodes and a leg of k joints.

    Attributes:
        rotation: (n, 3, 3) of the link that carries the foot.
        position: (n, 3) centre of the foot's sphere [m]. velocity: (n, 3) its rate [m/s].
        rate: (n, 3) angular velocity of the link [rad/s].
        jacobian: (n, 3, k) of the position. angular: (n, 3, k) of the rotation.
        velocity_jacobian: (n, 3, k) derivative of the velocity by the joint positions, rates held.
        rate_jacobian: (n, 3, k) the same of the angular velocity.
    """

    rotation: np.ndarray
    position: np.ndarray
    velocity: np.ndarray
    rate: np.ndarray
    jacobian: np.ndarray
    angular: np.ndarray
    velocity_jacobian: np.ndarray
    rate_jacobian: np.ndarray


class Leg:
    """Chain of revolute joints from the base to a spherical foot.

    Attributes:
        name: of the foot. radius: of its sphere [m].
        joints: indices of the chain in `Robot.joint_names`, base first.
        tip: (3,) centre of the sphere in the joint frame of its link [m].
    """

    def __init__(self, robot: Robot, foot: str):
        contacts = [c for c in robot.contacts if c.foot == foot]
        if len(contacts) != 1:
            raise RobotError(
                f"{robot.name}: calibration needs feet of one sphere, {foot} has {len(contacts)}; "
                "flat feet are not supported",
                foot,
            )
        model, contact = robot.model, contacts[0]
        frame = model.frames[model.getFrameId(contact.frame)]
        chain = robot.joints_to(frame.parentJoint)
        self.name, self.radius = foot, contact.radius
        self.joints = [robot.joint_ids.index(j) for j in chain]
        self.tip = frame.placement.act(np.array(contact.position, float))
        self._placements = [model.jointPlacements[j] for j in chain]
        self._axes = [_axis(robot, j) for j in chain]

    def motion(self, angle: np.ndarray, rate: np.ndarray, offset: np.ndarray) -> LegMotion:
        """Motion of the foot.

        `J_i = a_i x (x - o_i)`, `dJ_i/dq_m = a_min(i,m) x J_max(i,m)`, `da_i/dq_m = a_m x a_i`
        for m before i.

        Args:
            angle: (n, k) joint positions [rad].
            rate: (n, k) joint rates [rad/s].
            offset: (3,) of the sphere's centre from that of the model, link axes [m].
        """
        R, o = np.broadcast_to(np.eye(3), (len(angle), 3, 3)), np.zeros((len(angle), 3))
        axes, origins = [], []
        for i, (placement, axis) in enumerate(zip(self._placements, self._axes)):
            o = o + R @ placement.translation
            R = R @ placement.rotation @ about_axis(axis, angle[:, i])
            axes.append(R @ axis)
            origins.append(o)
        x = o + R @ (self.tip + offset)
        a = np.stack(axes, axis=-1)
        J = np.cross(a, x[:, :, None] - np.stack(origins, axis=-1), axis=1)
        dv, dw = _rate_derivatives(a, J, rate)
        return LegMotion(R, x, rotate(J, rate), rotate(a, rate), J, a, dv, dw)


def _rate_derivatives(a: np.ndarray, J: np.ndarray, rate: np.ndarray):
    """Derivatives (n, 3, k) of `J rate` and of `a rate` by the joint positions."""
    n, _, k = a.shape
    dv = np.zeros((n, 3, k), np.result_type(a, rate))
    dw = np.zeros_like(dv)
    for m in range(k):
        for i in range(k):
            first, last = min(i, m), max(i, m)
            speed = rate[:, i, None]
            dv[:, :, m] += np.cross(a[:, :, first], J[:, :, last]) * speed
            if m < i:
                dw[:, :, m] += np.cross(a[:, :, m], a[:, :, i]) * speed
    return dv, dw


def _axis(robot: Robot, joint: int) -> np.ndarray:
    """Axis (3,) of a revolute joint in its own frame."""
    S = robot.model.joints[joint].createData()
    kind = robot.model.joints[joint].shortname()
    axes = {"JointModelRX": (1, 0, 0), "JointModelRY": (0, 1, 0), "JointModelRZ": (0, 0, 1)}
    if kind in axes:
        return np.array(axes[kind], float)
    if kind == "JointModelRevoluteUnaligned":
        return np.asarray(pin.Motion(np.asarray(S.S).reshape(6)).angular)
    what = f"{robot.model.names[joint]} is a {kind.removeprefix('JointModel')}"
    raise RobotError(f"{robot.name}: calibration needs revolute leg joints, {what}", kind)
