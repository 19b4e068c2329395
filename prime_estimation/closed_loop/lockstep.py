# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Lockstep: simulated robot, estimator and controller take turns on one clock; runs repeat."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..config.parameters import Config
from ..control.controller import WalkingController
from ..control.motion_types import JointCommand, Plan, VelocityCommand
from ..control.parameters import ControlConfig
from ..control.supervisor import Mode
from ..io.typestore import typestore
from ..output_messages import Outputs
from ..recordings.replay import Pipeline
from ..robot import Robot
from ..simulate.robot import SimulatedRobot
from ..types import Estimate, ImuSample


@dataclass(frozen=True)
class Timing:
    """Periods and delays of the loop [s].

    Physics runs at 1 kHz, sensors at 500 Hz, the estimator at its own step.
    """

    feedback: float = 0.002  # between two joint commands
    solve: float = 0.010  # from a state to the plan that was made of it
    command: float = 0.001  # from a joint command to the motors


class Lockstep:
    """The loop. Nothing of the truth enters it: the controller is told what the estimator says.

    Args:
        simulated: the robot; its world is the truth.
        config: of the estimator.
        control: of the controller.
        update: False: estimated inertia is kept from the controller.

    Attributes:
        controller, pipeline: the two halves.
        estimate: the newest one.
        solve_times: of all solves [s].
    """

    def __init__(
        self,
        simulated: SimulatedRobot,
        config: Config,
        control: ControlConfig = ControlConfig(),
        gait: str = "stand",
        update: bool = True,
        timing: Timing = Timing(),
    ):
        self.simulated, self._update, self._timing = simulated, update, timing
        self.pipeline = Pipeline(Robot(config.robot), config, mocap=False)
        self.controller = WalkingController(Robot(config.robot), control, gait)
        self._outputs = Outputs(
            Robot(config.robot), config.estimator, lambda name: typestore().types[name]
        )
        self._inertia_period_ns = round(1e9 / config.node.inertia_rate)
        self._inertia_ns = 0
        self._names = [c.name for c in simulated.robot.contacts]
        self.estimate: Estimate | None = None
        self.solve_times: list[float] = []
        self._plans: deque[tuple[int, Plan]] = deque()
        self._commands: deque[tuple[int, JointCommand]] = deque()
        self._tick = 0
        dt = simulated.world.dt
        self._every_feedback = round(timing.feedback / dt)
        self._every_solve = round(control.step / dt)
        simulated.place(self.controller.mpc.posture)

    def run(
        self,
        duration: float,
        command: Callable[[float], VelocityCommand] = lambda t: VelocityCommand(),
        observe: Callable[[float], bool | None] = lambda t: None,
    ) -> bool:
        """Go on for a duration [s]; `observe(t)` after each step of physics may end it with False.

        Returns False when it was ended.
        """
        dt = self.simulated.world.dt
        for _ in range(round(duration / dt)):
            self.step(command(self._tick * dt))
            if observe(self._tick * dt) is False:
                return False
        return True

    def step(self, command: VelocityCommand) -> None:
        """One step of physics, and whatever is due."""
        for sample in self.simulated.advance():
            for estimate in self.pipeline.push(sample):
                self.hear(estimate)
            if isinstance(sample, ImuSample):
                predicted = self.pipeline.predict(sample)
                if predicted is not None:
                    self.hear_odometry(predicted)
        self._tick += 1
        now = self.simulated.now_ns
        if self._tick % self._every_solve == 0:
            self.controller.on_velocity(now, command)
            self._solve(now)
        while self._plans and self._plans[0][0] <= now:
            self.controller.follow(self._plans.popleft()[1])
        if self._tick % self._every_feedback == 0:
            joint_command = self.controller.command(now)
            if joint_command is not None:
                self._commands.append((now + round(1e9 * self._timing.command), joint_command))
        while self._commands and self._commands[0][0] <= now:
            self.simulated.obey(self._commands.popleft()[1])

    def hear(self, estimate: Estimate) -> None:
        """Tell the controller what the estimator publishes once per step."""
        self.estimate = estimate
        controller = self.controller
        self.hear_odometry(estimate)
        controller.on_joints(estimate.stamp_ns, estimate.joint_position, estimate.joint_velocity)
        force = {c.name: c.force_world[2] for c in estimate.contacts}
        normal = np.array([force[name] for name in self._names])
        controller.on_contacts(estimate.contacts_stamp_ns, normal)
        if not self._update or estimate.stamp_ns - self._inertia_ns < self._inertia_period_ns:
            return
        self._inertia_ns = estimate.stamp_ns
        for topic, message in self._outputs.messages(estimate):
            if topic == "inertial_parameters":
                controller.gate.offer(message)

    def hear_odometry(self, estimate: Estimate) -> None:
        """Tell it the base, at the rate of the IMU."""
        pose = np.concatenate([estimate.position_world, estimate.quat_world_base])
        twist = np.concatenate([estimate.linear_velocity_base, estimate.angular_velocity_base])
        self.controller.on_odometry(estimate.stamp_ns, pose, twist)

    def _solve(self, now: int) -> None:
        plan = self.controller.solve(now)
        if plan is not None:
            self.solve_times.append(self.controller.mpc.solve_time)
            self._plans.append((now + round(1e9 * self._timing.solve), plan))

    @property
    def stopped(self) -> str:
        """Why the controller has stopped the robot; empty while it has not."""
        supervisor = self.controller.supervisor
        return supervisor.reason if supervisor.mode is Mode.DAMPING else ""
