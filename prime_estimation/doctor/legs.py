# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Motion and forces of the feet in the base's axes, from joints, torques and IMU.

With gravity left out of the model the base accelerates by its specific force: inverse dynamics then
hold in whatever attitude the robot is, and none has to be known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from ..joint_friction import joint_losses
from ..robot import Robot
from .signals import STEP, Signals

_TIPTOE = 0.5  # sine of the tilt at which a flat foot may still touch
_STRETCHED = 1e-3  # ratio of singular values below which a leg hides a direction of the force


@dataclass(frozen=True)
class Foot:
    """A foot: a sphere, or the middle of several.

    Attributes:
        joint: that carries it.
        centre: (3,) there [m]; `radius` [m].
        columns: of its own joints among the velocities of the model.
        size: largest distance of a sphere from the centre [m]; 0: there is one.
    """

    joint: int
    centre: np.ndarray
    radius: float
    columns: np.ndarray
    size: float

    @property
    def flat(self) -> bool:
        """It transmits moments, too."""
        return self.size > 0.0


@dataclass(frozen=True)
class Motion:
    """Feet and base at some instants, in axes of the base.

    Attributes:
        up: (n, 3) unit vector.
        rate, turn, force: (n, 3) angular velocity [rad/s] and acceleration [rad/s2], and specific
            force [m/s2] of the base origin.
        point, speed: (n, nf, 3) contact points [m], and the speed of the material there against
            the base's origin, the turning of the base included [m/s].
        load: (n, nf, 3) force on the feet by the ground [N], NaN without torque.
        needed: (n, 6) force and moment on the base origin that the motion asks for [N, Nm].
        residual: (n, 6) what the feet do not give of it.
    """

    up: np.ndarray
    rate: np.ndarray
    turn: np.ndarray
    force: np.ndarray
    point: np.ndarray
    speed: np.ndarray
    load: np.ndarray
    needed: np.ndarray
    residual: np.ndarray

    @property
    def height(self) -> np.ndarray:
        """(n, nf) of the contact points above the lowest one [m]."""
        z = np.einsum("nfk,nk->nf", self.point, self.up)
        return z - z.min(axis=1, keepdims=True)


