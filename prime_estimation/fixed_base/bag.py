# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Joint recordings from bags."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ..errors import ConfigError, DataError
from ..io.bag import BagReader
from ..io.messages import MessageReader
from ..recordings.samples import samples_between
from ..recordings.topic_choice import choose_topics, lowstate_reader
from ..robot import Robot
from ..types import JointSample
from .recording import JointRecording


def read_bag(
    path: str | Path,
    robot: Robot,
    span: tuple[float, float] = (0.0, float("inf")),
    topics: Mapping[str, str] | None = None,
) -> JointRecording:
    """Joint positions and efforts of a bag, by their stamps [s] from the first one on.

    Args:
        path: rosbag2 folder, MCAP or sqlite3 file.
        robot: names of the joints.
        span: first and last second of the bag that are used, from its beginning.
        topics: sensor topics by role, where they cannot be found by type and name.

    Raises:
        ConfigError: `robot` is something else, as its name.
        DataError: the bag cannot be read, does not fit the robot, or has no joint states with
            efforts in the span.
    """
    if not isinstance(robot, Robot):
        raise ConfigError(f"read_bag takes a Robot (Robot.load), got {robot!r:.60}", robot)
    with BagReader(path) as bag:
        used = choose_topics(bag, robot, False, topics)
        reader = MessageReader(
            robot.joint_names, robot.config.locked_joints, robot.feet, lowstate_reader(bag, used)
        )
        samples = [
            sample
            for _, sample in samples_between(bag, used, reader, span)
            if type(sample) is JointSample
        ]
        reader.check_joints_seen()
    if not samples:
        raise DataError(f"{path}: no joint states from {span[0]:g} to {span[1]:g} s")
    if any(sample.effort is None for sample in samples):
        raise DataError(
            f"{path}: the joint states have no effort; torques are needed, zero for passive joints"
        )
    stamps, first = np.unique([sample.stamp_ns for sample in samples], return_index=True)
    chosen = [samples[i] for i in first]
    return JointRecording(
        1e-9 * (stamps - stamps[0]),
        np.array([sample.position for sample in chosen]),
        np.array([sample.effort for sample in chosen]),
    )
