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
from .trunk import TrunkReference, about_z

GAINS = 3  # nodes whose feedback gains are handed out


class WholeBodyMpc:
    """Receding-horizon control with the full dynamics of a legged robot.

    Attributes:
        horizon: the shooting problem; whoever writes `horizon.model.inertias` calls
            `horizon.take_inertias()` between two solves.
        solve_time: of the last solve [s].
    """

    def __init__(self, robot: Robot, config: ControlConfig = ControlConfig(), gait: str = "stand"):
        self.robot, self.config = robot, config
        self.posture = standing_posture(robot)
        self.horizon = Horizon(robot, self.posture, config)
        self.feet = FootPlanner(robot, self.posture, gait_named(gait), config.clearance)
        self._data = self.horizon.model.createData()
        self._middle = self.feet.nominal.mean(axis=0)
        self.reset()

    def reset(self) -> None:
        """Forget the plan; the next solve starts from the state it is given."""
        self._trunk: TrunkReference | None = None
        self._guess: tuple[int, np.ndarray, np.ndarray] | None = None
        self._velocity = np.zeros(2)
        self.solve_time = 0.0

    def change_gait(self, name: str, stamp_ns: int) -> None:
        self.feet.schedule.change(gait_named(name), stamp_ns * 1e-9)

    def update(self, state: RobotState, command: VelocityCommand) -> Plan:
        began = time.perf_counter()
        step, n = self.config.step, self.config.nodes
        now = state.stamp_ns * 1e-9
        self._follow(state, command, now)
        targets = self._targets(state, command, now + step * np.arange(n + 1))
        self.horizon.aim(targets)
        x0 = np.concatenate([state.q, state.v])
        xs, us = self._shifted(state, x0, targets)
        solver = self.horizon.solver
        solver.improve(x0, xs, us, self.config.iterations)
        xs, us = solver.states(), solver.controls()
        self._guess = (state.stamp_ns, xs, us)
        node, data = self.horizon.nodes[0], self.horizon.problem.runningDatas[0]
        gains = np.array([solver.K[k] for k in range(GAINS)])
        plan = Plan(state.stamp_ns, step, xs.T, us.T, gains, targets.stands[:-1], node.forces(data), node.points(data))
        self.solve_time = time.perf_counter() - began
        return plan

    def _follow(self, state: RobotState, command: VelocityCommand, now: float) -> None:
        if self._trunk is None:
            self._trunk = TrunkReference(state)
            self._last = now - self.config.step
        dt = now - self._last
        self._last = now
        self._trunk.advance(state, command, dt)
        velocity = (state.rotation @ state.v[:3])[:2]
        self._velocity += min(1.0, dt / 0.1) * (velocity - self._velocity)
        self.feet.observe(state, now, dt)

    def _targets(self, state: RobotState, command: VelocityCommand, times: np.ndarray) -> Targets:
        n = len(times)
        xy, yaw, velocity = self._trunk.ahead(command, times - times[0])
        height = self.feet.ground + self.posture[2] + command.height
        position = np.column_stack([xy, np.full(n, height)])
        shift = self.com()[:2] - self._middle
        stands, foot, speed, weight = self.feet.plan(state, self._trunk, command, times, self._velocity, shift)
        return Targets(position, yaw, np.column_stack([velocity, np.zeros(n)]), command.yaw_rate, stands, foot, speed, weight)

    def com(self) -> np.ndarray:
        model = self.horizon.model
        return pin.centerOfMass(model, self._data, self.posture) - self.posture[:3]

    def _shifted(self, state, x0, targets):
        n = self.config.nodes
        if self._guess is None:
            us = np.array([self.horizon.carrying(s)[1] for s in targets.stands[:-1]]).T
            return np.tile(x0[:, None], n + 1), us
        stamp, xs, us = self._guess
        k = int(np.clip(round((state.stamp_ns - stamp) * 1e-9 / self.config.step), 0, n))
        index = np.minimum(np.arange(n + 1) + k, n)
        xs, us = xs[:, index], us[:, np.minimum(index[:-1], n - 1)]
        xs[:, 0] = x0
        return xs, us
