# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Parameters of the whole-body controller, declared once: default, unit, range, meaning."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..config.parameters import EstimatorConfig
from ..declaration import param


@dataclass(frozen=True)
class CostWeights:
    """Weights of the costs of a node, of 1/2 r^2 per second."""

    position: float = param(1000.0, "base, horizontal position", "1/m2", 0.0)
    height: float = param(4000.0, "base, height", "1/m2", 0.0)
    tilt: float = param(800.0, "base, roll and pitch", "1/rad2", 0.0)
    yaw: float = param(200.0, "base, yaw", "1/rad2", 0.0)
    velocity: float = param(100.0, "base, horizontal velocity", "s2/m2", 0.0)
    vertical_velocity: float = param(20.0, "base, vertical velocity", "s2/m2", 0.0)
    tilt_rate: float = param(2.0, "base, roll and pitch rate", "s2/rad2", 0.0)
    yaw_rate: float = param(5.0, "base, yaw rate", "s2/rad2", 0.0)
    joint_position: float = param(0.5, "joints, from the nominal posture", "1/rad2", 0.0)
    joint_velocity: float = param(0.002, "joint rates", "s2/rad2", 0.0)
    torque: float = param(0.005, "joint torques, from those that carry the robot", "1/Nm2", 0.0)
    force: float = param(1e-4, "ground forces, from an equal share of the weight", "1/N2", 0.0)
    cone: float = param(0.02, "force outside of the friction pyramid", "1/N2", 0.0)
    foot_position: float = param(10000.0, "foot in the air, position", "1/m2", 0.0)
    foot_velocity: float = param(5.0, "foot in the air, velocity", "s2/m2", 0.0)
    torque_limit: float = param(1.0, "torque beyond the limit", "1/Nm2", 0.0)
    joint_limit: float = param(1000.0, "joint position beyond the limit", "1/rad2", 0.0)


@dataclass(frozen=True)
class ControlConfig:
    """The horizon, the gaits' geometry, the feedback and its limits."""

    step: float = param(0.02, "duration of a node, and between two solves", "s", 0.005, 0.1)
    nodes: int = param(25, "nodes of the horizon", "", 5, 200)
    iterations: int = param(1, "solver iterations per solve", "", 1, 20)
    terminal: float = param(5.0, "weight of the last node, in nodes", "", 0.0, 1000.0)
    friction: float = param(0.6, "friction coefficient that is relied on", "", 0.05, 2.0)
    smallest_force: float = param(5.0, "normal force of a standing contact", "N", 0.0, 1000.0)
    compliance: float = param(1e-4, "of standing contacts", "(m/s)/(N s)", 1e-8, 1.0)
    clearance: float = param(0.07, "apex of a swing above its ends", "m", 0.0, 0.3)
    stiffness: float = param(20.0, "of the joints about the plan", "Nm/rad", 0.0, 1000.0)
    damping: float = param(1.0, "of the joints about the plan", "Nm s/rad", 0.0, 100.0)
    braking: float = param(4.0, "damping of a stopped robot's joints", "Nm s/rad", 0.0, 100.0)
    estimator_step: float = param(
        EstimatorConfig.step, "joint rates of the estimator are means over it", "s", 0.0, 0.1
    )
    carrying_force: float = param(
        12.0, "normal force from which on a contact carries", "N", 0.0, 1000.0
    )
    mass_rate: float = param(
        20.0, "by which the model follows an estimated mass", "kg/s", 0.1, 1000.0
    )
    acceleration: float = param(1.0, "of the commanded velocity", "m/s2", 0.01, 100.0)
    yaw_acceleration: float = param(3.0, "of the commanded yaw rate", "rad/s2", 0.01, 100.0)
    top_yaw_rate: float = param(1.0, "largest commanded yaw rate", "rad/s", 0.0, 10.0)
    command_timeout: float = param(0.5, "age after which a velocity command is zero", "s", 0.02)
    state_timeout: float = param(0.1, "age of a state after which the robot stops", "s", 0.01, 1.0)
    plan_timeout: float = param(0.2, "age of a plan after which the robot stops", "s", 0.02, 1.0)
    largest_tilt: float = param(0.9, "of the base, beyond which the robot stops", "rad", 0.1, 3.2)
    lowest_start: float = param(
        0.6,
        "height of the base from which on the robot takes over, of the nominal one",
        "",
        0.0,
        1.0,
    )
    highest_start: float = param(1.2, "up to this one", "", 1.0, 10.0)
    largest_start_tilt: float = param(0.4, "and up to this tilt", "rad", 0.0, 3.2)
    largest_jump: float = param(
        0.1, "between two odometry messages, beyond which the robot stops", "m", 0.01, 10.0
    )
    largest_turn: float = param(0.5, "likewise, about any axis", "rad", 0.01, 3.2)
    weights: CostWeights = field(default_factory=CostWeights)
