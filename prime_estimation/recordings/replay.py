# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Replay: bag -> pipeline -> messages -> bag, in data time only: it repeats bit for bit."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ..config.parameters import Config
from ..errors import DataError
from ..io.bag import BagReader, BagWriter, keep_input
from ..output_messages import Outputs
from ..robot import Robot
from ..robot.checks import check_configuration
from ..types import Estimate, ImuSample, Sample
from .pipeline import Pipeline
from .plausibility import Plausibility
from .refusals import by_reason
from .samples import sensor_samples
from .topic_choice import choose_topics, lowstate_reader, optional_sensors

PREFIX = "/prime/"
# without a node for longer, odometry stops: a sample with a wrong stamp, or no joints any more
LONGEST_PREDICTION_NS = 100_000_000


@dataclass
class ReplaySummary:
    """Summary of a replay.

    Attributes:
        topics: sensor topics used, by role.
        nodes: estimates published.
        data_seconds, wall_seconds: span of the data, and the time it took.
        counts: refused messages and samples by reason.
        notice: empty, or what could not be read of the bag.
        final: the last estimate.
        doubts: that the estimate broke off before the recording, and what the readings at the end
            cannot be, or seldom are, in words.
    """

    topics: dict[str, str]
    nodes: int
    data_seconds: float
    wall_seconds: float
    counts: dict[str, int]
    notice: str
    final: Estimate
    doubts: list[str]

    def to_dict(self) -> dict:
        """Plain values for JSON."""
        final = self.final
        bodies = {
            b.link: {
                "mass_kg": b.mass,
                "mass_stddev_kg": b.mass_stddev,
                "com_m": b.com.tolist(),
                "observable": b.observable,
            }
            for b in final.bodies
        }
        return {
            "topics": self.topics,
            "nodes": self.nodes,
            "data_seconds": self.data_seconds,
            "wall_seconds": self.wall_seconds,
            "real_time_factor": self.data_seconds / self.wall_seconds,
            "counts": self.counts,
            "notice": self.notice,
            "doubts": self.doubts,
            "total_mass_kg": final.total_mass,
            "total_mass_stddev_kg": final.total_mass_stddev,
            "bodies": bodies,
            "restarts": final.status.restarts,
            "refused_steps": final.status.refused_steps,
        }


def replay(
    bag_path: str | Path,
    robot: Robot,
    config: Config,
    out: str | Path,
    *,
    mocap: bool = True,
    realtime: bool = False,
    topics: Mapping[str, str] | None = None,
    without: Collection[str] = (),
    progress: Callable[[float], None] = lambda fraction: None,
    observer: Callable[[Estimate], None] = lambda estimate: None,
) -> ReplaySummary:
    """Estimates from a bag, and writes the output topics to `out` as `/prime/...`, in data time.

    Args:
        bag_path: rosbag2 folder, MCAP or sqlite3 file.
        robot: what is estimated.
        config: how it is estimated.
        out: the output bag, `*.mcap`.
        mocap: use motion capture if the bag has it.
        realtime: pace the input as it was recorded.
        topics: sensor topics by role, where they cannot be found by type and name.
        without: sensors that are not used.
        progress: called now and then with the fraction of the bag that is done.
        observer: called with every estimate.

    Raises:
        DataError: the bag cannot be used, or does not fit the robot, or is too short for one
            estimate.
    """
    check_configuration(robot, config)
    keep_input(out, bag_path)
    started = time.perf_counter()
    with BagReader(bag_path) as bag:
        used = choose_topics(bag, robot, mocap, topics, without)
        lowstate = lowstate_reader(bag, used)
        optional = optional_sensors(used, lowstate, without, config.node.sensors)
        pipeline = Pipeline(robot, config, "mocap" in used, optional, lowstate)
        with BagWriter(out) as writer:
            outputs = Outputs(robot, config.estimator, writer.message_class)
            run = _Run(bag, pipeline, outputs, writer, observer, Plausibility(robot))
            run.play(sensor_samples(bag, used, pipeline.intake.reader), realtime, progress)
            if run.last is None:
                pipeline.intake.reader.check_joints_seen()
                raise DataError(_why_no_estimate(bag, used, pipeline, run.plausibility), bag_path)
        counts = dict(pipeline.counts + bag.undecodable)
        seconds = (bag.end_ns - bag.start_ns) * 1e-9, time.perf_counter() - started
        broken_off = run.broken_off(config.estimator.start_duration)
        doubts = [*filter(None, [broken_off]), *run.plausibility.hints]
        return ReplaySummary(used, run.nodes, *seconds, counts, bag.notice, run.last, doubts)


