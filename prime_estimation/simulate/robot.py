# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Simulated robot: joint commands in, sensor samples out, with the faults of real ones."""

from __future__ import annotations

from collections import deque

import numpy as np

from ..config.parameters import NoiseConfig
from ..control.motion_types import JointCommand
from ..robot import Robot
from ..types import ImuSample, JointSample
from .bag import EPOCH_NS
from .ground import Ground
from .payload import Payload
from .sensors import RATE, ImuReader, SensorFaults
from .world import Step, World

# of the motors that hold the first posture [Nm/rad, Nm s/rad]
STIFFNESS, DAMPING = 100.0, 3.0


class SimulatedRobot:
    """A robot in the simulated world that is known by its sensors only.

    Each motor closes `tau = effort + kp (position - q) + kd (velocity - qd)` in every physics step,
    on its own newest encoder reading, and obeys its torque limit. Before the first command it holds
    the posture in which the robot was placed.

    Args:
        robot: nominal model.
        noise: of the sensors.
        payload: a load that `world.load` puts on and takes off.
        ground: the floor.
        faults: constant errors of the sensors.
        seed: of noise, biases and ground.
        delay: from a measurement to its arrival [s].

    Attributes:
        world: the physics, and the truth.
        step: the last one.
    """

    def __init__(
        self,
        robot: Robot,
        noise: NoiseConfig,
        payload: Payload | None = None,
        ground: Ground = Ground(),
        faults: SensorFaults = SensorFaults(),
        seed: int = 0,
        delay: float = 0.002,
    ):
        self.robot, self.world, self._noise = robot, World(robot, payload, ground, seed), noise
        self._joints, self._imu = (np.random.default_rng([seed, 200 + i]) for i in range(2))
        own = faults.encoder_offset * self._joints.standard_normal(robot.nj)
        self._offset = robot.joint_zeros + own
        spread = 1.0 + faults.torque_scale * self._joints.standard_normal(robot.nj)
        self._scale = robot.torque_scale * spread
        self._gyro_bias = noise.gyro_bias * self._imu.standard_normal(3)
        self._accelerometer_bias = noise.accelerometer_bias * self._imu.standard_normal(3)
        self._reader = ImuReader(robot)
        self._delay_ns = round(delay * 1e9)
        self._under_way: deque[tuple[int, JointSample | ImuSample]] = deque()
        self._every = round(1.0 / (RATE * self.world.dt))
        late = max(round(robot.config.torque_delay / self.world.dt), 0)
        self._torques: deque[np.ndarray] = deque(maxlen=late + 1)
        self._steps = 0
        self.step: Step | None = None

    @property
    def now_ns(self) -> int:
        """Time of the world."""
        return EPOCH_NS + round(self._steps * self.world.dt * 1e9)

    def place(self, q: np.ndarray) -> None:
        """Put the robot at rest at configuration q, its motors holding it there."""
        self.world.place(q)
        self._reading = (q[7:].copy(), np.zeros(self.robot.nj))
        zero, ones = np.zeros(self.robot.nj), np.ones(self.robot.nj)
        self._command = JointCommand(q[7:].copy(), zero, zero, STIFFNESS * ones, DAMPING * ones)

    def obey(self, command: JointCommand) -> None:
        """Follow a command until the next one."""
        self._command = command

    def advance(self) -> list[JointSample | ImuSample]:
        """Go on by one step of physics; returns the samples that arrive meanwhile."""
        self.step = self.world.step(self._command.torque(*self._reading))
        self._torques.append(self.step.tau_motor)
        if self._steps % self._every == 0:
            self._sense(self.step)
        self._steps += 1
        arrived = []
        while self._under_way and self._under_way[0][0] <= self.now_ns:
            arrived.append(self._under_way.popleft()[1])
        return arrived

    def _sense(self, step: Step) -> None:
        noise, stamp, nj = self._noise, self.now_ns, self.robot.nj
        position = step.q[7:] + self._offset + noise.encoder * self._joints.standard_normal(nj)
        velocity = step.v[6:] + noise.joint_velocity * self._joints.standard_normal(nj)
        read = self.robot.torque_offset + self._scale * self._torques[0]
        effort = read + noise.joint_torque * self._joints.standard_normal(nj)
        self._reading = (position, velocity)
        self._under_way.append(
            (stamp + self._delay_ns, JointSample(stamp, position, velocity, effort))
        )
        if self.robot.imu_joint is None:
            return
        gyro, force = self._reader.read(step.q, step.v, step.a)
        wander = np.sqrt(1.0 / RATE)
        self._gyro_bias += wander * noise.gyro_bias_walk * self._imu.standard_normal(3)
        self._accelerometer_bias += (
            wander * noise.accelerometer_bias_walk * self._imu.standard_normal(3)
        )
        gyro = gyro + self._gyro_bias + noise.gyro * self._imu.standard_normal(3)
        force = (
            force + self._accelerometer_bias + noise.accelerometer * self._imu.standard_normal(3)
        )
        self._under_way.append((stamp + self._delay_ns, ImuSample(stamp, gyro, force)))
