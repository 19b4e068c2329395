# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Recorded or simulated bags as the measurements of the estimator's nodes, and their ground
truth."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio as pin

from prime_estimation.config.parameters import Config
from prime_estimation.io.bag import BagReader
from prime_estimation.io.messages import stamp_ns
from prime_estimation.recordings import samples as recorded
from prime_estimation.robot import Robot
from prime_estimation.types import Estimate, Measurement


def measurements(
    bag_path: Path,
    robot: Robot,
    config: Config,
    seconds: float,
    mocap: bool = True,
    effort: bool = True,
) -> list[Measurement]:
    """The measurements of all nodes in the first `seconds` of a bag."""
    return recorded.measurements(
        bag_path,
        robot,
        config.estimator.step,
        mocap=mocap,
        span=(0.0, seconds),
        use_effort=effort,
    )


def truth(bag, topic: str, read) -> tuple[np.ndarray, np.ndarray]:
    """Stamps [ns] and values of a recorded topic."""
    with BagReader(bag) as reader:
        rows = [(stamp_ns(m.header), read(m)) for _, _, m in reader.messages([topic])]
    return np.array([t for t, _ in rows]), np.array([v for _, v in rows])


def velocity_errors(bag, estimates: list[Estimate]) -> np.ndarray:
    """Of the base, in its axes, (n, 3) [m/s]."""
    linear = lambda m: [getattr(m.twist.twist.linear, i) for i in "xyz"]  # noqa: E731
    stamps, velocity = truth(bag, "/ground_truth/odom", linear)
    at = np.array([e.stamp_ns for e in estimates])
    true = np.stack([np.interp(at, stamps, column) for column in velocity.T], axis=1)
    return np.array([e.linear_velocity_base for e in estimates]) - true


def tilt_errors(bag, estimates: list[Estimate]) -> np.ndarray:
    """Angle (n,) between the true vertical and the estimated one, in the base's axes [rad]."""
    axes = lambda m: [getattr(m.pose.pose.orientation, i) for i in "xyzw"]  # noqa: E731
    stamps, quats = truth(bag, "/ground_truth/odom", axes)
    up = lambda quat: pin.Quaternion(np.array(quat)).toRotationMatrix()[2]  # noqa: E731
    true = [up(quats[np.abs(stamps - e.stamp_ns).argmin()]) for e in estimates]
    pairs = zip(true, estimates)
    return np.array([np.linalg.norm(np.cross(t, up(e.quat_world_base))) for t, e in pairs])
