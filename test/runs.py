# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Recorded or simulated bags as the measurements of the estimator's nodes."""

from __future__ import annotations

from pathlib import Path

from prime_estimation.config import Config
from prime_estimation.io.bag import BagReader
from prime_estimation.io.messages import Inbound
from prime_estimation.recorded import choose_topics, sensor_samples
from prime_estimation.robot import Robot
from prime_estimation.sync import Synchronizer
from prime_estimation.types import Measurement


def measurements(
    bag_path: Path, robot: Robot, config: Config, seconds: float, mocap: bool = True, effort: bool = True
) -> list[Measurement]:
    """The measurements of all nodes in the first `seconds` of a bag."""
    inbound, out = Inbound(robot.joint_names), []
    sync = Synchronizer(round(config.estimator.step * 1e9), robot.nj, use_mocap=mocap, use_effort=effort)
    with BagReader(bag_path) as bag:
        for arrival_ns, sample in sensor_samples(bag, choose_topics(bag, robot, mocap), inbound):
            if arrival_ns - bag.start_ns > seconds * 1e9:
                break
            sync.push(sample)
            while (measurement := sync.pop()) is not None:
                out.append(measurement)
    return out
