# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Leg forces: positions of the soles, and the force at each foot that its leg's torques imply."""

from __future__ import annotations

import math
from dataclasses import fields

import numpy as np
import pinocchio as pin

from .. import _core
from ..config.policies import UNMODELLED
from ..joint_friction import JointLosses
from ..robot import GRAVITY, Robot
from .joint_stops import JointStops
from .points import contact_points

CLEARANCE = 0.1  # of the feet of a robot that hangs or lies, above a ground that is not known [m]
FREE_FALL = 0.3  # share of gravity that a falling robot feels at most
STRETCHED = 1e-3  # ratio of singular values of a leg's Jacobian below which it counts as singular


class LegForces:
    """Foot kinematics, and the forces of the feet that leg torques imply (`_core.LegForces`).

    `J_leg^T f = tau_rnea - tau` for the joints of the leg, by inverse dynamics with the nominal
    inertia, which is accurate for a leg, whatever the trunk carries.
    """

    def __init__(self, robot: Robot):
        self.robot, self.model = robot, robot.model
        self.weight = robot.total_mass * GRAVITY
        contacts = contact_points(robot)
        joints = [
            next(c.joint for c in contacts if c.foot == foot) for foot in range(len(robot.feet))
        ]
        own = [[self.model.joints[j].idx_v for j in robot.joints_to(joint)] for joint in joints]
        self._unknown = np.full(robot.nj, np.nan)
        self._stops = JointStops(robot, UNMODELLED.stop)
        self._core = _core.LegForces(self.model, contacts, own, STRETCHED)
        self.losses = JointLosses.of(robot)

    @property
    def losses(self) -> JointLosses:
        """Those of the joints, between readings and links: the YAML's, or as estimated."""
        return self._losses

    @losses.setter
    def losses(self, losses: JointLosses) -> None:
        self._losses = losses
        self._core.set_losses(*(getattr(losses, f.name) for f in fields(losses)))

    def evaluate(
        self, q, v, a, torque: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
        """At a full state with acceleration.

        Soles (nf, 3) [m] and their rates (nf, 3) [m/s], world axes; normal forces (nf,) [N]; upward
        force by the mass that such a motion of the nominal robot needs [m/s2].

        Args:
            q: (nq,) configuration.
            v: (nv,) velocity.
            a: (nv,) acceleration.
            torque: (nj,) of the motors [Nm]. The force of a leg with a torque that is not finite is
                NaN; None: of all legs.
        """
        known = self._unknown if torque is None else torque
        soles, rates, normal, felt = self._core.evaluate(q, v, a, known)
        # eigenpy makes vectors of the matrices of a single foot
        return soles.reshape(-1, 3), rates.reshape(-1, 3), normal, felt

    def kinematics(
        self, R_world_base: np.ndarray, q: np.ndarray, dq: np.ndarray, torque: np.ndarray | None
    ):
        """Static guess, base at the origin.

        Load share (nf,) in [0, 1], sole points (nf, 3) [m] and their rates (nf, 3) [m/s].

        World axes, relative to the base; `q` are coordinates. Without torque the lowest feet are
        taken to carry the load.
        """
        full, v = np.zeros(self.model.nq), np.zeros(self.model.nv)
        full[3:7], full[7:], v[6:] = pin.Quaternion(R_world_base).coeffs(), q, dq
        points, rates, normal, _ = self.evaluate(full, v, np.zeros(self.model.nv), torque)
        if torque is None:
            load = np.exp(-(points[:, 2] - points[:, 2].min()) / 0.005)
        else:
            load = np.clip(normal / (self.weight / len(points)), 0.0, 1.0)
        return load, points, rates

    def deficit(
        self, specific_force_base: np.ndarray, q: np.ndarray, dq: np.ndarray, torque: np.ndarray
    ) -> float:
        """Share of the weight that the feet ought to carry, and do not: 0 on its feet, 1 hanging.

        A leg that is stretched to the stop of its knee presses the stop, not the ground, with
        torques that would carry many times the weight: a motor that presses tells of no load.

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
        presses = self._stops.pressed(q, torque)
        carried = self._core.carried_at_rest(
            specific_force_base, self.robot.coordinates(q), dq, np.where(presses, 0.0, torque)
        )
        return felt / GRAVITY - carried / self.weight
