# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""How a robot stands before it moves: inverse kinematics from nothing but its model."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from ..errors import RobotError
from ..robot import Robot


def contact_jacobian(model: pin.Model, data: pin.Data, frame: int, offset: np.ndarray) -> np.ndarray:
    """(3, nv) velocity of the point `offset` of a frame, world axes. Joint Jacobians and frame placements must be current."""
    J = pin.getFrameJacobian(model, data, frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
    return J[:3] - pin.skew(data.oMf[frame].rotation @ offset) @ J[3:] if np.any(offset) else J[:3]


def standing_posture(robot: Robot) -> np.ndarray:
    """(nq,) a posture with all contact spheres on z = 0, below their places in the zero configuration, legs bent.

    Damped least squares from the middle between zero configuration and mid-range, inside the joint limits.

    Raises:
        RobotError: no such posture was found.
    """
    model, data = robot.model, robot.model.createData()
    frames = [model.getFrameId(c.frame) for c in robot.contacts]
    offsets = [np.array(c.position, float) for c in robot.contacts]
    low, high = model.lowerPositionLimit[7:] + 0.02, model.upperPositionLimit[7:] - 0.02
    bend = 0.72 if len(robot.feet) > 2 else 0.95

    def points(q):
        pin.framesForwardKinematics(model, data, q)
        return np.array([data.oMf[f] * o for f, o in zip(frames, offsets)])

    q = pin.neutral(model)
    wanted = points(q)
    wanted[:, 2] = bend * wanted[:, 2].min()
    q[7:] = np.clip(q[7:] + 0.15 * (0.5 * (low + high) - q[7:]), low, high)
    for _ in range(300):
        error = (wanted - points(q)).ravel()
        pin.computeJointJacobians(model, data, q)
        J = np.vstack([contact_jacobian(model, data, f, o)[:, 6:] for f, o in zip(frames, offsets)])
        q[7:] = np.clip(q[7:] + J.T @ np.linalg.solve(J @ J.T + 1e-4 * np.eye(len(J)), error), low, high)
    if np.abs(wanted - points(q)).max() > 1e-3:
        raise RobotError(f"{robot.name}: no standing posture found (feet off by {np.abs(wanted - points(q)).max():.3f} m)", q)
    q[2] = -wanted[0, 2] + robot.contacts[0].radius
    return q
