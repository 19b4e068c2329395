# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The beginning of a recording, as a recording of its own."""

from pathlib import Path

from prime_estimation.io.bag import BagReader, BagWriter


def beginning(source: Path, target: Path, seconds: float, skip: float = 0.0) -> Path:
    """The sensors' messages of the first seconds, or of as many behind the skipped ones."""
    topics = ("/joint_states", "/imu", "/mocap/pose")
    with BagReader(source) as bag, BagWriter(target) as writer:
        first = bag.start_ns + round(skip * 1e9)
        for topic, at, message in bag.messages(topics):
            if first <= at < first + seconds * 1e9:
                writer.write(topic, at, message)
    return target
