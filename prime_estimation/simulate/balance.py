# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""A two-legged controller with flat feet.

Centre of pressure -> accelerations of the whole body -> corner forces -> joint torques.

It sees the true state and the forces under the feet (it is not under test) but only the nominal
model: the weight and the place of a payload are learnt from the forces. Tasks in one weighted
least-squares problem for the acceleration, corner forces in the friction cone by non-negative least
squares of the base's equation of motion, `tau = rnea(q, v, a) + losses - J^T f`.
"""

from __future__ import annotations

from typing import Callable

import numpy as np
import pinocchio as pin

from ..control.posture import contact_jacobian, standing_posture
from ..errors import RobotError
from ..robot import GRAVITY, Robot
from .cone_forces import cone_forces
from .learnt_load import LearntLoad
from .motion import STEP, Command, Gait
from .stepping import GAIN, MARGIN, StepPlan
from .swing_foot import swing
from .world import rotation

WEIGHTS = {"stance": 30.0, "swing": 10.0, "com": 10.0, "trunk": 3.0, "posture": 0.3}
STIFFNESS = {
    "stance": (0.0, 30.0),
    "swing": (400.0, 40.0),
    "height": (80.0, 18.0),
    "trunk": (150.0, 25.0),
    "posture": (80.0, 18.0),
}
LIFT = 0.05  # m
LEG = 6  # joints of a leg that moves its sole in all directions
ROOM = 0.04  # m between the weight that rests and the ends of a sole: a sway takes 2 to 3 cm
LANDED = 5.0  # N on a foot that has come down


class BipedController:
    """Torques for a robot with two flat feet that stands, sways or steps on the spot.

    Call `torque` every `PERIOD` seconds.
    """

    def __init__(self, robot: Robot, gait: Gait, command: Callable[[float], Command]):
        self._groups = [
            [i for i, c in enumerate(robot.contacts) if c.foot == foot] for foot in robot.feet
        ]
        _check(robot, gait, self._groups)
        self.robot, self.gait, self.command = robot, gait, command
        self.model, self.data = robot.model, robot.model.createData()
        self.q_stand = standing_posture(robot)
        self.height = float(self.q_stand[2])
        self._frames = [self.model.getFrameId(c.frame) for c in robot.contacts]
        self._feet = [self._frames[group[0]] for group in self._groups]
        self._offsets = np.array([c.position for c in robot.contacts], float)
        # where forces are wanted: a foot that is loaded on its edge tips
        self._inner = self._offsets.copy()
        for group in self._groups:
            outwards = self._offsets[group] - self._offsets[group].mean(axis=0)
            self._inner[group, :2] -= MARGIN * np.sign(outwards[:, :2])
        self._update(self.q_stand, np.zeros(self.model.nv))
        self._sole = [
            self._points[g].mean(axis=0) - self.data.oMf[f].translation
            for g, f in zip(self._groups, self._feet)
        ]
        self._com = self.data.com[0].copy()
        soles = np.array([self._points[g].mean(axis=0)[:2] for g in self._groups])
        # the weight rests where the posture has it, but not on the edge of heel or toes
        lengths = [self._inner_points[g, 0] - s[0] for g, s in zip(self._groups, soles)]
        back, front = np.mean([[x.min() + ROOM, x.max() - ROOM] for x in lengths], axis=0)
        self._toes = np.array([np.clip(self._com[0] - soles[:, 0].mean(), back, front), 0.0])
        self.plan = StepPlan(gait, soles + self._toes, self._com[2])
        self._standing = [True, True]
        self._lift_off = [self.data.oMf[f].translation.copy() for f in self._feet]
        self._ground = float(self._lift_off[0][2])
        self._load = LearntLoad(robot.total_mass * GRAVITY, self.plan.rate)

    def torque(
        self, t: float, q: np.ndarray, v: np.ndarray, normal_force: np.ndarray
    ) -> np.ndarray:
        """Torques (nj,) [Nm] at time t (negative: stand still) for (q, v) and normal forces."""
        command = self.command(t) if t >= 0.0 else Command()
        self._update(q, v)
        self._load.learn(normal_force, self._points, self.data)
        self._schedule(t, normal_force)
        a, H = self._acceleration(t, command, q, v)
        M = pin.crba(self.model, self.data, q)[:6]
        M[:, :6] = np.triu(M[:, :6]) + np.triu(M[:, :6], 1).T
        base = pin.rnea(self.model, self.data, q, v, a)[:6] + self._load.base_wrench(self.data)
        corners = [
            i for foot, group in enumerate(self._groups) if self._standing[foot] for i in group
        ]
        J = np.vstack([self._jacobians[i] for i in corners])
        # cheapest change of a that the base's equation of motion asks for with forces f: da = H^-1
        # M' S (J' f - base)
        HM = np.linalg.solve(H, M.T)
        S = np.linalg.inv(M @ HM)
        force = cone_forces(J[:, :6].T, base, S)
        a = a + HM @ S @ (J[:, :6].T @ force - base)
        rate = v[6:]
        losses = self.robot.joint_damping * rate + self.robot.joint_friction * np.tanh(rate / 0.05)
        return pin.rnea(self.model, self.data, q, v, a)[6:] + losses - J[:, 6:].T @ force

    def _update(self, q: np.ndarray, v: np.ndarray) -> None:
        m, d = self.model, self.data
        pin.forwardKinematics(m, d, q, v, np.zeros(m.nv))
        pin.computeJointJacobians(m, d, q)
        pin.updateFramePlacements(m, d)
        self._J_com = pin.jacobianCenterOfMass(m, d, q).copy()
        pin.centerOfMass(m, d, q, v, np.zeros(m.nv))
        self._points = np.array([d.oMf[f] * o for f, o in zip(self._frames, self._offsets)])
        self._inner_points = np.array([d.oMf[f] * o for f, o in zip(self._frames, self._inner)])
        self._jacobians = [contact_jacobian(m, d, f, o) for f, o in zip(self._frames, self._inner)]

    # --- which foot stands ------------------------------------------------------------------------

    def _schedule(self, t: float, normal_force: np.ndarray) -> None:
        support, s = self.plan.stance(t)
        for foot, group in enumerate(self._groups):
            swings = support >= 0 and foot != support and s >= 0.0
            load = normal_force[group].sum()
            place = self.data.oMf[self._feet[foot]].translation
            if all(self._standing) and swings and s < 0.5:
                self._standing[foot], self._lift_off[foot] = False, place.copy()
                self.plan.places[foot] = self.plan.nominal[foot]
            elif not self._standing[foot] and load > LANDED and (not swings or s > 0.7):
                self._standing[foot] = True
                self.plan.places[foot] = (place + self._sole[foot])[:2] + self._toes

    # --- wanted acceleration ----------------------------------------------------------------------

    def _acceleration(
        self, t: float, command: Command, q: np.ndarray, v: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Acceleration (nv,) that fits all tasks best, and the curvature (nv, nv) of their cost."""
        rows, wanted = [], []

        def task(name: str, J: np.ndarray, a: np.ndarray) -> None:
            rows.append(WEIGHTS[name] * J)
            wanted.append(WEIGHTS[name] * a)

        task("com", self._J_com, self._com_acceleration(t, command) - self.data.acom[0])
        for foot, frame in enumerate(self._feet):
            J = pin.getFrameJacobian(self.model, self.data, frame, pin.LOCAL_WORLD_ALIGNED)
            drift = pin.getFrameClassicalAcceleration(
                self.model, self.data, frame, pin.LOCAL_WORLD_ALIGNED
            ).vector
            if self._standing[foot]:
                task("stance", J, -STIFFNESS["stance"][1] * (J @ v) - drift)
            else:
                task("swing", J, self._swing(foot, t, command, J @ v) - drift)
        R = rotation(q[3:7])
        tilt = pin.log3(pin.rpy.rpyToMatrix(*command.body[3:]) @ R.T)
        k, d = STIFFNESS["trunk"]
        trunk = np.zeros((3, self.model.nv))
        trunk[:, 3:6] = R
        task(
            "trunk",
            trunk,
            command.body_acceleration[3:] + k * tilt + d * (command.body_rate[3:] - R @ v[3:6]),
        )
        k, d = STIFFNESS["posture"]
        task("posture", np.eye(self.model.nv)[6:], k * (self.q_stand[7:] - q[7:]) - d * v[6:])
        A, b = np.vstack(rows), np.concatenate(wanted)
        H = A.T @ A + 1e-6 * np.eye(self.model.nv)
        return np.linalg.solve(H, A.T @ b), H

    def _com_acceleration(self, t: float, command: Command) -> np.ndarray:
        """Acceleration (3,) of the centre of mass.

        It takes a centre of pressure that brings the divergent component back to its plan.
        """
        com, velocity = self.data.com[0], self.data.vcom[0]
        planned, xi_planned = self.plan.pressure(t, command)
        xi = self._xi()
        pressure = planned + (1.0 + GAIN) * (xi - xi_planned)
        corners = self._inner_points[
            [i for g, standing in zip(self._groups, self._standing) if standing for i in g], :2
        ]
        pressure = np.clip(pressure, corners.min(axis=0), corners.max(axis=0))
        horizontal = self.plan.rate**2 * (com[:2] + self._load.offset - pressure)
        k, d = STIFFNESS["height"]
        vertical = command.body_acceleration[2] + d * (command.body_rate[2] - velocity[2])
        vertical += k * (self._com[2] + command.body[2] - com[2])
        return np.array([*horizontal, vertical])

    def _xi(self) -> np.ndarray:
        return self.data.com[0][:2] + self._load.offset + self.data.vcom[0][:2] / self.plan.rate

    def _swing(self, foot: int, t: float, command: Command, velocity: np.ndarray) -> np.ndarray:
        """Acceleration (6,) of a foot in the air: quintic to its foothold with a bump, level.

        Overdue, it goes on downwards.
        """
        support, s = self.plan.stance(t)
        on_time = support >= 0 and foot != support and s >= 0.0
        s, duration = (s if on_time else 1.0), self.plan.swing_time()
        xy = self.plan.foothold(foot, t, (1.0 - s) * duration, self._xi(), command)
        frame = self.data.oMf[self._feet[foot]]
        target = np.array([*(xy - self._toes - self._sole[foot][:2]), self._ground - 0.012])
        start = self._lift_off[foot]
        position, wanted, a = swing(s, duration, start, target, LIFT)
        if not on_time:
            position[2], wanted[2] = frame.translation[2], -0.3
        k, d = STIFFNESS["swing"]
        linear = a + k * (position - frame.translation) + d * (wanted - velocity[:3])
        return np.concatenate([linear, -k * pin.log3(frame.rotation) - d * velocity[3:]])


def _check(robot: Robot, gait: Gait, groups: list[list[int]]) -> None:
    """RobotError where a robot's feet, with these contacts, cannot carry it through a gait."""
    if len(groups) != 2 or min(map(len, groups)) < 3:
        raise RobotError(
            f"{robot.name}: balancing on two feet needs three or more contacts under each",
            robot,
        )
    frames = [robot.model.getFrameId(robot.contacts[group[0]].frame) for group in groups]
    legs = [robot.joints_to(robot.model.frames[frame].parentJoint) for frame in frames]
    steps = min(map(len, legs)) >= LEG
    if gait.period and gait is not STEP:
        able = "stand, sway, step" if steps else "stand, sway"
        raise RobotError(
            f"{robot.name}: trotting and hopping need four point feet; on two flat ones: {able}",
            robot,
        )
    if gait.period and not steps:
        raise RobotError(
            f"{robot.name}: stepping needs legs of {LEG} joints, which lay a sole flat wherever "
            "the hip is (its ankles do not roll); it does: stand, sway",
            robot,
        )
