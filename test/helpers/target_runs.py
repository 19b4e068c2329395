# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""A simulated robot that follows joint targets, with everything that was measured and told."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prime_estimation.config.parameters import Config
from prime_estimation.control.motion_types import JointCommand
from prime_estimation.control.posture import standing_posture
from prime_estimation.robot import Robot
from prime_estimation.sensors.joint_targets import TargetSample
from prime_estimation.simulate.model import Payload
from prime_estimation.simulate.robot import SimulatedRobot

PERIOD = 20  # ms between two targets, as a policy at 50 Hz sets them
STIFFNESS, DAMPING = 60.0, 2.0  # Nm/rad, Nm s/rad


@dataclass
class TargetRun:
    """Samples in order of arrival, and the truth.

    Attributes:
        torque: (n, nj) of the motors [Nm], at the stamps. mass: total [kg].
    """

    samples: list
    stamps: list[int]
    torque: list[np.ndarray]
    mass: float


def squats(name: str = "go2", seconds: float = 3.0, load: float = 3.0) -> TargetRun:
    """A robot with a load on its back that bends and stretches its legs."""
    config = Config.load(name)
    robot = Robot(config.robot)
    simulated = SimulatedRobot(robot, config.noise, Payload(load))
    simulated.world.load(True)
    posture = standing_posture(robot)
    simulated.place(posture)
    run = TargetRun([], [], [], robot.total_mass + load)
    bend = np.array(
        [{"thigh": 0.12, "calf": -0.24}.get(n.split("_")[1], 0.0) for n in robot.joint_names]
    )
    one = np.ones(robot.nj)
    for tick in range(round(1000 * seconds)):
        if tick % PERIOD == 0:
            target = posture[7:] + bend * np.sin(2.0 * np.pi * 1.2e-3 * tick)
            simulated.obey(JointCommand(target, 0 * one, 0 * one, STIFFNESS * one, DAMPING * one))
            parts = (target, 0 * one, 0 * one, STIFFNESS * one, DAMPING * one)
            run.samples.append(TargetSample(simulated.now_ns, *parts))
        run.samples += simulated.advance()
        run.stamps.append(simulated.now_ns)
        run.torque.append(simulated.step.tau_motor)
    return run
