# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Sensor streams of a bag as arrays, as they were recorded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from ..errors import DataError
from ..io.bag import BagReader
from ..io.messages import MessageReader, stamp_ns
from ..recordings.refusals import by_reason
from ..recordings.samples import sensor_samples
from ..recordings.topic_choice import choose_topics, lowstate_reader
from ..robot import Robot
from ..types import CommandSample, ImuSample, JointSample, PoseSample

_FOOT_TYPE = "prime_estimation_msgs/msg/FootForces"
_FIELDS = {
    JointSample: ("joint_states", ("position", "velocity", "effort")),
    CommandSample: ("joint_commands", ("effort",)),
    ImuSample: ("imu", ("angular_velocity", "linear_acceleration", "quat_world_imu")),
    PoseSample: ("mocap/pose", ("position_world", "quat_world_body")),
}


@dataclass(frozen=True)
class Stream:
    """Readings of one sensor in order of arrival.

    Attributes:
        stamps: (n,) when they were measured [s], from the beginning of the recording.
        arrivals: (n,) when they came [s].
        values: fields of the sample by name, (n, k) each; what a sensor does not have is absent.
    """

    stamps: np.ndarray
    arrivals: np.ndarray
    values: dict[str, np.ndarray]

    def __len__(self) -> int:
        return len(self.stamps)

    def at(self, rows: np.ndarray) -> "Stream":
        """The readings of some rows."""
        values = {name: value[rows] for name, value in self.values.items()}
        return Stream(self.stamps[rows], self.arrivals[rows], values)


@dataclass(frozen=True)
class Recording:
    """Streams of a bag.

    Attributes:
        streams: joint_states, joint_commands, imu, mocap/pose, foot_force, contacts, if there.
        topics: topic of each stream; `feet`: names of the columns of foot_force and contacts.
        seconds: length of what was read.
        refused: messages with something wrong, by reason.
    """

    path: Path
    streams: dict[str, Stream]
    topics: dict[str, str]
    seconds: float
    feet: dict[str, list[str]] = field(default_factory=dict)
    refused: dict[str, int] = field(default_factory=dict)

    def get(self, name: str) -> Stream | None:
        """A stream; None where the recording has none."""
        return self.streams.get(name)

    @property
    def torque_stream(self) -> str | None:
        """Stream that has the torques: measured, else commanded; None: there are none, or zeros."""
        for name in ("joint_states", "joint_commands"):
            stream = self.get(name)
            effort = None if stream is None else stream.values.get("effort")
            if effort is not None and effort[np.isfinite(effort)].any():
                return name
        return None

    def scaled(self, stream: str, field_name: str, factor: float) -> "Recording":
        """With a field of a stream in another unit."""
        changed = self.streams[stream]
        values = {**changed.values, field_name: changed.values[field_name] * factor}
        streams = {**self.streams, stream: replace(changed, values=values)}
        return replace(self, streams=streams)

    def moved(self, stream: str, seconds: float) -> "Recording":
        """With the stamps of a stream moved."""
        changed = self.streams[stream]
        streams = {**self.streams, stream: replace(changed, stamps=changed.stamps + seconds)}
        return replace(self, streams=streams)


def read_recording(
    path: str | Path,
    robot: Robot,
    topics: Mapping[str, str] | None = None,
    longest: float = 60.0,
    progress: Callable[[float], None] = lambda fraction: None,
) -> Recording:
    """Streams of the first `longest` seconds of a bag.

    Raises:
        DataError: the bag cannot be read, or does not fit the robot, or has no joint states.
    """
    with BagReader(path) as bag:
        used = choose_topics(bag, robot, True, topics)
        reader = MessageReader(
            robot.joint_names,
            robot.config.locked_joints,
            robot.feet,
            lowstate_reader(bag, used),
            zeros=robot.joint_zeros,
            mocap_delay=robot.config.mocap_delay,
        )
        rows: dict[str, list] = {}
        span = min(longest * 1e9, max(1, bag.end_ns - bag.start_ns))
        for count, (arrival_ns, sample) in enumerate(sensor_samples(bag, used, reader)):
            if arrival_ns - bag.start_ns > span:
                break
            if type(sample) in _FIELDS:
                rows.setdefault(_FIELDS[type(sample)][0], []).append((arrival_ns, sample))
            if count % 1000 == 0:
                progress((arrival_ns - bag.start_ns) / span)
        reader.check_joints_seen()
        if len(rows.get("joint_states", ())) < 2:
            told = by_reason(reader.counts)
            refused = f" that can be read; refused: {told}" if told else ""
            raise DataError(f"{bag.path} has no joint states{refused}", path)
        start = bag.start_ns
        streams = {name: _stream(name, entries, start) for name, entries in rows.items()}
        feet = _foot_streams(bag, start, span, streams)
        return Recording(
            Path(path), streams, used, span * 1e-9, feet, {**reader.counts, **bag.rejected}
        )


def _stream(name: str, entries: list, start_ns: int) -> Stream:
    fields = next(names for topic, names in _FIELDS.values() if topic == name)
    stamps = np.array([sample.stamp_ns - start_ns for _, sample in entries]) * 1e-9
    arrivals = np.array([arrival - start_ns for arrival, _ in entries]) * 1e-9
    values = {}
    for field_name in fields:
        column = [getattr(sample, field_name) for _, sample in entries]
        width = next((len(v) for v in column if v is not None), 0)
        if width:
            missing = np.full(width, np.nan)
            values[field_name] = np.array([missing if v is None else v for v in column])
    return Stream(stamps, arrivals, values)


def _foot_streams(bag: BagReader, start_ns: int, span: float, streams: dict) -> dict:
    """Readings of foot_force and contacts into `streams`; names of their feet."""
    feet = {}
    for topic in bag.topics.values():
        name = topic.name.strip("/").split("/")[-1]
        if topic.type != _FOOT_TYPE or name not in ("foot_force", "contacts"):
            continue
        rows = [(a, m) for _, a, m in bag.messages([topic.name]) if a - start_ns <= span]
        if not rows:
            continue
        feet[name] = list(dict.fromkeys(foot for _, m in rows for foot in m.name))
        stamps = np.array([stamp_ns(m.header) - start_ns for _, m in rows]) * 1e-9
        arrivals = np.array([a - start_ns for a, _ in rows]) * 1e-9
        told = [dict(zip(m.name, m.force)) for _, m in rows]
        force = np.array([[row.get(foot, np.nan) for foot in feet[name]] for row in told], float)
        streams[name] = Stream(stamps, arrivals, {"force": force})
    return feet
