# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Pipeline: message -> sample -> measurement -> estimate.

The same for live node, replay and offline reading.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

import pinocchio as pin

from ..alignment.synchronizer import Synchronizer
from ..config.parameters import Config
from ..estimator import Estimator
from ..io.messages import MessageReader
from ..io.unitree import LowStateReader
from ..robot import Robot
from ..types import Estimate, Measurement, Sample, SensorHealth


@dataclass(frozen=True)
class Node:
    """A measurement that is due; `apart`: nothing before it is to be connected with it."""

    measurement: Measurement
    apart: bool = False


class Intake:
    """Messages in, measurements of nodes out.

    Args:
        robot: whose sensors these are.
        step: between nodes [s].
        mocap: use motion capture. sensors: names of further optional sensors.
        lowstate: splits Unitree's raw messages, where there are some.
        options: of the synchronizer.

    Attributes:
        reader: messages to samples. sync: samples to measurements.
    """

    def __init__(
        self,
        robot: Robot,
        step: float,
        mocap: bool = True,
        sensors: Collection[str] = (),
        lowstate: LowStateReader | None = None,
        **options,
    ):
        self.reader = MessageReader(
            robot.joint_names,
            robot.config.locked_joints,
            robot.feet,
            lowstate,
            sensors,
            *_machine(robot),
        )
        self.sync = Synchronizer.of(robot, step, mocap, sensors, **options)

    @property
    def counts(self) -> Counter[str]:
        """What was refused or went wrong, by reason."""
        return Counter(self.reader.counts) + Counter(self.sync.counts)

    @property
    def dropped(self) -> int:
        """Messages and samples that were refused, late, or missing at their node."""
        return self.reader.refused + self.sync.dropped_samples

    def take(self, sample: Sample) -> Iterator[Node]:
        """The nodes that this sample completes (mostly none or one)."""
        self.sync.push(sample)
        while (measurement := self.sync.pop()) is not None:
            yield Node(measurement, self.sync.pop_discontinuity())

    def health(self, sensors: tuple[SensorHealth, ...]) -> tuple[SensorHealth, ...]:
        """Health of sensors, with what the newest joint message contradicts of the model."""
        trouble = self.reader.trouble
        return tuple(
            replace(s, ok=False, message=trouble) if trouble and s.name == "joint_states" else s
            for s in sensors
        )


def _machine(robot: Robot) -> tuple:
    """Joint zeros and place of motion capture's body; None where they are those of the URDF."""
    zeros, body = robot.joint_zeros, robot.mocap_placement
    pose = pin.SE3ToXYZQUAT(body)
    return zeros if zeros.any() else None, None if body.isIdentity() else (pose[3:], pose[:3])


class Pipeline:
    """Samples in, estimates out, in one thread.

    Args:
        robot, config: what is estimated, and how.
        mocap: use motion capture. sensors: names of further optional sensors.
        lowstate: splits Unitree's raw messages, where there are some.
    """

    def __init__(
        self,
        robot: Robot,
        config: Config,
        mocap: bool = True,
        sensors: Collection[str] = (),
        lowstate: LowStateReader | None = None,
    ):
        self.intake = Intake(robot, config.estimator.step, mocap, sensors, lowstate)
        self.estimator = Estimator(robot, config, mocap, sensors)

    @property
    def counts(self) -> Counter[str]:
        """What was refused or went wrong, by reason."""
        return self.intake.counts + self.estimator.counts

    def push(self, sample: Sample) -> Iterator[Estimate]:
        """The estimates of all nodes that this sample completes (mostly none or one)."""
        for node in self.intake.take(sample):
            estimate = update(self.estimator, node)
            if estimate is not None:
                sensors = self.intake.health(estimate.status.sensors)
                dropped = self.intake.dropped + self.estimator.counts.total()
                status = replace(estimate.status, dropped_samples=dropped, sensors=sensors)
                yield replace(estimate, status=status)


def update(estimator: Estimator, node: Node, iterations: int | None = None) -> Estimate | None:
    """Estimate of a node; the estimator starts anew where time is not connected."""
    if node.apart:
        estimator.reset()
    return estimator.update(node.measurement, iterations)
