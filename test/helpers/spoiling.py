# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""A recording that is spoilt message by message."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest

from prime_estimation.io.bag import BagReader, BagWriter
from prime_estimation.io.messages import stamp_ns

SECONDS = 2.4  # of data: start batch, trouble at 1.2 s, and time to recover
SENSORS = ("/joint_states", "/imu", "/mocap/pose")


def trot(folder: Path) -> tuple[Path, list]:
    """Recording of a trotting Go2, and the messages of its sensors as (topic, arrival_ns,
    message)."""
    pytest.importorskip("mujoco")
    from prime_estimation import simulate

    path = simulate.run("go2", "trot", SECONDS, folder / "run", start=1.0)
    with BagReader(path) as bag:
        return path, list(bag.messages(SENSORS))


def write(path, messages, spoil: Callable):
    """A bag of the messages that `spoil(topic, seconds, message)` returns."""
    start_ns = messages[0][1]
    with BagWriter(path) as bag:
        for topic, arrival_ns, message in messages:
            changed = spoil(topic, (stamp_ns(message.header) - start_ns) * 1e-9, message)
            if changed is not None:
                bag.write(topic, arrival_ns, changed)
    return path


def shifted(message, seconds: float):
    """The message with another stamp."""
    stamp = stamp_ns(message.header) + round(seconds * 1e9)
    time = type(message.header.stamp)(sec=stamp // 10**9, nanosec=stamp % 10**9)
    return dataclasses.replace(message, header=dataclasses.replace(message.header, stamp=time))
