# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Which feet carry load, judged from the legs alone: what the estimator needs to place the ground, without contact sensors."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from .robot import Robot

CLEARANCE = 0.1  # of the feet of a robot that hangs or lies, above a ground that is not known [m]
GRAVITY = 9.81  # m/s^2
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

    def _own_joints(self, frame: str) -> list[int]:
        joint = self.model.frames[self.model.getFrameId(frame)].parentJoint
        return [self.model.joints[j].idx_v for j in self.model.supports[joint] if j in self.robot.joint_ids]

    def kinematics(self, R_world_base: np.ndarray, q: np.ndarray, dq: np.ndarray, torque: np.ndarray | None):
        """Static guess, base at the origin: load share (nf,) in [0, 1], sole points (nf, 3) [m] and their rates (nf, 3) [m/s].

        World axes, relative to the base. Without torque the lowest feet are taken to carry the load.
        """
        full = np.concatenate([np.zeros(3), pin.Quaternion(R_world_base).coeffs(), q])
        v = np.concatenate([np.zeros(6), dq])
        points, jacobians = self._feet(full)
        rates = np.array([J[:3] @ v for J in jacobians])
        if torque is None:
            load = np.exp(-(points[:, 2] - points[:, 2].min()) / 0.005)
        else:
            normal = self._normal_forces(full, v, np.zeros_like(v), torque, jacobians)
            load = np.clip(normal / (self.weight / len(points)), 0.0, 1.0)
        return load, points, rates

    def loads(self, q: np.ndarray, v: np.ndarray, a: np.ndarray, torque: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Normal force (nf,) [N], height of the sole (nf,) [m] and its rate (nf,) [m/s] at a full state with acceleration."""
        points, jacobians = self._feet(q)
        normal = self._normal_forces(q, v, a, torque, jacobians)
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
        normal = self._normal_forces(full, v, np.zeros_like(v), torque, self._feet(full)[1])
        return felt / GRAVITY - float(normal.sum()) / self.weight

    def _feet(self, q: np.ndarray):
        """Soles (nf, 3) and Jacobians (6, nv) of the feet at their soles, world axes."""
        pin.computeJointJacobians(self.model, self.data, q)
        pin.updateFramePlacements(self.model, self.data)
        points, jacobians = [], []
        for group in self.contacts:
            frame = self.model.getFrameId(group[0].frame)
            placement = self.data.oMf[frame]
            spheres = [placement.act(np.array(c.position, float)) - [0.0, 0.0, c.radius] for c in group]
            sole = min(spheres, key=lambda p: p[2])
            J = pin.getFrameJacobian(self.model, self.data, frame, pin.LOCAL_WORLD_ALIGNED)
            J[:3] -= pin.skew(sole - placement.translation) @ J[3:]
            points.append(sole)
            jacobians.append(J)
        return np.array(points), jacobians

    def _normal_forces(self, q, v, a, torque, jacobians) -> np.ndarray:
        tau = pin.rnea(self.model, self.data, q, v, a)
        rate = v[self.offset :]
        tau[self.offset :] += self.robot.joint_damping * rate + self.robot.joint_friction * rate / np.sqrt(rate**2 + 0.05**2) - torque
        normal = []
        for group, J, leg in zip(self.contacts, jacobians, self.legs):
            rows = 3 if len(group) == 1 else 6
            # a stretched leg hides the force along it: then the smallest wrench that explains the torques
            normal.append(np.linalg.lstsq(J[:rows, leg].T, tau[leg], rcond=STRETCHED)[0][2])
        return np.array(normal)


class Stance:
    """Load flag of each foot with hysteresis: on above `on` newtons, off after `RELEASE_NODES` nodes below a third of it.

    Args:
        feet: their number.
        weight: of the robot [N]; the noise of leg forces grows with it.
    """

    RELEASE_NODES = 3

    def __init__(self, feet: int, weight: float):
        self.loaded = np.zeros(feet, bool)
        self.on = max(15.0, 0.08 * weight)
        self._below = np.zeros(feet, int)

    def update(self, normal: np.ndarray, caution: float = 1.0) -> np.ndarray:
        """Take normal forces (nf,) [N]; returns which feet have just touched down. `caution`: factor on the load that it takes."""
        touchdown = ~self.loaded & (normal > caution * self.on)
        self._below = np.where(normal < self.on / 3.0, self._below + 1, 0)
        self.loaded = (self.loaded | touchdown) & (self._below < self.RELEASE_NODES)
        return touchdown
