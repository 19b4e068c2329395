# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Which feet carry load, judged from the legs alone: what the estimator needs to place the ground, without contact sensors."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from .robot import Robot


class LegForces:
    """Foot kinematics and the force at each foot that the torques of its own leg imply.

    `J_leg^T f = tau_rnea - tau` for the joints of the leg: inverse dynamics with the nominal inertia, which is good for a leg,
    whatever the trunk carries. A foot with several contact spheres is taken at their mean.
    """

    def __init__(self, robot: Robot):
        self.robot, self.model = robot, robot.model
        self.data = self.model.createData()
        self.offset = self.model.nv - robot.nj
        self.weight = robot.total_mass * 9.81
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
        rates = np.array([J @ v for J in jacobians])
        if torque is None:
            load = np.exp(-(points[:, 2] - points[:, 2].min()) / 0.005)
        else:
            normal = np.array([f[2] for f in self._forces(full, v, np.zeros_like(v), torque, jacobians)])
            load = np.clip(normal / (self.weight / len(points)), 0.0, 1.0)
        return load, points, rates

    def loads(self, q: np.ndarray, v: np.ndarray, a: np.ndarray, torque: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Normal force (nf,) [N] and height of the sole (nf,) [m] at a full state with acceleration."""
        points, jacobians = self._feet(q)
        return np.array([f[2] for f in self._forces(q, v, a, torque, jacobians)]), points[:, 2]

    def _feet(self, q: np.ndarray):
        pin.computeJointJacobians(self.model, self.data, q)
        pin.updateFramePlacements(self.model, self.data)
        points, jacobians = [], []
        for group in self.contacts:
            frame = self.model.getFrameId(group[0].frame)
            placement = self.data.oMf[frame]
            centre = placement.act(np.mean([c.position for c in group], axis=0)) - [0.0, 0.0, group[0].radius]
            J = pin.getFrameJacobian(self.model, self.data, frame, pin.LOCAL_WORLD_ALIGNED)
            points.append(centre)
            jacobians.append(J[:3] - pin.skew(centre - placement.translation) @ J[3:])
        return np.array(points), jacobians

    def _forces(self, q, v, a, torque, jacobians):
        tau = pin.rnea(self.model, self.data, q, v, a)
        rate = v[self.offset :]
        tau[self.offset :] += self.robot.joint_damping * rate + self.robot.joint_friction * rate / np.sqrt(rate**2 + 0.05**2) - torque
        return [np.linalg.lstsq(J[:, leg].T, tau[leg], rcond=None)[0] for J, leg in zip(jacobians, self.legs)]


class Stance:
    """Load flag of each foot with hysteresis: on above `ON` newtons, off after `RELEASE_NODES` nodes below `OFF`."""

    ON, OFF, RELEASE_NODES = 15.0, 5.0, 3

    def __init__(self, feet: int):
        self.loaded = np.zeros(feet, bool)
        self._below = np.zeros(feet, int)

    def update(self, normal: np.ndarray) -> np.ndarray:
        """Take normal forces (nf,) [N]; returns which feet have just touched down."""
        touchdown = ~self.loaded & (normal > self.ON)
        self._below = np.where(normal < self.OFF, self._below + 1, 0)
        self.loaded = (self.loaded | touchdown) & (self._below < self.RELEASE_NODES)
        return touchdown
