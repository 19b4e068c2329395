# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Samples and measurements of a recording, read from the topics that were chosen."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path

import numpy as np

from ..errors import DataError
from ..io.bag import BagReader
from ..io.messages import LOCKED_MOVED, MessageReader
from ..robot import Robot
from ..types import Measurement, Sample
from .pipeline import Intake
from .plausibility import no_specific_force
from .refusals import by_reason
from .topic_choice import choose_topics, lowstate_reader, optional_sensors

_MOVED = 10  # joint messages in which a locked joint is elsewhere: more than a wrong reading
_OLDEST_NS = 1_000_000_000  # of a node, when the sample comes that completes it


def sensor_samples(
    bag: BagReader, topics: Mapping[str, str], reader: MessageReader
) -> Iterator[tuple[int, Sample]]:
    """(arrival_ns, sample) of the sensor topics (role -> topic) in order of arrival.

    Of a raw message only what other topics do not give. Poses that are late (`mocap_delay`) come
    when they were taken.
    """
    role_of = {topic: role for role, topic in topics.items()}
    for topic, arrival_ns, message in _in_time(bag, role_of, reader.mocap_late_ns):
        for sample in reader.samples(role_of[topic], message, arrival_ns, topics):
            yield arrival_ns, sample


def _in_time(bag: BagReader, role_of: Mapping[str, str], late_ns: int) -> Iterator[tuple]:
    """(topic, arrival_ns, message), those of late motion capture before what came with them."""
    late = {topic for topic, role in role_of.items() if role == "mocap" and late_ns > 0}
    if not late:
        return bag.messages(role_of)
    poses = ((topic, at - late_ns, message) for topic, at, message in bag.messages(late))
    others = bag.messages(role_of.keys() - late)
    return heapq.merge(others, poses, key=lambda came: came[1])


def samples_between(
    bag: BagReader,
    topics: Mapping[str, str],
    reader: MessageReader,
    span: tuple[float, float],
) -> Iterator[tuple[float, Sample]]:
    """(share of the bag that has been read, sample) of those that arrived within a span [s].

    Raises:
        DataError: the span begins after the end of the bag.
    """
    whole = max(1, bag.end_ns - bag.start_ns)
    if 1e9 * span[0] > whole:
        ends = f"{bag.path} ends after {1e-9 * whole:.2f} s"
        raise DataError(f"{ends}, before the {span[0]:g} s at which to begin", span)
    for arrival_ns, sample in sensor_samples(bag, topics, reader):
        seconds = 1e-9 * (arrival_ns - bag.start_ns)
        if seconds > span[1]:
            return
        if seconds >= span[0]:
            yield min(1.0, 1e9 * seconds / whole), sample


def measurements(
    bag_path: str | Path,
    robot: Robot,
    step: float,
    *,
    mocap: bool = True,
    topics: Mapping[str, str] | None = None,
    without: Collection[str] = (),
    span: tuple[float, float] = (0.0, float("inf")),
    progress: Callable[[float], None] = lambda fraction: None,
    counted: Callable[[Mapping[str, int]], None] = lambda counts: None,
    began: Callable[[float], None] = lambda second: None,
    noticed: Callable[[str], None] = lambda notice: None,
    **options,
) -> list[Measurement]:
    """All measurements of a bag, one per node.

    Args:
        bag_path: rosbag2 folder, MCAP or sqlite3 file.
        robot: names of the joints.
        step: time between nodes [s].
        mocap: use motion capture if the bag has it.
        topics: sensor topics by role, where they cannot be found by type and name.
        without: sensors that are not wanted.
        span: first and last second of the bag that are used, from its beginning.
        progress: called now and then with the fraction read.
        counted: called at the end with what was refused, by reason.
        began: called with the second of the bag at which the first measurement is: sensors may
            begin later than other topics.
        noticed: called with a line about what could not be read of a damaged bag.
        options: of the synchronizer.

    Raises:
        DataError: the bag cannot be used or does not fit the robot.
    """
    with BagReader(bag_path) as bag:
        used = choose_topics(bag, robot, mocap, topics, without)
        lowstate = lowstate_reader(bag, used)
        optional = optional_sensors(used, lowstate, without)
        intake = Intake(robot, step, "mocap" in used, optional, lowstate, **options)
        out = []
        for share, sample in samples_between(bag, used, intake.reader, span):
            for node in intake.take(sample):
                if not out:
                    began(_second(bag, share, sample.stamp_ns - node.measurement.stamp_ns))
                out.append(node.measurement)
                if len(out) % 50 == 0:
                    progress(share)
        _check(bag, intake, step, out)
        if bag.notice:
            noticed(bag.notice)
        counted(intake.counts + bag.undecodable)
        return out


def _second(bag: BagReader, share: float, age_ns: int) -> float:
    """Second of a bag, of which a share has been read, at which a node of an age was measured.

    Stamps may be of any clock, or of several: then the age is left out.
    """
    age_ns = age_ns if 0 <= age_ns < _OLDEST_NS else 0
    return max(0.0, 1e-9 * (share * (bag.end_ns - bag.start_ns) - age_ns))


def _check(bag: BagReader, intake: Intake, step: float, out: list[Measurement]) -> None:
    """DataError where a bag gave no measurement, or those of another robot or unit."""
    if not out:
        intake.reader.check_joints_seen()
        refused = by_reason(intake.counts + bag.undecodable) or "nothing"
        why = f"joint states and IMU do not overlap, or are too short (refused: {refused})"
        raise DataError(f"{bag.path} holds no complete node of {step:g} s: {why}", bag.path)
    if (moved := intake.reader.counts[LOCKED_MOVED]) >= _MOVED:
        what = "a joint of robot.locked_joints is not in its place"
        told = f"{what}: the model is not that of this robot"
        raise DataError(f"{bag.path}: in {moved} messages {told}", bag.path)
    felt = [np.linalg.norm(m.accelerometer) for m in out if m.accelerometer is not None]
    if len(felt) * step > 1.0 and (doubt := no_specific_force(float(np.mean(felt)))):
        raise DataError(f"{bag.path}: {doubt}", bag.path)
