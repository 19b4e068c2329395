# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""What the legs alone tell of the ground: where the soles are, and the force at each foot that the torques of its leg imply."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from .losses import joint_losses
from .robot import GRAVITY, Robot

CLEARANCE = 0.1  # of the feet of a robot that hangs or lies, above a ground that is not known [m]
FREE_FALL = 0.3  # share of gravity that a falling robot feels at most
STRETCHED = 1e-3  # ratio of singular values of a leg's Jacobian below which it counts as singular


class LegForces:
    """Foot kinematics and the force at each foot that the torques of its own leg imply.

    `J_leg^T f = tau_rnea - tau` for the joints of the leg: inverse dynamics with the nominal inertia, which is good for a leg,
    whatever the trunk carries. A foot with several contact spheres also transmits a moment; its sole is its lowest sphere, on which
    it stands when it comes down heel first or rolls over its toes.
    """

    def __init__(self, robot: Robot):
        self.robot, self.model = robot, robot.model
        self.data = self.model.createData()
        self.offset = self.model.nv - robot.nj
        self.weight = robot.total_mass * GRAVITY
        self.contacts = [[c for c in robot.contacts if c.foot == foot] for foot in robot.feet]
        self.legs = [self._own_joints(group[0].frame) for group in self.contacts]
        self._feet = [self._spheres(group) for group in self.contacts]

    def _own_joints(self, frame: str) -> list[int]:
        joint = self.model.frames[self.model.getFrameId(frame)].parentJoint
        return [self.model.joints[j].idx_v for j in self.model.supports[joint] if j in self.robot.joint_ids]

    def _spheres(self, group: list) -> tuple[int, np.ndarray, np.ndarray]:
        """Frame of a foot, centres of its spheres (n, 3) in it [m], and from them down to their soles (n, 3), world axes [m]."""
        down = np.outer([c.radius for c in group], [0.0, 0.0, 1.0])
        return self.model.getFrameId(group[0].frame), np.array([c.position for c in group], float), down

    def kinematics(self, R_world_base: np.ndarray, q: np.ndarray, dq: np.ndarray, torque: np.ndarray | None):
        """Static guess, base at the origin: load share (nf,) in [0, 1], sole points (nf, 3) [m] and their rates (nf, 3) [m/s].

        World axes, relative to the base. Without torque the lowest feet are taken to carry the load.
        """
        full = np.concatenate([np.zeros(3), pin.Quaternion(R_world_base).coeffs(), q])
        v = np.concatenate([np.zeros(6), dq])
        points, jacobians = self.soles(full)
        rates = np.array([J[:3] @ v for J in jacobians])
        if torque is None:
            load = np.exp(-(points[:, 2] - points[:, 2].min()) / 0.005)
        else:
            normal = self.normal_forces(full, v, np.zeros_like(v), torque, jacobians)
            load = np.clip(normal / (self.weight / len(points)), 0.0, 1.0)
        return load, points, rates

    def loads(self, q: np.ndarray, v: np.ndarray, a: np.ndarray, torque: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Normal force (nf,) [N], height of the sole (nf,) [m] and its rate (nf,) [m/s] at a full state with acceleration."""
        points, jacobians = self.soles(q)
        normal = self.normal_forces(q, v, a, torque, jacobians)
        return normal, points[:, 2], np.array([J[2] @ v for J in jacobians])

    def deficit(self, specific_force_base: np.ndarray, q: np.ndarray, dq: np.ndarray, torque: np.ndarray) -> float:
        """Share of the robot's weight that the feet ought to carry, and do not: 0 on its feet or in free fall, 1 when it hangs or lies.

        Args:
            specific_force_base: (3,) m/s^2, what the base feels: the apparent weight hangs from it, whatever attitude and acceleration are.
            q: (nj,) joint positions [rad].
            dq: (nj,) their rates [rad/s].
            torque: (nj,) of the motors [Nm].
        """
        felt = float(np.linalg.norm(specific_force_base))
        if felt < FREE_FALL * GRAVITY:
            return 0.0
        up = pin.Quaternion.FromTwoVectors(specific_force_base / felt, np.array([0.0, 0.0, 1.0]))
        full, v = np.concatenate([np.zeros(3), up.coeffs(), q]), np.concatenate([np.zeros(6), dq])
        normal = self.normal_forces(full, v, np.zeros_like(v), torque, self.soles(full)[1])
        return felt / GRAVITY - float(normal.sum()) / self.weight

    def soles(self, q: np.ndarray):
        """Soles (nf, 3) and Jacobians (6, nv) of the feet at their soles, world axes."""
        pin.computeJointJacobians(self.model, self.data, q)
        points, jacobians = [], []
        for frame, spheres, down in self._feet:
            placement = pin.updateFramePlacement(self.model, self.data, frame)
            bottoms = spheres @ placement.rotation.T + placement.translation - down
            sole = bottoms[np.argmin(bottoms[:, 2])]
            J = pin.getFrameJacobian(self.model, self.data, frame, pin.LOCAL_WORLD_ALIGNED)
            J[:3] -= pin.skew(sole - placement.translation) @ J[3:]
            points.append(sole)
            jacobians.append(J)
        return np.array(points), jacobians

    def normal_forces(self, q, v, a, torque, jacobians) -> np.ndarray:
        """(nf,) N at a full state with acceleration; NaN at a leg whose torque is not finite."""
        tau = pin.rnea(self.model, self.data, q, v, a)
        tau[self.offset :] += joint_losses(self.robot, v[self.offset :]) - torque
        joints = max(len(leg) for leg in self.legs)
        felt, by_wrench = np.zeros((len(self.legs), joints)), np.zeros((len(self.legs), joints, 6))
        for i, (group, J, leg) in enumerate(zip(self.contacts, jacobians, self.legs)):
            rows = 3 if len(group) == 1 else 6
            by_wrench[i, : len(leg), :rows] = J[:rows, leg].T
            felt[i, : len(leg)] = tau[leg]
        felt[~np.isfinite(felt).all(axis=1)] = np.nan
        # a stretched leg hides the force along it: then the smallest wrench that explains the torques
        u, s, vt = np.linalg.svd(by_wrench, full_matrices=False)
        inverse = np.divide(1.0, s, out=np.zeros_like(s), where=s > STRETCHED * s[:, :1])
        return np.sum((felt[:, None] @ u)[:, 0] * inverse * vt[:, :, 2], axis=1)
