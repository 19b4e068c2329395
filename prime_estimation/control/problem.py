# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""A small receding-horizon problem for a quadruped that stands or trots on the spot.

Ground forces on one rigid body, by Crocoddyl.
"""

from __future__ import annotations

import crocoddyl
import numpy as np
import pinocchio as pin

from ..errors import ConfigError, RobotError
from ..robot import GRAVITY, Robot

STEP = 0.025  # s, between nodes
NODES = 12
HALF_STEP = 0.25  # s, that a diagonal pair of a trot stands
FRICTION = 0.6
MAX_FORCE = 400.0  # N, normal, per foot
GAITS = ("stand", "trot")
_WEIGHTS = np.array([200.0, 200.0, 2000.0, 300.0, 300.0, 100.0, 20.0, 20.0, 50.0, 5.0, 5.0, 2.0])
_FORCE_WEIGHT, _CONE_WEIGHT = 1e-5, 1e-2


class CentroidalAction(crocoddyl.ActionModelAbstract):
    """One node of a rigid body under foot forces, world axes, small tilt.

    x = (com, roll-pitch-yaw, velocity, angular velocity), u = forces of the four feet. `v+ = v + dt
    (sum f / m + g)`, `w+ = w + dt I^-1 sum (r_i - com) x f_i`, `com+ = com + dt v+`, `rpy+ = rpy +
    dt w+`.
    """

    def __init__(
        self,
        mass: float,
        inertia: np.ndarray,
        feet: np.ndarray,
        stance: np.ndarray,
        reference: np.ndarray,
    ):
        crocoddyl.ActionModelAbstract.__init__(self, crocoddyl.StateVector(12), 12, 12)
        self.mass, self.inverse, self.feet, self.reference = (
            mass,
            np.linalg.inv(inertia),
            feet,
            reference,
        )
        lower, upper = np.tile([-np.inf, -np.inf, 0.0], 4), np.tile([np.inf, np.inf, MAX_FORCE], 4)
        swing = np.repeat(~stance, 3)
        lower[swing] = upper[swing] = 0.0
        self.u_lb, self.u_ub = lower, upper
        share = mass * GRAVITY / max(1, stance.sum())
        self.force_reference = np.where(swing, 0.0, np.tile([0.0, 0.0, share], 4))

    def calc(self, data, x, u=None) -> None:
        """Next state and cost."""
        e = x - self.reference
        data.cost = 0.5 * e @ (_WEIGHTS * e)
        if u is None:
            data.xnext = x
            return
        f = u.reshape(4, 3)
        v = x[6:9] + STEP * (f.sum(axis=0) / self.mass + np.array([0.0, 0.0, -GRAVITY]))
        w = x[9:] + STEP * self.inverse @ np.cross(self.feet - x[:3], f).sum(axis=0)
        data.xnext = np.concatenate([x[:3] + STEP * v, x[3:6] + STEP * w, v, w])
        du = u - self.force_reference
        excess = self._excess(f)
        data.cost += 0.5 * _FORCE_WEIGHT * du @ du + 0.5 * _CONE_WEIGHT * np.sum(excess**2)

    def calcDiff(self, data, x, u=None) -> None:  # noqa: N802 - Crocoddyl's name
        """Derivatives of `calc`."""
        data.Lx, data.Lxx = _WEIGHTS * (x - self.reference), np.diag(_WEIGHTS)
        if u is None:
            return
        f = u.reshape(4, 3)
        dv_du = np.tile(np.eye(3), 4) * STEP / self.mass
        dw_du = STEP * self.inverse @ np.hstack([pin.skew(r) for r in self.feet - x[:3]])
        dw_dp = STEP * self.inverse @ pin.skew(f.sum(axis=0))
        fx, eye = np.eye(12), np.eye(3)
        fx[:3, 6:9] = fx[3:6, 9:] = STEP * eye
        fx[9:, :3], fx[3:6, :3] = dw_dp, STEP * dw_dp
        data.Fx, data.Fu = fx, np.vstack([STEP * dv_du, STEP * dw_du, dv_du, dw_du])
        excess = self._excess(f)
        signs = np.array(
            [
                [1.0, 0.0, -FRICTION],
                [-1.0, 0.0, -FRICTION],
                [0.0, 1.0, -FRICTION],
                [0.0, -1.0, -FRICTION],
            ]
        )
        lu, luu = _FORCE_WEIGHT * (u - self.force_reference), _FORCE_WEIGHT * np.eye(12)
        for i in range(4):
            active = signs[excess[i] > 0.0]
            lu[3 * i : 3 * i + 3] += _CONE_WEIGHT * active.T @ excess[i][excess[i] > 0.0]
            luu[3 * i : 3 * i + 3, 3 * i : 3 * i + 3] += _CONE_WEIGHT * active.T @ active
        data.Lu, data.Luu = lu, luu

    @staticmethod
    def _excess(f: np.ndarray) -> np.ndarray:
        """(4, 4) by how much each foot's force violates the sides of its friction pyramid [N]."""
        tangential = np.stack([f[:, 0], -f[:, 0], f[:, 1], -f[:, 1]], axis=1)
        return np.maximum(tangential - FRICTION * f[:, 2:], 0.0)


