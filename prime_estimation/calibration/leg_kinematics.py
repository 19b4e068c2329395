# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Kinematics of legs for all nodes of a trajectory at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from ..contact.points import flat_feet
from ..errors import RobotError
from ..robot import Robot
from .rotations import about_axis, rotate


@dataclass(frozen=True)
class LegMotion:
    """Motion of a foot relative to the base, base axes, of n nodes and a leg of k joints.

    Attributes:
        rotation: (n, 3, 3) of the link that carries the foot.
        position: (n, 3) centre of the foot [m]. velocity: (n, 3) its rate [m/s].
        rate: (n, 3) angular velocity of the foot's link [rad/s].
        shifted, shifted_rate: the same as `rotation` and `rate` of the link in whose axes the
            offset is.
        jacobian: (n, 3, k) of the position. angular: (n, 3, k) of the rotation.
        velocity_jacobian: (n, 3, k) derivative of the velocity by the joint positions, rates held.
        rate_jacobian: (n, 3, k) the same of the angular velocity.
    """

    rotation: np.ndarray
    position: np.ndarray
    velocity: np.ndarray
    rate: np.ndarray
    shifted: np.ndarray
    shifted_rate: np.ndarray
    jacobian: np.ndarray
    angular: np.ndarray
    velocity_jacobian: np.ndarray
    rate_jacobian: np.ndarray


class Leg:
    """Chain of revolute joints from the base to a foot of one sphere, or of a sole.

    A sole that lies keeps its place and its orientation, whatever its shape: what moves, and tells
    a length, is the leg above it. So its offset is that of the ankle, in the last long link.

    Attributes:
        name: of the foot. flat: it has a sole.
        radius: of its sphere [m]; 0 of a sole, which does not roll while it lies.
        joints: indices of the chain in `Robot.joint_names`, base first.
        tip: (3,) centre of the sphere, or of those of a sole, in the joint frame of its link [m].
        ankle: place in the chain of the joint whose origin the offset shifts, axes of the link
            before it; None: it shifts the tip, axes of the foot's link.
    """

    def __init__(self, robot: Robot, foot: str):
        contacts = [c for c in robot.contacts if c.foot == foot]
        self.name, self.flat = foot, flat_feet(robot)[robot.feet.index(foot)]
        if not self.flat and len(contacts) != 1:
            raise RobotError(
                f"{robot.name}: calibration needs feet of one sphere, or soles of three at least; "
                f"{foot} has {len(contacts)}",
                foot,
            )
        model = robot.model
        frame = model.frames[model.getFrameId(contacts[0].frame)]
        chain = robot.joints_to(frame.parentJoint)
        self.radius = 0.0 if self.flat else contacts[0].radius
        self.joints = [robot.joint_ids.index(j) for j in chain]
        self.tip = frame.placement.act(np.mean([c.position for c in contacts], axis=0))
        self._placements = [model.jointPlacements[j] for j in chain]
        self._axes = [_axis(robot, j) for j in chain]
        self.ankle = _after_last_long_link(self._placements) if self.flat else None

    @property
    def rows(self) -> int:
        """Of its measurement: place, velocity, and turning of a sole."""
        return 9 if self.flat else 6

    def motion(self, angle: np.ndarray, rate: np.ndarray, offset: np.ndarray) -> LegMotion:
        """Motion of the foot.

        `J_i = a_i x (x - o_i)`, `dJ_i/dq_m = a_min(i,m) x J_max(i,m)`, `da_i/dq_m = a_m x a_i`
        for m before i.

        Args:
            angle: (n, k) joint positions [rad].
            rate: (n, k) joint rates [rad/s].
            offset: (3,) of the tip, or of the ankle, from that of the model [m].
        """
        R, o = np.broadcast_to(np.eye(3), (len(angle), 3, 3)), np.zeros((len(angle), 3))
        axes, origins, links = [], [], [R]
        for i, (placement, axis) in enumerate(zip(self._placements, self._axes)):
            o = o + R @ (placement.translation + (offset if i == self.ankle else 0.0))
            R = R @ placement.rotation @ about_axis(axis, angle[:, i])
            axes.append(R @ axis)
            origins.append(o)
            links.append(R)
        x = o + R @ (self.tip if self.flat else self.tip + offset)
        a = np.stack(axes, axis=-1)
        J = np.cross(a, x[:, :, None] - np.stack(origins, axis=-1), axis=1)
        dv, dw = _rate_derivatives(a, J, rate)
        before = len(self.joints) if self.ankle is None else self.ankle
        turning = rotate(a[:, :, :before], rate[:, :before])
        speeds = rotate(J, rate), rotate(a, rate)
        return LegMotion(R, x, *speeds, links[before], turning, J, a, dv, dw)


def _rate_derivatives(a: np.ndarray, J: np.ndarray, rate: np.ndarray):
    """Derivatives (n, 3, k) of `J rate` and of `a rate` by the joint positions."""
    n, _, k = a.shape
    dv = np.zeros((n, 3, k), np.result_type(J, rate))
    dw = np.zeros_like(dv)
    for m in range(k):
        for i in range(k):
            first, last = min(i, m), max(i, m)
            speed = rate[:, i, None]
            dv[:, :, m] += np.cross(a[:, :, first], J[:, :, last]) * speed
            if m < i:
                dw[:, :, m] += np.cross(a[:, :, m], a[:, :, i]) * speed
    return dv, dw


def _after_last_long_link(placements: list[pin.SE3]) -> int:
    """Place in a chain of its last joint that is far from the one before it.

    Half as far at least as any; without the first, whose distance is a width of the base.
    """
    lengths = np.array([np.linalg.norm(p.translation) for p in placements])
    lengths[0] = 0.0
    return int(np.flatnonzero(lengths >= 0.5 * lengths.max())[-1])


def _axis(robot: Robot, joint: int) -> np.ndarray:
    """Axis (3,) of a revolute joint in its own frame."""
    S = robot.model.joints[joint].createData()
    kind = robot.model.joints[joint].shortname()
    axes = {"JointModelRX": (1, 0, 0), "JointModelRY": (0, 1, 0), "JointModelRZ": (0, 0, 1)}
    if kind in axes:
        return np.array(axes[kind], float)
    if kind == "JointModelRevoluteUnaligned":
        return np.asarray(pin.Motion(np.asarray(S.S).reshape(6)).angular)
    continuous = kind.startswith("JointModelRUB") or kind.endswith("UnboundedUnaligned")
    sort = "continuous" if continuous else f"a {kind.removeprefix('JointModel')}"
    what = f"{robot.model.names[joint]} is {sort}"
    raise RobotError(f"{robot.name}: calibration needs revolute leg joints, {what}", kind)