class _Run:
    """State of one replay."""

    def __init__(
        self,
        bag: BagReader,
        pipeline: Pipeline,
        outputs: Outputs,
        writer: BagWriter,
        observer: Callable[[Estimate], None],
        plausibility: Plausibility,
    ):
        self._bag = bag
        self._pipeline = pipeline
        self._outputs = outputs
        self._writer = writer
        self._observer = observer
        self.plausibility = plausibility
        for topic, kind in outputs.topics().items():
            writer.add_topic(absolute(topic), kind)
        self._predicted: Estimate | None = None
        self.nodes = 0
        self.last: Estimate | None = None
        self._last_ns = self._end_ns = bag.start_ns  # arrivals: of what completed it, of the newest

    def play(
        self,
        samples: Iterator[tuple[int, Sample]],
        realtime: bool,
        progress: Callable[[float], None],
    ) -> None:
        start, span = self._bag.start_ns, max(1, self._bag.end_ns - self._bag.start_ns)
        clock, shown = time.perf_counter(), 0.0
        for arrival_ns, sample in samples:
            due = clock + (arrival_ns - start) * 1e-9
            if realtime and due > time.perf_counter():
                time.sleep(max(0.0, due - time.perf_counter()))
            self.plausibility.take(sample)
            self._end_ns = arrival_ns
            for estimate in self._pipeline.push(sample):
                self._last_ns = arrival_ns
                if realtime:
                    latency_ms = 1e3 * (time.perf_counter() - due)
                    estimate = replace(
                        estimate, status=replace(estimate.status, latency_ms=latency_ms)
                    )
                self._publish(estimate)
            self._predict(sample)
            fraction = (arrival_ns - start) / span
            if fraction - shown > 0.002:
                progress(fraction)
                shown = fraction
        progress(1.0)

    def broken_off(self, start: float) -> str:
        """That there was no estimate at the end, for longer than a start takes [s]; else empty."""
        seconds = 1e-9 * (self._end_ns - self._last_ns)
        if seconds <= start:
            return ""
        estimator = self._pipeline.estimator
        lost = estimator.monitors.last_restart[1] if estimator.window is None else ""
        why = lost or "no readings of joints and IMU together"
        return f"there was no estimate for {seconds:.2f} s: {why}"

    def _publish(self, estimate: Estimate) -> None:
        self.nodes += 1
        self.last = estimate
        if self._predicted is not None and self._predicted.stamp_ns < estimate.stamp_ns:
            self._write_predicted()
        self._predicted = None
        for topic, message in self._outputs.messages(estimate):
            self._writer.write(absolute(topic), estimate.stamp_ns, message)
        self._observer(estimate)

    def _predict(self, sample: Sample) -> None:
        """Odometry at IMU rate. One prediction is held back.

        At a node's own time the node's estimate is what counts.
        """
        if not isinstance(sample, ImuSample) or self.last is None:
            return
        if not 0 < sample.stamp_ns - self.last.stamp_ns <= LONGEST_PREDICTION_NS:
            return
        predicted = self._pipeline.predict(sample)
        if predicted is not None and predicted.stamp_ns > self.last.stamp_ns:
            self._write_predicted()
            self._predicted = predicted

    def _write_predicted(self) -> None:
        if self._predicted is not None:
            self._writer.write(
                f"{PREFIX}odometry",
                self._predicted.stamp_ns,
                self._outputs.odometry(self._predicted),
            )


def absolute(topic: str) -> str:
    """Name of an output topic in a bag."""
    return topic if topic.startswith("/") else PREFIX + topic


def _why_no_estimate(
    bag: BagReader, used: Mapping[str, str], pipeline: Pipeline, plausibility: Plausibility
) -> str:
    seen = ", ".join(f"{role} {bag.topics[topic].count}" for role, topic in used.items())
    refused = by_reason(pipeline.intake.counts) or "nothing"
    seconds = (bag.end_ns - bag.start_ns) * 1e-9
    failure = pipeline.estimator.monitors.last_restart[1]
    told = "; ".join(filter(None, [plausibility.apart, *plausibility.hints]))
    why = told or failure or "not enough for a start"
    data = f"{seconds:.2f} s of data ({seen} messages; refused: {refused})"
    beside = f" ({failure})" if told and failure else ""
    see = "; `prime doctor --bag` tells more" if failure else ""
    return f"no estimate from {bag.path}: {why}{beside}; {data}{see}"
