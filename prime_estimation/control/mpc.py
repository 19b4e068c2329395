# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Whole-body MPC: state and velocity command in, plan over the horizon out."""

from __future__ import annotations

import time

import numpy as np
import pinocchio as pin

from ..robot import Robot
from .feet import FootPlanner
from .gait import gait_named
from .horizon import Horizon, Targets
from .motion_types import Plan, RobotState, VelocityCommand
from .parameters import ControlConfig
from .posture import standing_posture
from .trunk import TrunkReference, about_z, within

GAINS = 10  # nodes whose feedback gains are handed out
VELOCITY_TIME = 0.1  # s, of the low pass of the velocity that footholds answer to
# of the way from the middle of the feet to the outermost contacts, beyond which no robot leans: a
# Go2 falls at 1.0 forwards, a G1, whose soles tip, at 0.5 sideways
LEAN, LEAN_ON_TWO = 0.75, 0.3


class WholeBodyMpc:
    """Receding-horizon control with the full dynamics of a legged robot.

    One solve: see where the feet are, move the reference of the trunk on, plan stances and swings,
    give the nodes their targets, and improve the plan of the time before.

    Args:
        robot: floating base, contacts; four feet to walk.
        config: horizon and weights.
        gait: the first one.

    Attributes:
        horizon: the shooting problem; who writes `horizon.model.inertias` between two solves calls
            `horizon.take_inertias()`.
        posture: (nq,) nominal standing posture.
        feet: the foot planner, with the schedule of the gait.
        solve_time: processor time of the last `update` [s].
    """

    def __init__(self, robot: Robot, config: ControlConfig = ControlConfig(), gait: str = "stand"):
        self.robot, self.config = robot, config
        self.posture = standing_posture(robot)
        self.horizon = Horizon(robot, self.posture, config)
        self.feet = FootPlanner(robot, self.posture, gait_named(gait, robot), config.clearance)
        self._data = self.horizon.model.createData()
        self._middle = self.feet.nominal.mean(axis=0)
        share = LEAN if len(robot.feet) > 2 else LEAN_ON_TWO
        self._reach = 0.5 * share * np.ptp(self.feet.nominal, axis=0)
        self.solve_time = 0.0
        self.reset()

    def reset(self) -> None:
        """Forget the plan: the next solve starts from the state it is given."""
        self._trunk: TrunkReference | None = None
        self._guess: tuple[int, np.ndarray, np.ndarray] | None = None
        self._velocity = np.zeros(2)
        self._seen_ns = 0
        self.feet.reset()

    def check_gait(self, name: str) -> None:
        """ConfigError or RobotError where there is no such gait for this robot."""
        gait_named(name, self.robot)

    def change_gait(self, name: str, stamp_ns: int) -> None:
        """Go over to another gait when the cycle under way is over."""
        self.feet.schedule.change(gait_named(name, self.robot), stamp_ns * 1e-9)

    def update(self, state: RobotState, command: VelocityCommand) -> Plan:
        """The plan that begins with this state."""
        began = time.thread_time()
        self._observe(state, command)
        targets = self._targets(state, command)
        self.horizon.aim(targets)
        xs, us = self._guessed(state, targets)
        solver = self.horizon.solver
        solver.improve(xs[:, 0], xs, us, self.config.iterations)
        xs, us = solver.states(), solver.controls()
        self._guess = (state.stamp_ns, xs, us)
        forces, points = self.horizon.first_forces()
        plan = Plan(
            stamp_ns=state.stamp_ns,
            step=self.config.step,
            states=xs.T,
            torques=us.T,
            gains=np.array([solver.K[k] for k in range(GAINS)]),
            stands=targets.feet.stands[:-1],
            forces=forces,
            points=points,
        )
        self.solve_time = time.thread_time() - began
        return plan

    def _observe(self, state: RobotState, command: VelocityCommand) -> None:
        first = self._trunk is None
        dt = self.config.step if first else max(0.0, (state.stamp_ns - self._seen_ns) * 1e-9)
        self._seen_ns = state.stamp_ns
        self.feet.observe(state, state.stamp_ns * 1e-9, dt)
        if first:
            self._trunk = TrunkReference(state, state.q[2] - self.feet.ground)
        height = self.posture[2] + command.height
        self._trunk.advance(state, command, self.feet.ground, height, dt)
        if not self.feet.schedule.walks(state.stamp_ns * 1e-9):
            lean = within(np.array(command.lean), self._reach) - self._com()
            self._trunk.stand(self.feet.middle() + about_z(self._trunk.yaw) @ lean)
        velocity = (state.rotation @ state.v[:3])[:2]
        self._velocity += min(1.0, dt / VELOCITY_TIME) * (velocity - self._velocity)

    def _targets(self, state: RobotState, command: VelocityCommand) -> Targets:
        trunk, n = self._trunk, self.config.nodes + 1
        ahead = self.config.step * np.arange(n)
        xy, yaw, velocity = trunk.ahead(command, ahead)
        position = np.column_stack([xy, np.full(n, self.feet.ground + trunk.height)])
        feet = self.feet.plan(
            state,
            trunk,
            command,
            state.stamp_ns * 1e-9 + ahead,
            self._velocity - velocity[0],
            self._com() - self._middle,
        )
        velocity = np.column_stack([velocity, np.zeros(n)])
        return Targets(position, yaw, velocity, command.yaw_rate, feet)

    def _com(self) -> np.ndarray:
        """(2,) of the nominal posture from the base, heading frame [m]."""
        com = pin.centerOfMass(self.horizon.model, self._data, self.posture)
        return (com - self.posture[:3])[:2]

    def _guessed(self, state: RobotState, targets: Targets) -> tuple[np.ndarray, np.ndarray]:
        """The last plan, moved on to now: states (nx, n + 1) and torques (nj, n)."""
        n, x0 = self.config.nodes, np.concatenate([state.q, state.v])
        if self._guess is None:
            torques = [self.horizon.carrying(stands)[1] for stands in targets.feet.stands[:-1]]
            return np.tile(x0[:, None], n + 1), np.array(torques).T
        stamp_ns, xs, us = self._guess
        steps = int(np.clip(round((state.stamp_ns - stamp_ns) * 1e-9 / self.config.step), 0, n))
        index = np.minimum(np.arange(n + 1) + steps, n)
        xs, us = xs[:, index], us[:, np.minimum(index[:-1], n - 1)]
        xs[:, 0] = x0
        return xs, us
