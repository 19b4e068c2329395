# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""From a recording to a robot's samples: which topics, and what is in their messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from ..alignment.synchronizer import Synchronizer
from ..errors import DataError
from ..io.bag import BagReader
from ..io.messages import LOCKED_MOVED, Inbound
from ..io.topics import LOWSTATE, ROLES, describe_topics, find_sensor_topics
from ..io.typestore import typestore
from ..io.unitree import FAMILIES, LowStateReader
from ..robot import Robot
from ..types import Measurement, Sample

_IN_LOWSTATE = ("joint_states", "imu")
_MOVED = 10  # joint messages in which a locked joint is elsewhere: more than a wrong reading


def choose_topics(
    bag: BagReader, robot: Robot, mocap: bool, given: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Sensor topics of the bag by role.

    Unitree's raw `lowstate` stands in for joint states and IMU that are not there.

    Args:
        bag: the recording.
        robot: decides whether an IMU is needed.
        mocap: motion capture is wanted.
        given: topics chosen by the user, by role.

    Raises:
        DataError: a sensor that the robot needs is not in the bag, or several topics could be it.
    """
    given = dict(given or {})
    raw_wanted = LOWSTATE in given
    roles = [
        r for r in ROLES if (r != "mocap" or mocap) and (r != "imu" or robot.imu_joint is not None)
    ]
    found = find_sensor_topics(
        bag.topics, given, [r for r in roles if not (raw_wanted and r in _IN_LOWSTATE)]
    )
    missing = [r for r in _IN_LOWSTATE if r in roles and r not in found]
    if missing and not raw_wanted:
        found.update(find_sensor_topics(bag.topics, {}, [LOWSTATE]))
    if missing and LOWSTATE not in found:
        kinds = ", ".join(f"{r} ({' or '.join(ROLES[r].types)})" for r in missing)
        raise DataError(f"{bag.path} lacks {kinds}; it has {describe_topics(bag.topics)}", missing)
    return found


def sensor_samples(
    bag: BagReader, topics: Mapping[str, str], inbound: Inbound
) -> Iterator[tuple[int, Sample]]:
    """(arrival_ns, sample) of the sensor topics (role -> topic) in order of arrival."""
    role_of = {topic: role for role, topic in topics.items()}
    lowstate = _lowstate_reader(bag, topics, inbound)
    for topic, arrival_ns, message in bag.messages(role_of):
        role = role_of[topic]
        parts = lowstate(message, arrival_ns) if role == LOWSTATE else ((role, message),)
        for part_role, part in parts:
            sample = inbound.sample(part_role, part, arrival_ns)
            if sample is not None:
                yield arrival_ns, sample


def measurements(
    bag_path: str | Path,
    robot: Robot,
    step: float,
    *,
    mocap: bool = True,
    topics: Mapping[str, str] | None = None,
    span: tuple[float, float] = (0.0, float("inf")),
    progress: Callable[[float], None] = lambda fraction: None,
    synchronizer: Callable[[Robot, float, bool], Synchronizer] = Synchronizer.of,
) -> list[Measurement]:
    """All measurements of a bag, one per node.

    Args:
        bag_path: rosbag2 folder, MCAP or sqlite3 file.
        robot: names of the joints.
        step: time between nodes [s].
        mocap: use motion capture if the bag has it.
        topics: sensor topics by role, where they cannot be found by type and name.
        span: first and last second of the bag that are used, from its beginning.
        progress: called now and then with the fraction read.
        synchronizer: makes what aligns the streams, as `Synchronizer.of`.

    Raises:
        DataError: the bag cannot be used or does not fit the robot.
    """
    with BagReader(bag_path) as bag:
        used = choose_topics(bag, robot, mocap, topics)
        inbound, out = Inbound(robot.joint_names, robot.config.locked_joints), []
        sync = synchronizer(robot, step, "mocap" in used)
        whole = max(1, bag.end_ns - bag.start_ns)
        for arrival_ns, sample in sensor_samples(bag, used, inbound):
            seconds = 1e-9 * (arrival_ns - bag.start_ns)
            if seconds > span[1]:
                break
            if seconds < span[0]:
                continue
            sync.push(sample)
            while (measurement := sync.pop()) is not None:
                out.append(measurement)
                if len(out) % 50 == 0:
                    progress(min(1.0, 1e9 * seconds / whole))
        if not out:
            inbound.check_joints_seen()
            why = "joint states and IMU do not overlap, or are too short"
            raise DataError(f"{bag.path} holds no complete node of {step:g} s: {why}", bag_path)
        if (moved := inbound.counts[LOCKED_MOVED]) >= _MOVED:
            what = "a joint of robot.locked_joints is not in its place: the model is not that of this robot"
            raise DataError(f"{bag.path}: in {moved} messages {what}", bag_path)
        return out


def _lowstate_reader(bag: BagReader, topics: Mapping[str, str], inbound: Inbound):
    """Function that splits a LowState into the messages that other topics do not give already."""
    wanted = [r for r in _IN_LOWSTATE if r not in topics]
    if LOWSTATE not in topics:
        return None
    family = next(f for f in FAMILIES.values() if f.type == bag.topics[topics[LOWSTATE]].type)
    reader = LowStateReader(family, typestore().types.__getitem__)

    def split(message, arrival_ns: int) -> list[tuple[str, object]]:
        pair = reader.read(message, arrival_ns)
        if pair is None:
            inbound.refused += 1
            inbound.counts.update(reader.counts)
            reader.counts.clear()
            return []
        return [
            (role, part) for role, part in zip(_IN_LOWSTATE, pair, strict=True) if role in wanted
        ]

    return split
