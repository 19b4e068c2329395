# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Estimates of a robot that glides forward on standing feet, and bags of them: all is known."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pinocchio as pin

from helpers.estimates import STEP_NS, make_estimate
from prime_estimation.config.parameters import EstimatorConfig
from prime_estimation.io.bag import BagWriter
from prime_estimation.io.typestore import typestore
from prime_estimation.output_messages import Outputs
from prime_estimation.robot import Robot
from prime_estimation.types import ContactState, Estimate

START_NS = 1_700_000_000_000_000_000
HEIGHT, SPEED = 0.3, 0.5  # of the base [m], [m/s]
WEIGHT = (0.0, 0.0, 40.0)  # N on each foot
STAND = {"hip": 0.0, "thigh": 0.8, "calf": -1.5}  # rad


def gliding(robot: Robot, node: int, **changes) -> Estimate:
    """Estimate at a node, 10 ms after the one before; feet 0.2 m aside, 2 cm high."""
    t = 1e-9 * node * STEP_NS
    estimate = make_estimate(robot, START_NS + node * STEP_NS)
    contacts = tuple(
        replace(
            c,
            position_world=np.array([0.2 * (-1) ** k, 0.2 * (-1) ** (k // 2), 0.02]),
            force_world=np.array(WEIGHT),
            force_covariance=np.diag([1.0, 4.0, 9.0]),
            state=ContactState.STICKING,
        )
        for k, c in enumerate(estimate.contacts)
    )
    joints = [next((v for n, v in STAND.items() if n in name), 0.0) for name in robot.joint_names]
    moved = {
        "position_world": np.array([SPEED * t, 0.0, HEIGHT]),
        "quat_world_base": np.array([0.0, 0.0, 0.0, 1.0]),
        "pose_covariance": np.diag([1e-6, 4e-6, 9e-6, 1e-6, 1e-6, 1e-6]),
        "joint_position": np.array(joints),
        "contacts": contacts,
        "total_mass": robot.total_mass + 3.0,
    }
    return replace(estimate, **{**moved, **changes})


def heavier(robot: Robot, mass: float) -> np.ndarray:
    """Inertia (10,) of the estimated body with a point mass 10 cm above its origin."""
    nominal = robot.model.inertias[robot.link_joint(robot.estimated_links[0])]
    load = pin.Inertia(mass, np.array([0.0, 0.0, 0.1]), np.zeros((3, 3)))
    return (nominal + load).toDynamicParameters()


def messages(robot: Robot, estimate: Estimate) -> dict[str, object]:
    """Output messages by their names below the node's."""
    outputs = Outputs(robot, EstimatorConfig(), typestore().types.__getitem__)
    return dict(outputs.messages(estimate))


def write_bag(path: Path, robot: Robot, nodes: int, node: str = "/prime") -> Path:
    """Bag with the output of an estimator."""
    with BagWriter(path) as bag:
        outputs = Outputs(robot, EstimatorConfig(), bag.message_class)
        for k in range(nodes):
            estimate = gliding(robot, k)
            for topic, message in outputs.messages(estimate):
                bag.write(
                    f"{node}/{topic}" if topic[0] != "/" else topic, estimate.stamp_ns, message
                )
    return path