def check(robot: Robot, gait: str) -> None:
    """PrimeError where the problem is not for this robot, or has no such gait."""
    if len(robot.feet) != 4 or not robot.config.floating_base:
        raise RobotError(
            f"{robot.name}: the example MPC is for quadrupeds; it has feet {', '.join(robot.feet) or 'none'}",
            robot.feet,
        )
    if gait not in GAITS:
        raise ConfigError(f"gait must be one of {', '.join(GAITS)}, got '{gait}'", gait)


class MpcProblem:
    """Plans ground forces for a posture and turns them into joint torques.

    Mass, centre of mass and inertia are read from `robot.model` at every solve: who writes
    `model.inertias` between two solves changes the next one.

    Args:
        robot: quadruped.
        posture: (nq,) standing posture to keep, feet on the ground.
        gait: `stand`, or `trot` on the spot.

    Attributes:
        forces, points: (4, 3) planned force of the ground on each foot (order of `robot.feet`) at
            present, world axes [N], and where [m].
    """

    def __init__(self, robot: Robot, posture: np.ndarray, gait: str = "stand"):
        check(robot, gait)
        self.robot, self.model, self.posture, self.gait = (
            robot,
            robot.model,
            np.array(posture, float),
            gait,
        )
        self._data = self.model.createData()
        first = {c.foot: c for c in reversed(robot.contacts)}
        self._frames = [self.model.getFrameId(first[f].frame) for f in robot.feet]
        self._radius = np.array([first[f].radius for f in robot.feet])
        self._guess: tuple[list, list] | None = None
        self.forces, self.points = np.zeros((4, 3)), np.zeros((4, 3))

    def solve(self, q: np.ndarray, v: np.ndarray, time: float, iterations: int = 3) -> np.ndarray:
        """Joint torques (nj,) [Nm] for the measured state at a time [s] of the gait."""
        feet, jacobians, mass, inertia, com, com_velocity = self._kinematics(q, v)
        rotation = pin.Quaternion(q[3:7]).toRotationMatrix()
        x = np.concatenate([com, pin.rpy.matrixToRpy(rotation), com_velocity, rotation @ v[3:6]])
        reference = np.concatenate(
            [pin.centerOfMass(self.model, self._data, self.posture), np.zeros(9)]
        )
        reference[5] = x[5]
        nodes = [
            CentroidalAction(mass, inertia, feet, self._stance(time + k * STEP), reference)
            for k in range(NODES + 1)
        ]
        problem = crocoddyl.ShootingProblem(x, nodes[:-1], nodes[-1])
        solver = crocoddyl.SolverBoxFDDP(problem)
        xs, us = self._guess or ([x] * (NODES + 1), [n.force_reference for n in nodes[:-1]])
        us = [np.clip(u, n.u_lb, n.u_ub) for u, n in zip(us, nodes)]
        solver.solve([x, *xs[1:]], us, iterations, False)
        self._guess = ([*list(solver.xs)[1:], solver.xs[-1]], [*list(solver.us)[1:], solver.us[-1]])
        self.forces, self.points = np.array(solver.us[0]).reshape(4, 3), feet
        effort = (
            pin.nonLinearEffects(self.model, self._data, q, v) - jacobians.T @ self.forces.ravel()
        )
        return effort[6:]

    def _stance(self, time: float) -> np.ndarray:
        if self.gait == "stand":
            return np.ones(4, bool)
        return np.array([True, False, False, True]) ^ bool(int(time / HALF_STEP) % 2)

    def _kinematics(self, q: np.ndarray, v: np.ndarray) -> tuple:
        model, data = self.model, self._data
        pin.ccrba(model, data, q, v)
        inertia = data.Ig.inertia.copy()
        com = pin.centerOfMass(model, data, q, v).copy()
        com_velocity = data.vcom[0].copy()
        pin.computeJointJacobians(model, data, q)
        pin.updateFramePlacements(model, data)
        jacobians = np.vstack(
            [
                pin.getFrameJacobian(model, data, i, pin.LOCAL_WORLD_ALIGNED)[:3]
                for i in self._frames
            ]
        )
        feet = np.array([data.oMf[i].translation for i in self._frames])
        feet[:, 2] -= self._radius
        return feet, jacobians, float(pin.computeTotalMass(model)), inertia, com, com_velocity
