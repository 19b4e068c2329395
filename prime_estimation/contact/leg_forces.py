# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Leg forces: what the legs alone tell of the ground.

Where the soles are, and the force at each foot that the torques of its leg imply.
"""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin

from .. import _core
from ..joint_friction import JointLosses
from ..robot import GRAVITY, Robot
from .points import contact_points

CLEARANCE = 0.1  # of the feet of a robot that hangs or lies, above a ground that is not known [m]
FREE_FALL = 0.3  # share of gravity that a falling robot feels at most
UP = np.array([0.0, 0.0, 1.0])
STRETCHED = 1e-3  # ratio of singular values of a leg's Jacobian below which it counts as singular


class LegForces:
    """Foot kinematics, and the forces of the feet that leg torques imply (`_core.LegForces`).

    `J_leg^T f = tau_rnea - tau` for the joints of the leg: inverse dynamics with the nominal
    inertia, which is good for a leg, whatever the trunk carries.

    Attributes:
        losses: of the joints, between readings and links: the YAML's, or as estimated.
    """

    def __init__(self, robot: Robot):
        self.robot, self.model, self.losses = robot, robot.model, JointLosses.of(robot)
        self.weight = robot.total_mass * GRAVITY
        contacts = contact_points(robot)
        joints = [
            next(c.joint for c in contacts if c.foot == foot) for foot in range(len(robot.feet))
        ]
        own = [
            [self.model.joints[j].idx_v for j in self.model.supports[joint] if j in robot.joint_ids]
            for joint in joints
        ]
        self._unknown = np.full(self.model.nv, np.nan)
        self._core = _core.LegForces(self.model, contacts, own, STRETCHED)

    def evaluate(
        self, q, v, a, torque: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """At a full state with acceleration.

        Soles (nf, 3) [m] and their rates (nf, 3) [m/s], world axes; normal forces (nf,) [N].

        Args:
            q: (nq,) configuration.
            v: (nv,) velocity.
            a: (nv,) acceleration.
            torque: (nj,) of the motors [Nm]. The force of a leg with a torque that is not finite is
                NaN; None: of all legs.
        """
        nj, tau = self.robot.nj, self._unknown
        if torque is not None:
            tau = tau.copy()
            tau[-nj:] = self.losses.passed(torque, v[-nj:], a[-nj:])
        return self._core.evaluate(q, v, a, tau)

    def kinematics(
        self, R_world_base: np.ndarray, q: np.ndarray, dq: np.ndarray, torque: np.ndarray | None
    ):
        """Static guess, base at the origin.

        Load share (nf,) in [0, 1], sole points (nf, 3) [m] and their rates (nf, 3) [m/s].

        World axes, relative to the base; `q` are coordinates. Without torque the lowest feet are
        taken to carry the load.
        """
        points, rates, normal = self._at_rest(pin.Quaternion(R_world_base), q, dq, torque)
        if torque is None:
            load = np.exp(-(points[:, 2] - points[:, 2].min()) / 0.005)
        else:
            load = np.clip(normal / (self.weight / len(points)), 0.0, 1.0)
        return load, points, rates

    def deficit(
        self, specific_force_base: np.ndarray, q: np.ndarray, dq: np.ndarray, torque: np.ndarray
    ) -> float:
        """Share of the weight that the feet ought to carry, and do not: 0 on its feet, 1 hanging.

        Args:
            specific_force_base: (3,) m/s^2, what the base feels: the apparent weight hangs from it,
                whatever attitude and acceleration are.
            q: (nj,) joint positions [rad].
            dq: (nj,) their rates [rad/s].
            torque: (nj,) of the motors [Nm].
        """
        felt = math.hypot(*specific_force_base.tolist())
        if felt < FREE_FALL * GRAVITY:
            return 0.0
        up = pin.Quaternion.FromTwoVectors(specific_force_base / felt, UP)
        normal = self._at_rest(up, self.robot.coordinates(q), dq, torque)[2]
        return felt / GRAVITY - float(normal.sum()) / self.weight

    def _at_rest(
        self,
        world_quat_base: pin.Quaternion,
        q: np.ndarray,
        dq: np.ndarray,
        torque: np.ndarray | None,
    ):
        """`evaluate` with the base at rest at the origin, joints at constant rates."""
        full, rates = np.zeros(self.model.nq), np.zeros(self.model.nv)
        full[3:7], full[7:], rates[6:] = world_quat_base.coeffs(), q, dq
        return self.evaluate(full, rates, np.zeros(self.model.nv), torque)
