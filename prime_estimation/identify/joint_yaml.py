# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Joint parameters for the robot's YAML: values by joint, and what is left of their uncertainty."""

from __future__ import annotations

import numpy as np

from ..mhe.joint_parameters import COMMON, DELAY, GAINS, OFFSETS, ZEROS
from ..robot import Robot
from .joints import JointPosterior

# key of the robot's YAML by kind
_KEYS = {
    "armature": "armature",
    "damping": "joint_damping",
    "dry_friction": "joint_friction",
    "gear_loss": "gear_loss",
    "stribeck": "stribeck",
    "stribeck_velocity": "stribeck_velocity",
    OFFSETS: "torque_offset",
    DELAY: "torque_delay",
    GAINS: "torque_scale",
    ZEROS: "joint_zeros",
}


def robot_changes(posterior: JointPosterior, robot: Robot) -> dict:
    """Entries of the robot's YAML: values by joint, and what is left of their uncertainty.

    What the motion did not tell stays as it was.
    """
    out: dict = {"joint_stddev": dict(robot.config.joint_stddev)}
    names = robot.joint_names
    for block in posterior.blocks:
        mean, stddev = posterior.parameters(block)
        told = np.array([q.observable for q in posterior.of_block(block)])
        values = block.per_joint(np.where(told, mean, block.mean))
        left = np.where(told, stddev, block.stddev)
        if block.name == GAINS:
            values = robot.torque_scale * np.exp(values)
        elif block.name == OFFSETS:
            values = robot.torque_offset + robot.torque_scale * values
        elif block.name == ZEROS:
            values = robot.joint_zeros + values
        by_joint = {n: float(f"{v:.6g}") for n, v in zip(names, values)}
        out[_KEYS[block.name]] = by_joint if block.labels != [COMMON] else by_joint[names[0]]
        told = {f"{block.name}/{n}": float(f"{s:.3g}") for n, s in zip(block.labels, left)}
        out["joint_stddev"].update(told)
    if posterior.lead and not robot.friction_lead.any():
        out["friction_lead"] = float(f"{posterior.lead:.3g}")
    return out


def noise_changes(posterior: JointPosterior) -> dict:
    """Entries of the section `noise`: systematic errors that are left."""
    out, losses = {}, []
    for block in posterior.blocks:
        mean, stddev = posterior.parameters(block)
        if block.name == GAINS:
            out["torque_scale"] = float(f"{max(posterior.scale_stddev, 1e-4):.3g}")
            spread = np.sqrt(np.mean(stddev**2) / 3.0)  # of a leg, the mean of its joints
            out["torque_scale_spread"] = float(f"{spread:.3g}")
        elif block.name == ZEROS:
            out["encoder_offset"] = float(f"{np.sqrt(np.mean(stddev**2)):.3g}")
        elif block.declaration.choice == "losses":
            values, slopes = block.values(mean)
            losses.append(np.mean(slopes * stddev) / max(np.mean(values), 1e-9))
    if losses:
        out["joint_losses"] = float(f"{min(max(np.median(losses), 0.01), 2.0):.3g}")
    return out
