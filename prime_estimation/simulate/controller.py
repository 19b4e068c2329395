# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""A legged controller that needs no training: trunk acceleration, forces of feet, joint torques.

It sees the true state (it is not under test) but only the nominal model: a payload is met by
integral action. Torques are `S (nle + swing) - J^T f`, with `f` the least-squares solution of the
centroidal equations `sum f = m (g + a)`, `sum (p - c) x f = I alpha`, inside the friction cone;
feet in the air follow a spline in operational space.
"""

from __future__ import annotations

from typing import Callable

import numpy as np
import pinocchio as pin

from ..control.posture import contact_jacobian, standing_posture
from ..errors import RobotError
from ..robot import GRAVITY, Robot
from .ground import Ground
from .motion import STEP, Command, Gait
from .swing_foot import Foot, swing
from .world import about_vertical, heading, rotation, wrapped

PERIOD = 0.002  # s, between torque updates
GAINS = {
    "position": (60.0, 60.0, 120.0),
    "velocity": (8.0, 8.0, 20.0),
    "orientation": 300.0,
    "rate": 35.0,
}
POSTURE = (60.0, 2.0)  # Nm/rad, Nm s/rad, of joints that move no foot
SHIFT_TIME = 2.0  # s, for the feet to move below an off-centre load
COURSE_LIFT = 0.12  # m, of a foot that climbs
LEASH = 0.08  # m: the walking reference waits for a robot that lags behind


class Controller:
    """Torques for one robot under one gait. Call `torque` every `PERIOD` seconds."""

    def __init__(
        self,
        robot: Robot,
        gait: Gait,
        command: Callable[[float], Command],
        terrain: Ground = Ground(),
    ):
        if gait is STEP:
            raise RobotError(
                f"{robot.name}: stepping on the spot needs two flat feet; trot is for four", robot
            )
        if gait.period and len(robot.contacts) != 4:
            raise RobotError(
                f"{robot.name}: trotting and hopping need four point feet, not "
                f"{len(robot.contacts)} contacts",
                robot,
            )
        self.robot, self.gait, self.command, self.terrain = robot, gait, command, terrain
        self.model, self.data = robot.model, robot.model.createData()
        self.q_stand = standing_posture(robot)
        self.height = float(self.q_stand[2])
        self._frames = [self.model.getFrameId(c.frame) for c in robot.contacts]
        self._offsets = [np.array(c.position, float) for c in robot.contacts]
        self._update(self.q_stand, np.zeros(self.model.nv))
        # joints that move no foot: arms, waist
        self._free = np.abs(np.vstack(self._jacobians)[:, 6:]).max(axis=0) == 0.0
        self.feet = [
            Foot(p - [0, 0, self.height], height=c.radius)
            for p, c in zip(self._points, robot.contacts)
        ]
        self._position, self._yaw = self.q_stand[:3].copy(), 0.0
        self._integral = np.zeros(6)
        self._ground = 0.0
        self._shift = np.zeros(2)

    def torque(
        self, t: float, q: np.ndarray, v: np.ndarray, normal_force: np.ndarray
    ) -> np.ndarray:
        """Torques (nj,) [Nm] at time t (negative: stand still) for (q, v) and normal forces."""
        walking = t >= 0
        command = self.command(t) if walking else Command()
        self._update(q, v)
        self._advance_reference(command, q)
        self._schedule(t if walking else None, normal_force)
        wanted = self._trunk_acceleration(t if walking else None, command, q, v)
        tau = self.data.nle[6:].copy()
        self._add_stance(tau, *wanted)
        if not all(f.standing and f.loaded for f in self.feet):
            self._add_swing(tau, t, command, q, v)
        tau[self._free] += (
            POSTURE[0] * (self.q_stand[7:] - q[7:])[self._free] - POSTURE[1] * v[6:][self._free]
        )
        return tau

    def _update(self, q: np.ndarray, v: np.ndarray) -> None:
        m, d = self.model, self.data
        pin.computeAllTerms(m, d, q, v)
        pin.updateFramePlacements(m, d)
        self._points = [d.oMf[f] * o for f, o in zip(self._frames, self._offsets)]
        self._jacobians = [
            contact_jacobian(m, d, f, o) for f, o in zip(self._frames, self._offsets)
        ]

    def _advance_reference(self, command: Command, q: np.ndarray) -> None:
        if not self.gait.period:
            return
        self._yaw += PERIOD * command.yaw_rate
        actual = heading(q)
        self._yaw = actual + np.clip(wrapped(self._yaw - actual), -0.3, 0.3)
        self._position[:2] += PERIOD * (about_vertical(self._yaw)[:2, :2] @ command.velocity)
        gap = self._position[:2] - q[:2]
        self._position[:2] = q[:2] + gap * min(1.0, LEASH / max(np.linalg.norm(gap), 1e-9))

    def _schedule(self, t: float | None, normal_force: np.ndarray) -> None:
        for foot, point, force in zip(self.feet, self._points, normal_force):
            foot.follow(self.gait, t, point, force)
        standing = [
            f.height - c.radius
            for f, c in zip(self.feet, self.robot.contacts)
            if f.standing and f.loaded
        ]
        if standing:
            self._ground += 0.02 * (float(np.mean(standing)) - self._ground)

    def _trunk_acceleration(
        self, t: float | None, command: Command, q: np.ndarray, v: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Wanted (linear [m/s^2], angular [rad/s^2]) acceleration of the trunk, world axes.

        Advances the integrals.
        """
        R = rotation(q[3:7])
        vertical = self.gait.vertical(t) if t is not None else np.zeros(3)
        turn = about_vertical(self._yaw)
        position = self._position + turn @ command.body[:3]
        position[2] = self._ground + self.height + command.body[2] + vertical[0]
        velocity = turn @ (command.body_rate[:3] + [*command.velocity, vertical[1]])
        feedforward = turn @ command.body_acceleration[:3] + [0, 0, vertical[2]]
        gap = position - q[:3]
        a = (
            feedforward
            + np.array(GAINS["position"]) * gap
            + np.array(GAINS["velocity"]) * (velocity - R @ v[:3])
        )
        roll, pitch, yaw = command.body[3:]
        R_wanted = pin.rpy.rpyToMatrix(roll, pitch, self._yaw + yaw)
        tilt = pin.log3(R_wanted @ R.T)
        rates = turn @ command.body_rate[3:] + [0, 0, command.yaw_rate]
        alpha = (
            turn @ command.body_acceleration[3:]
            + GAINS["orientation"] * tilt
            + GAINS["rate"] * (rates - R @ v[3:6])
        )
        in_air = (
            t is not None and self.gait.hop and not any(f.standing and f.loaded for f in self.feet)
        )
        if not in_air:
            self._integrate(t is not None and self.gait.period > 0.0, gap[2], turn.T @ tilt)
        return a, alpha

    def _integrate(self, walking: bool, low: float, tilt: np.ndarray) -> None:
        """Integral action on height [m] and tilt (3,) [rad], heading frame.

        An off-centre load needs a lasting moment: the feet move to where vertical forces give it.
        """
        # a trot leaves the moment about its support line free: integrate slowly
        tilting = 20.0 if walking else 200.0
        gain = np.array([0, 0, 1200.0, tilting, tilting, 0])
        local = np.concatenate([[0, 0, low], tilt])
        self._integral = np.clip(self._integral + PERIOD * gain * local, -100.0, 100.0)
        weight = self.data.mass[0] * GRAVITY + self._integral[2]
        lever = np.array([-self._integral[4], self._integral[3]]) / weight
        self._shift += PERIOD / SHIFT_TIME * (lever - self._shift)

    def _add_stance(self, tau: np.ndarray, a: np.ndarray, alpha: np.ndarray) -> None:
        standing = [i for i, f in enumerate(self.feet) if f.standing and f.loaded]
        if not standing:
            return
        d = self.data
        mass = d.mass[0] + self._integral[2] / GRAVITY
        turn = about_vertical(self._yaw)
        wrench = np.concatenate(
            [mass * (a + [0, 0, GRAVITY]), d.Ig.inertia @ alpha + turn @ self._integral[3:]]
        )
        wrench[2] = max(wrench[2], 0.0)
        A = np.vstack(
            [
                np.tile(np.eye(3), len(standing)),
                np.hstack([pin.skew(self._points[i] - d.com[0]) for i in standing]),
            ]
        )
        weight = np.array([1.0, 1.0, 2.0, 20.0, 20.0, 10.0])
        effort = np.repeat([1e-3 / self.feet[i].load for i in standing], 3)
        AW = A.T * weight
        force = np.linalg.solve(AW @ A + np.diag(effort), AW @ wrench).reshape(-1, 3)
        for i, f in zip(standing, force):
            f[2] = np.clip(f[2], 2.0, 400.0)
            f[:2] *= min(1.0, 0.6 * f[2] / max(np.linalg.norm(f[:2]), 1e-9))
            tau -= self._jacobians[i][:, 6:].T @ f

    def _add_swing(
        self, tau: np.ndarray, t: float, command: Command, q: np.ndarray, v: np.ndarray
    ) -> None:
        moving = [i for i, f in enumerate(self.feet) if not (f.standing and f.loaded)]
        wanted = np.concatenate([self._swing_acceleration(i, t, command, q, v) for i in moving])
        J = np.vstack([self._jacobians[i][:, 6:] for i in moving])
        M = self.data.M[6:, 6:]
        M = np.triu(M) + np.triu(M, 1).T
        tau += J.T @ np.linalg.solve(J @ np.linalg.solve(M, J.T) + 1e-2 * np.eye(len(J)), wanted)

    def _swing_acceleration(
        self, i: int, t: float, command: Command, q: np.ndarray, v: np.ndarray
    ) -> np.ndarray:
        foot, gait = self.feet[i], self.gait
        phase = gait.phase(t, foot.nominal)
        duration = (1 - gait.duty) * gait.period
        s = np.clip((phase - gait.duty) / (1 - gait.duty), 0.0, 1.0) if phase >= gait.duty else 1.0
        overdue = phase * gait.period if phase < gait.duty else 0.0
        target = self._foothold(foot, (1 - s) * duration, command, q, v)
        start = foot.lift_off if foot.lift_off is not None else self._points[i]
        lift = 0.03 if gait.hop else COURSE_LIFT if self.terrain.has_course else 0.07
        position, velocity, acceleration = swing(s, duration, start, target, lift)
        position[2] -= 0.4 * overdue
        velocity[2] -= 0.4 if overdue else 0.0
        actual = self._jacobians[i] @ v
        return acceleration + 900.0 * (position - self._points[i]) + 55.0 * (velocity - actual)

    def _foothold(
        self, foot: Foot, remaining: float, command: Command, q: np.ndarray, v: np.ndarray
    ) -> np.ndarray:
        """Raibert: below the hip at mid-stance, corrected by the velocity error."""
        velocity = (rotation(q[3:7]) @ v[:3])[:2]
        wanted = about_vertical(self._yaw)[:2, :2] @ command.velocity
        half = 0.5 * self.gait.duty * self.gait.period
        angle = heading(q) + command.yaw_rate * (remaining + half)
        place = (
            q[:2]
            + about_vertical(angle)[:2, :2] @ foot.nominal[:2]
            + velocity * remaining
            + wanted * half
            + 0.16 * (velocity - wanted)
        )
        place = place + about_vertical(self._yaw)[:2, :2] @ self._shift
        ground = self.terrain.height(place[0]) if self.terrain.has_course else self._ground
        height = ground + self.robot.contacts[0].radius
        if self.gait.hop:
            height = max(height, q[2] - self.height + self.robot.contacts[0].radius)
        return np.array([*place, height - 0.005])
