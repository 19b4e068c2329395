# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Walking controller: the estimator's outputs and a velocity command in, joint commands out, or none that could harm."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from ..inertia_gate import Bounds, InertiaGate
from ..robot import Robot
from .feedback import Feedback
from .horizon import torque_limits
from .motion_types import JointCommand, Plan, RobotState, VelocityCommand
from .mpc import WholeBodyMpc
from .parameters import ControlConfig
from .supervisor import Mode, Supervisor
from .trunk import CommandLimiter


class WalkingController:
    """Glue between what the estimator says and what the motors do; knows neither clock nor network.

    `solve` is called once in a period of `config.step`, `command` at joint rate; both may run in
    threads of their own.

    Attributes:
        gate: stands between estimated inertia and the model.
        mpc: the receding-horizon problem.
        supervisor: decides whether the robot may move.
    """

    def __init__(
        self,
        robot: Robot,
        config: ControlConfig = ControlConfig(),
        gait: str = "stand",
        bounds: Bounds | None = None,
    ):
        self.robot, self.config = robot, config
        self.gate = InertiaGate(robot, bounds or Bounds(mass_rate=config.mass_rate))
        self.mpc = WholeBodyMpc(robot, config, gait)
        self.supervisor = Supervisor(robot, config)
        self._limit = torque_limits(robot)
        self._feedback = Feedback(robot, config, self._limit)
        self._wish, self._wish_ns = VelocityCommand(), 0
        self._limiter = CommandLimiter(config)
        self._base: tuple[int, np.ndarray, np.ndarray] | None = None
        self._joints: tuple[int, np.ndarray, np.ndarray] | None = None
        self._carries = np.zeros(len(robot.contacts), bool)
        self._solved_ns: int | None = None
        self.plan: Plan | None = None

    # --- what the estimator says

    def on_odometry(self, stamp_ns: int, pose: np.ndarray, twist: np.ndarray) -> None:
        """Pose (7,) of the base (position, quaternion xyzw, world), twist (6,) (linear, angular, base axes)."""
        if self.supervisor.odometry(stamp_ns, pose, twist):
            self._base = (stamp_ns, np.array(pose, float), np.array(twist, float))

    def on_joints(self, stamp_ns: int, position: np.ndarray, velocity: np.ndarray) -> None:
        """Positions and rates (nj,) of the joints, rates as mean over the estimator's last step."""
        if self.supervisor.joints(stamp_ns, position, velocity):
            self._joints = (stamp_ns, np.array(position, float), np.array(velocity, float))

    def on_contacts(self, normal_force: np.ndarray) -> None:
        """Normal forces (contacts,) of the ground [N]."""
        self._carries = np.asarray(normal_force) > self.config.carrying_force

    def on_velocity(self, stamp_ns: int, command: VelocityCommand) -> None:
        """What the user wants."""
        self._wish, self._wish_ns = command, stamp_ns

    # --- what the robot does

    def solve(self, now_ns: int) -> Plan | None:
        """Plan anew from the newest state; None while the supervisor does not let the robot move."""
        if self.supervisor.judge(now_ns) is not Mode.ACTIVE:
            self.plan = None
            self.mpc.reset()
            self._feedback.forget()
            return None
        dt = self.config.step if self._solved_ns is None else (now_ns - self._solved_ns) * 1e-9
        self._solved_ns = now_ns
        if self.gate.apply(self.mpc.horizon.model, dt):
            self.mpc.horizon.take_inertias()
        fresh = (now_ns - self._wish_ns) * 1e-9 <= self.config.command_timeout
        wish = self._wish if fresh else VelocityCommand(height=self._wish.height)
        command = self._limiter.limit(wish, self.mpc.feet.schedule.gait, dt)
        q, v = self._state(now_ns)
        plan = self.mpc.update(RobotState(now_ns, q, v, self._carries), command)
        if self.supervisor.plan(now_ns, plan):
            self.plan = plan
        return self.plan

    def command(self, now_ns: int) -> JointCommand:
        """What the motors shall do now."""
        plan = self.plan
        if self.supervisor.judge(now_ns) is not Mode.ACTIVE or plan is None:
            return self.supervisor.passive()
        q, v = self._state(now_ns)
        return self._feedback.command(plan, now_ns, q, v)

    def _state(self, now_ns: int) -> tuple[np.ndarray, np.ndarray]:
        """The newest state, carried to now: the base by its velocity, the joints by what they were told since."""
        (base_ns, pose, twist), (joints_ns, position, velocity) = self._base, self._joints
        age = (now_ns - base_ns) * 1e-9
        q, v = np.concatenate([pose, position]), np.concatenate([twist, velocity])
        dq = np.zeros(self.robot.model.nv)
        dq[:6] = age * twist
        lag_ns = round(0.5e9 * self.config.estimator_step)
        dq[6:], _ = self._feedback.moved(joints_ns, now_ns)
        _, change = self._feedback.moved(joints_ns - lag_ns, now_ns)
        v[6:] += change
        return pin.integrate(self.robot.model, q, dq), v
