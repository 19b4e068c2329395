# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Walking controller: the estimator's outputs and a velocity command in, joint commands out."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from ..inertia_gate import Bounds, InertiaGate
from ..robot import Robot
from .feedback import Feedback
from .motion_types import JointCommand, Plan, RobotState, VelocityCommand
from .mpc import WholeBodyMpc
from .parameters import ControlConfig
from .supervisor import Mode, Supervisor
from .torque_limits import torque_limits
from .trunk import CommandLimiter


class WalkingController:
    """Joins gate, MPC, feedback and supervisor; knows neither clock nor network.

    `solve` and then `follow` are called once in a period of `config.step`, `command` at joint rate;
    both may run in threads of their own.

    Args:
        robot: floating base, contacts.
        config: of the controller.
        gait: the first one.

    Attributes:
        gate: stands between estimated inertia and the model.
        mpc: the receding-horizon problem.
        supervisor: decides whether the robot may move.
        plan: the newest one; None while there is none.
    """

    def __init__(self, robot: Robot, config: ControlConfig = ControlConfig(), gait: str = "stand"):
        self.robot, self.config = robot, config
        self.gate = InertiaGate(robot, Bounds(mass_rate=config.mass_rate))
        self.mpc = WholeBodyMpc(robot, config, gait)
        self.supervisor = Supervisor(config)
        self.plan: Plan | None = None
        self._feedback = Feedback(robot, config, torque_limits(robot))
        self._limiter = CommandLimiter(config)
        self._wish, self._wish_ns = VelocityCommand(), 0
        self._gait: str | None = None
        self._base: tuple[int, np.ndarray, np.ndarray] | None = None
        self._joints: tuple[int, np.ndarray, np.ndarray] | None = None
        self._contacts = 0, np.zeros(len(robot.contacts), bool)
        self._solved_ns: int | None = None

    # --- what the estimator and the user say

    def on_odometry(self, stamp_ns: int, pose: np.ndarray, twist: np.ndarray) -> None:
        """Pose (7,) of the base (position, quaternion xyzw, world), twist (6,) in base axes."""
        if self.supervisor.odometry(stamp_ns, pose, twist):
            self._base = (stamp_ns, np.array(pose, float), np.array(twist, float))

    def on_joints(self, stamp_ns: int, position: np.ndarray, velocity: np.ndarray) -> None:
        """Positions and rates (nj,) of the joints, rates as mean over the estimator's last step."""
        if self.supervisor.joints(stamp_ns, position, velocity):
            self._joints = (stamp_ns, np.array(position, float), np.array(velocity, float))

    def on_contacts(self, stamp_ns: int, normal_force: np.ndarray) -> None:
        """Normal forces (contacts,) of the ground [N] at a time, which may be long past.

        NaN where unknown: then none of them is news, for a foot that carries nothing may search
        for the ground.
        """
        if self.supervisor.contacts(stamp_ns, np.asarray(normal_force)):
            self._contacts = stamp_ns, np.asarray(normal_force) > self.config.carrying_force

    def on_velocity(self, stamp_ns: int, command: VelocityCommand) -> None:
        """What the user wants."""
        if np.isfinite(
            [command.vx, command.vy, command.yaw_rate, command.height, *command.lean]
        ).all():
            self._wish, self._wish_ns = command, stamp_ns

    def on_gait(self, name: str) -> None:
        """Another gait, from the next solve on; ConfigError or RobotError if it has none such."""
        self.mpc.check_gait(name)
        self._gait = name

    # --- what the robot does

    def solve(self, now_ns: int) -> Plan | None:
        """A plan from the newest state, for `follow`; None while the robot may not move."""
        if self.supervisor.ready(now_ns):
            self._begin(now_ns)
        if self.supervisor.judge(now_ns) is not Mode.ACTIVE:
            return None
        dt = max(0.0, (now_ns - self._solved_ns) * 1e-9)  # a clock may be set back a little
        self._solved_ns = now_ns
        if self.gate.apply(self.mpc.horizon.model, dt):
            self.mpc.horizon.take_inertias()
        if self._gait is not None:
            self.mpc.change_gait(self._gait, now_ns)
            self._gait = None
        q, v = self._state(now_ns)
        contacts_ns, carries = self._contacts
        state = RobotState(now_ns, q, v, carries, contacts_ns)
        return self.mpc.update(state, self._command(now_ns, dt))

    def follow(self, plan: Plan) -> None:
        """Use a plan from now on, if it can be used."""
        if self.supervisor.plan(plan):
            self.plan = plan

    def command(self, now_ns: int) -> JointCommand | None:
        """What the motors shall do now; None before the first plan."""
        plan = self.plan
        mode = self.supervisor.judge(now_ns)
        if mode is Mode.DAMPING:
            return self.supervisor.braking(self.robot.nj)
        if mode is Mode.WAITING or plan is None:
            return None
        q, v = self._state(now_ns)
        return self._feedback.command(plan, now_ns, q, v)

    def expected_torque(self, command: JointCommand) -> np.ndarray | None:
        """(nj,) torque [Nm] under a command at the joints' newest state; None without one."""
        return command.torque(*self._joints[1:]) if self._joints is not None else None

    def _begin(self, now_ns: int) -> None:
        self.plan = None
        self.mpc.reset()
        self.mpc.feet.schedule.begin(now_ns * 1e-9)
        self._feedback.forget()
        self._limiter.reset()
        self._solved_ns = now_ns - round(1e9 * self.config.step)
        q, _ = self._state(now_ns)
        height = float(q[2] - self.mpc.feet.bottoms(q).min())
        self.supervisor.begin(now_ns, height, float(self.mpc.posture[2]))

    def _command(self, now_ns: int, dt: float) -> VelocityCommand:
        wish = self._wish
        if abs(now_ns - self._wish_ns) * 1e-9 > self.config.command_timeout:
            wish = VelocityCommand(height=wish.height, lean=wish.lean)
        return self._limiter.limit(wish, self.mpc.feet.schedule.gait, dt)

    def _state(self, now_ns: int) -> tuple[np.ndarray, np.ndarray]:
        """The newest state, carried to now by the base's velocity and what the joints were told."""
        (base_ns, pose, twist), (joints_ns, position, velocity) = self._base, self._joints
        q, v = np.concatenate([pose, position]), np.concatenate([twist, velocity])
        lag_ns = round(0.5e9 * self.config.estimator_step)
        moved, _ = self._feedback.moved(joints_ns, now_ns)
        _, faster = self._feedback.moved(joints_ns - lag_ns, now_ns)
        v[6:] += faster
        dq = np.concatenate([(now_ns - base_ns) * 1e-9 * twist, moved])
        return pin.integrate(self.robot.model, q, dq), v