class Legs:
    """Kinematics and inverse dynamics of a robot on point or flat feet.

    Attributes:
        feet: in the order of `Robot.feet`.
    """

    def __init__(self, robot: Robot):
        self.robot, self.model = robot, robot.model.copy()
        self.model.gravity.linear = np.zeros(3)
        self._data = self.model.createData()
        placed = [self._place(foot) for foot in robot.feet]
        supports = [set(self.model.supports[joint]) for joint, *_ in placed]
        self.feet = []
        for (joint, centre, radius, size), own in zip(placed, supports):
            alone = [j for j in sorted(own) if sum(j in other for other in supports) == 1]
            columns = [self.model.joints[j].idx_v for j in alone if j in robot.joint_ids]
            self.feet.append(Foot(joint, centre, radius, np.array(columns, int), size))

    def _place(self, foot: str):
        contacts = [c for c in self.robot.contacts if c.foot == foot]
        frame = self.model.frames[self.model.getFrameId(contacts[0].frame)]
        centres = [frame.placement.act(np.array(c.position, float)) for c in contacts]
        radius = float(np.mean([c.radius for c in contacts]))
        middle = np.mean(centres, axis=0)
        size = float(max(np.linalg.norm(c - middle) for c in centres)) if len(centres) > 1 else 0.0
        return frame.parentJoint, middle, radius, size

    def lifted(self, motion: "Motion", height: float) -> np.ndarray:
        """(n, nf) feet that are in the air, their toes too, by more than `height` [m]."""
        tilted = _TIPTOE * np.array([foot.size for foot in self.feet])
        return motion.height > height + tilted

    def joints_of(self, foot: int) -> np.ndarray:
        """Indices of a foot's own joints among the joint signals."""
        return self.feet[foot].columns - (self.model.nv - self.robot.nj)

    @property
    def alike(self) -> bool:
        """Every leg has equally many joints of its own."""
        return len({len(foot.columns) for foot in self.feet}) == 1

    @property
    def places(self) -> list[np.ndarray]:
        """Joint signals in one place of every leg, as all hips; none where legs are not alike."""
        if not self.alike:
            return []
        return list(np.array([self.joints_of(f) for f in range(len(self.feet))]).T)

    def at(self, signals: Signals, rows: np.ndarray) -> Motion:
        """Motion at some rows of the signals."""
        rate, turn, force, up = self._base(signals, rows)
        n, nf = len(rows), len(self.feet)
        v = np.hstack([np.zeros((n, 3)), rate, signals.velocity[rows]])
        a = np.hstack([force, turn, signals.acceleration[rows]])
        tau, placements, jacobians = self._dynamics(signals.position[rows], v, a)
        needed = tau[:, :6]
        point, speed, load = np.zeros((n, nf, 3)), np.zeros((n, nf, 3)), np.full((n, nf, 3), np.nan)
        residual, torque = needed.copy(), None
        if signals.torque is not None:
            losses = joint_losses(self.robot, signals.velocity[rows])
            torque = signals.torque[rows] - losses
        for f, foot in enumerate(self.feet):
            lever = placements[:, f, :, :3] @ foot.centre - foot.radius * up
            point[:, f] = placements[:, f, :, 3] + lever
            # the material at the contact point under the sphere
            jacobian = jacobians[:, f]
            jacobian[:, :3] -= np.cross(lever[:, None], jacobian[:, 3:], axisb=1, axisc=1)
            speed[:, f] = np.einsum("nij,nj->ni", jacobian[:, :3], v)
            if torque is not None:
                lack = tau[:, foot.columns] - torque[:, self.joints_of(f)]
                wrench = _wrench(jacobian[:, :, foot.columns], lack, foot.flat)
                load[:, f] = wrench[:, :3]
                held = jacobian[:, : wrench.shape[1], :6]
                residual -= np.einsum("nij,ni->nj", held, wrench)
        return Motion(up, rate, turn, force, point, speed, load, needed, residual)

    def _dynamics(
        self, positions: np.ndarray, velocities: np.ndarray, accelerations: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Generalized forces (n, nv), poses (n, nf, 3, 4) of the feet's joints, Jacobians there."""
        model, data, n, nf = self.model, self._data, len(positions), len(self.feet)
        tau, poses = np.zeros((n, model.nv)), np.zeros((n, nf, 3, 4))
        jacobians = np.zeros((n, nf, 6, model.nv))
        q = pin.neutral(model)
        for k in range(n):
            q[7:] = self.robot.coordinates(positions[k])
            tau[k] = pin.rnea(model, data, q, velocities[k], accelerations[k])
            pin.computeJointJacobians(model, data, q)
            for f, foot in enumerate(self.feet):
                placement = data.oMi[foot.joint]
                poses[k, f, :, :3], poses[k, f, :, 3] = placement.rotation, placement.translation
                jacobians[k, f] = pin.getJointJacobian(
                    model, data, foot.joint, pin.LOCAL_WORLD_ALIGNED
                )
        return tau, poses, jacobians

    def _base(self, signals: Signals, rows: np.ndarray):
        """Rate, angular acceleration, specific force of the base origin, and up (n, 3) each."""
        robot = self.robot
        placement, up = robot.imu_placement, signals.up
        if robot.imu_joint == 1:
            turned = placement.rotation
            rate = signals.gyro @ turned.T
            turn = np.gradient(rate, STEP, axis=0)
            rate, turn = rate[rows], turn[rows]
            lever = placement.translation
            swing = np.cross(turn, lever) + np.cross(rate, np.cross(rate, lever))
            return rate, turn, signals.force[rows] @ turned.T - swing, up[rows] @ turned.T
        return self._base_by_link(signals, rows, up)

    def _base_by_link(self, signals: Signals, rows: np.ndarray, up: np.ndarray):
        """The same where joints lie between base and IMU."""
        model, data = self.model, self._data
        frame, nj = self.robot.imu_frame_id, self.robot.nj
        near = np.unique(np.clip(rows[:, None] + np.array([-1, 0, 1]), 0, len(signals.t) - 1))
        rates, turns = np.zeros((len(signals.t), 3)), np.zeros((len(signals.t), 3, 3))
        q, v, a = pin.neutral(model), np.zeros(model.nv), np.zeros(model.nv)
        for row in near:
            q[7:] = self.robot.coordinates(signals.position[row])
            v[:] = 0.0
            v[-nj:] = signals.velocity[row]
            pin.forwardKinematics(model, data, q, v)
            turns[row] = pin.updateFramePlacement(model, data, frame).rotation
            relative = pin.getFrameVelocity(model, data, frame, pin.LOCAL).angular
            rates[row] = turns[row] @ (signals.gyro[row] - relative)
        turn = (rates[np.clip(rows + 1, 0, len(rates) - 1)] - rates[rows - 1]) / (2.0 * STEP)
        force = np.zeros((len(rows), 3))
        for k, row in enumerate(rows):
            q[7:] = self.robot.coordinates(signals.position[row])
            v[3:6], v[-nj:] = rates[row], signals.velocity[row]
            a[3:6], a[-nj:] = turn[k], signals.acceleration[row]
            pin.forwardKinematics(model, data, q, v, a)
            pin.updateFramePlacement(model, data, frame)
            own = pin.getFrameClassicalAcceleration(model, data, frame, pin.LOCAL).linear
            force[k] = turns[row] @ (signals.force[row] - own)
        level = np.einsum("nij,nj->ni", turns[rows], up[rows])
        return rates[rows], turn, force, level


def _wrench(jacobian: np.ndarray, lack: np.ndarray, flat: bool) -> np.ndarray:
    """Smallest force, or force and moment of a flat foot, `J^T w = lack`, (n, 3) or (n, 6)."""
    used = jacobian if flat else jacobian[:, :3]
    inverse = np.linalg.pinv(np.swapaxes(used, 1, 2), rcond=_STRETCHED)
    return np.einsum("nij,nj->ni", inverse, lack)
