# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Horizon: Crocoddyl's shooting problem of the whole body, re-targeted in place at every solve."""

from __future__ import annotations

from dataclasses import dataclass

import crocoddyl
import numpy as np
import pinocchio as pin

from .._core import (
    ActionWholeBody,
    SolverRecedingHorizon,
    StateParameters,
    WholeBody,
    WholeBodyWeights,
)
from ..robot import GRAVITY, Robot
from .feet import FeetPlan
from .parameters import ControlConfig
from .posture import contact_jacobian
from .torque_limits import torque_limits

JOINT_MARGIN = 0.05  # rad, to the end of a joint's range


@dataclass
class Targets:
    """Targets that the nodes shall track; arrays over nodes, the last one included."""

    position: np.ndarray  # (n, 3) of the base, world
    yaw: np.ndarray  # (n,)
    velocity: np.ndarray  # (n, 3) of the base, world
    yaw_rate: float
    feet: FeetPlan


class Horizon:
    """The whole-body problem over `nodes` steps and its solver.

    Args:
        robot: floating base, contacts.
        posture: (nq,) nominal standing posture.
        config: horizon and weights.
    """

    def __init__(self, robot: Robot, posture: np.ndarray, config: ControlConfig):
        self.config, self.posture = config, posture
        self.model = robot.model.copy()
        self._data = self.model.createData()
        self._frames = [self.model.getFrameId(c.frame) for c in robot.contacts]
        self._offsets = [np.array(c.position, float) for c in robot.contacts]
        joints = [int(self.model.frames[f].parentJoint) for f in self._frames]
        points = [
            self.model.frames[f].placement.act(o) for f, o in zip(self._frames, self._offsets)
        ]
        radii = np.array([c.radius for c in robot.contacts])
        self.body = WholeBody(self.model, joints, np.array(points), radii, config.compliance)
        state = StateParameters(self.model, 0)
        self.weights = _weights(robot, config)
        self.nodes = [
            ActionWholeBody(state, self.body, self.weights, config.step)
            for _ in range(config.nodes)
        ]
        last = ActionWholeBody(state, self.body, self.weights, config.terminal * config.step)
        problem = crocoddyl.ShootingProblem(
            np.r_[posture, np.zeros(self.model.nv)], self.nodes, last
        )
        problem.nthreads = 1
        self.nodes.append(last)
        self.problem, self.solver = problem, SolverRecedingHorizon(problem)
        self._carrying: dict[tuple, tuple[np.ndarray, np.ndarray]] = {}

    def take_inertias(self) -> None:
        """Use the inertias that `model` has now."""
        self.body.take_inertias(self.model)
        self._carrying.clear()

    def aim(self, targets: Targets) -> None:
        """Give every node what it shall track."""
        none = np.zeros(3)
        rest = np.zeros(len(self.posture) - 7)
        for k, node in enumerate(self.nodes):
            stands = targets.feet.stands[k]
            force, torque = self.carrying(stands)
            c, s = np.cos(targets.yaw[k]), np.sin(targets.yaw[k])
            rotation = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
            none[2] = targets.yaw_rate
            node.target.set_base(targets.position[k], rotation, targets.velocity[k], none)
            node.target.set_joints(self.posture[7:], rest, torque)
            node.target.set_feet(
                stands.tolist(),
                force,
                targets.feet.position[k],
                targets.feet.velocity[k],
                targets.feet.weight[k],
            )

    def first_forces(self) -> tuple[np.ndarray, np.ndarray]:
        """Ground forces (contacts, 3) [N] in the last plan's first node, and where [m], world."""
        node, data = self.nodes[0], self.problem.runningDatas[0]
        return node.forces(data), node.points(data)

    def carrying(self, stands: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Forces (contacts, 3), in equal shares, and joint torques (nj,) that carry the posture."""
        key = tuple(stands)
        if key not in self._carrying:
            model, data, q = self.model, self._data, self.posture
            pin.computeJointJacobians(model, data, q)
            pin.updateFramePlacements(model, data)
            torque = pin.computeGeneralizedGravity(model, data, q).copy()
            force = np.zeros((len(self._frames), 3))
            if any(stands):
                force[stands, 2] = pin.computeTotalMass(model) * GRAVITY / np.count_nonzero(stands)
            for frame, offset, f in zip(self._frames, self._offsets, force):
                torque -= contact_jacobian(model, data, frame, offset).T @ f
            self._carrying[key] = force, torque[6:]
        return self._carrying[key]


def _weights(robot: Robot, config: ControlConfig) -> WholeBodyWeights:
    cost, w = config.weights, WholeBodyWeights(robot.nj)
    ones = np.ones(robot.nj)
    w.position = np.array([cost.position, cost.position, cost.height])
    w.orientation = np.array([cost.tilt, cost.tilt, cost.yaw])
    w.linear_velocity = np.array([cost.velocity, cost.velocity, cost.vertical_velocity])
    w.angular_velocity = np.array([cost.tilt_rate, cost.tilt_rate, cost.yaw_rate])
    w.joint_position, w.joint_velocity = cost.joint_position * ones, cost.joint_velocity * ones
    w.torque = cost.torque * ones
    w.torque_limit = cost.torque_limit
    w.joint_limit = cost.joint_limit
    w.force = cost.force * np.ones(3)
    w.cone, w.friction, w.smallest_force = cost.cone, config.friction, config.smallest_force
    w.foot_position = cost.foot_position * np.ones(3)
    w.foot_velocity = cost.foot_velocity * np.ones(3)
    w.largest_torque = torque_limits(robot)
    low, high = robot.joint_range
    w.lowest_position, w.highest_position = low + JOINT_MARGIN, high - JOINT_MARGIN
    return w
