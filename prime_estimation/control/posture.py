# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Standing posture of a robot: inverse kinematics from nothing but its model."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pinocchio as pin

from ..errors import RobotError
from ..robot import Robot

BEND = 0.6  # rad, of a joint
CLOSE = 1e-3  # m, of the feet to their places
MARGIN = 0.02  # rad, to the end of a joint's range


def contact_jacobian(
    model: pin.Model, data: pin.Data, frame: int, offset: np.ndarray
) -> np.ndarray:
    """(3, nv) velocity of the point `offset` of a frame, world axes.

    Joint Jacobians and frame placements must be current.
    """
    J = pin.getFrameJacobian(model, data, frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
    return J[:3] - pin.skew(data.oMf[frame].rotation @ offset) @ J[3:] if np.any(offset) else J[:3]


def standing_posture(robot: Robot) -> np.ndarray:
    """(nq,) a posture with all contact spheres on z = 0 and bent legs.

    The feet stand below their places in the zero configuration.

    Damped least squares from the middle between zero configuration and mid-range, inside the joint
    limits. A leg that is stretched there has nowhere to go: then from legs that are bent one way or
    the other, all of them alike.

    Raises:
        RobotError: no such posture was found, or joints are continuous.
    """
    if robot.turning:
        raise RobotError(
            f"{robot.name}: a robot with continuous joints has no posture to stand in; give these "
            "joints limits in the URDF",
            robot,
        )
    low, high = robot.joint_range
    low, high = low + MARGIN, high - MARGIN
    start = pin.neutral(robot.model)[7:]
    start = np.clip(start + 0.15 * (_middle(low, high) - start), low, high)
    missed = []
    for bend in _bends(robot):
        q, error = _solve(robot, np.clip(start + bend, low, high), low, high)
        if error < CLOSE:
            return q
        missed.append(error)
    raise RobotError(
        f"{robot.name}: no standing posture found (feet off by {min(missed):.3f} m)", robot
    )


def _middle(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    limited = np.isfinite(low) & np.isfinite(high)
    return np.where(
        limited, 0.5 * (np.where(limited, low, 0.0) + np.where(limited, high, 0.0)), 0.0
    )


def _bends(robot: Robot) -> Iterator[np.ndarray]:
    """Offsets (nj,) of the joints of all legs.

    None, then each pattern of the last three joints above a foot, the simplest first.
    """
    legs = [
        robot.model.supports[
            robot.model.frames[robot.model.getFrameId(c.frame)].parentJoint
        ].tolist()[2:]
        for c in robot.contacts
    ]
    for pattern in sorted(itertools.product((0.0, BEND, -BEND), repeat=3), key=np.count_nonzero):
        bend = np.zeros(robot.nj)
        for leg in legs:
            for joint, offset in zip(reversed(leg), reversed(pattern)):
                bend[joint - 2] = offset
        yield bend


def _solve(
    robot: Robot, start: np.ndarray, low: np.ndarray, high: np.ndarray
) -> tuple[np.ndarray, float]:
    """Posture (nq,) reached from these joints, and by how much its feet are off [m]."""
    model, data = robot.model, robot.model.createData()
    frames = [model.getFrameId(c.frame) for c in robot.contacts]
    offsets = [np.array(c.position, float) for c in robot.contacts]
    bend = 0.72 if len(robot.feet) > 2 else 0.95

    def points(q):
        pin.framesForwardKinematics(model, data, q)
        return np.array([data.oMf[f] * o for f, o in zip(frames, offsets)])

    q = pin.neutral(model)
    wanted = points(q)
    radii = np.array([c.radius for c in robot.contacts])
    wanted[:, 2] = bend * wanted[:, 2].min() + (radii - radii[0])
    q[7:] = start
    for _ in range(300):
        error = (wanted - points(q)).ravel()
        pin.computeJointJacobians(model, data, q)
        J = np.vstack([contact_jacobian(model, data, f, o)[:, 6:] for f, o in zip(frames, offsets)])
        q[7:] = np.clip(
            q[7:] + J.T @ np.linalg.solve(J @ J.T + 1e-4 * np.eye(len(J)), error), low, high
        )
    missed = float(np.abs(wanted - points(q)).max())
    q[2] = -wanted[0, 2] + radii[0]
    return q, missed
