# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Pipeline: message -> sample -> measurement -> estimate, for live node, replay and offline."""

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
from ..sensors import SENSORS
from ..types import NO_DATA, Estimate, ImuSample, Measurement, Sample, SensorHealth
from .imu_clock import ImuClock
from .pose_clock import PoseClock
from .rate_lag import RateLag
from .refusals import most_refused


@dataclass(frozen=True)
class Node:
    """A measurement that is complete; `apart`: a discontinuity lies before it."""

    measurement: Measurement
    apart: bool = False


class Intake:
    """Makes measurements of nodes from messages or samples.

    Args:
        robot: robot with the sensors.
        step: time between nodes [s].
        mocap: use motion capture. sensors: names of further optional sensors.
        lowstate: splits Unitree's raw messages, if they are used.
        imu_clock: estimate the delay of the IMU's stamps, and correct later stamps.
        options: of the synchronizer.

    Attributes:
        reader: messages to samples. sync: samples to measurements.
        imu_clock: estimates that delay; None: it is not estimated. rates: detects joint rates that
            lag the positions. pose_clock: detects poses that are late; None: none are used.
    """

    def __init__(
        self,
        robot: Robot,
        step: float,
        mocap: bool = True,
        sensors: Collection[str] = (),
        lowstate: LowStateReader | None = None,
        imu_clock: bool = False,
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
        self._robot, self.rates = robot, RateLag(step)
        self._came: Counter[type] = Counter()  # samples
        self.imu_clock = ImuClock.of(robot) if imu_clock else None
        self.pose_clock = PoseClock.of(robot, step) if mocap else None

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
        self._came[type(sample)] += 1
        self.sync.push(sample)
        while (measurement := self.sync.pop()) is not None:
            if self.rates.learn(measurement):
                self._undo_imu_clock()
            measurement = self.rates.without(measurement)
            self._watch_imu_clock(measurement)
            if self.pose_clock is not None:
                self.pose_clock.learn(measurement)
            yield Node(measurement, self.sync.pop_discontinuity())

    def _watch_imu_clock(self, measurement: Measurement) -> None:
        """Correct the stamps of the IMU once a delay is certain."""
        late_ns = self.imu_clock.learn(measurement) if self.imu_clock else 0
        if late_ns:
            self.reader.imu_late_ns += late_ns
            self.sync.shift_imu(-late_ns)

    def _undo_imu_clock(self) -> None:
        """Discard the delay of the IMU's stamps: it was estimated from joint rates that lag."""
        if self.imu_clock is None:
            return
        self.imu_clock = ImuClock.of(self._robot)
        if late_ns := self.reader.imu_late_ns:
            self.reader.imu_late_ns = 0
            self.sync.shift_imu(late_ns)

    def _health(
        self, sensors: tuple[SensorHealth, ...], refused: Counter
    ) -> tuple[SensorHealth, ...]:
        """Health of sensors, with what is corrected, refused, or contradicts the model.

        Args:
            sensors: as the estimator says.
            refused: by its model, by reason.
        """
        trouble, remarks = self.reader.trouble, self._remarks()
        out = []
        for s in sensors:
            if trouble and s.name == "joint_states":
                s = replace(s, ok=False, message=trouble)
            elif s.name in remarks and not s.message:
                s = replace(s, message=remarks[s.name])
            elif s.message.startswith(NO_DATA) and (lost := self._lost(s.name, refused)):
                s = replace(s, message=lost + s.message.removeprefix(NO_DATA))
            if s.name == "mocap" and self.pose_clock and (late := self.pose_clock.remark):
                s = replace(s, ok=False, message="; ".join(filter(None, [late, s.message])))
            out.append(s)
        return tuple(out)

    def with_status(self, estimate: Estimate, refused: Counter, lost: int = 0) -> Estimate:
        """An estimate whose status includes what is known of the streams.

        Args:
            estimate: as the estimator made it.
            refused: readings that its model refused, by reason.
            lost: messages that never arrived and nodes that were never solved.
        """
        if self.pose_clock is not None:
            self.pose_clock.doubt(refused["mocap_outlier"])
        sensors = self._health(estimate.status.sensors, refused)
        dropped = self.dropped + refused.total() + lost
        status = replace(estimate.status, sensors=sensors, dropped_samples=dropped)
        return replace(estimate, status=status)

    def _lost(self, name: str, refused: Counter) -> str:
        """Why an optional sensor has no data although messages came; empty if none came."""
        kind = next((s.sample for s in SENSORS if s.name == name and s.optional), None)
        unread = self.reader.refused_of[name]
        return most_refused(name, self._came[kind], self.counts + refused, unread) if kind else ""

    def _remarks(self) -> dict[str, str]:
        """Corrections of the streams, by sensor."""
        remarks = {}
        if late_ns := self.reader.imu_late_ns:
            side = "late" if late_ns > 0 else "early"
            told = f"stamps {1e-6 * abs(late_ns):.1f} ms {side} against the joints: corrected"
            remarks["imu"] = told
        joints = []
        if lag := self.rates.lag:
            what = f"rates lag the positions by {1e3 * lag:.0f} ms"
            joints.append(f"{what}: left out, positions tell them; see `prime doctor --bag`")
        if dead := self.sync.rateless:
            what = f"rates of {', '.join(dead)} are zero while they move"
            joints.append(f"{what}: left out, positions tell them")
        if jumped := self.sync.glitches:
            told = ", ".join(f"{joint} {number}" for joint, number in jumped.items())
            joints.append(f"encoder glitches refused: {told}")
        if joints:
            remarks["joint_states"] = "; ".join(joints)
        return remarks


def _machine(robot: Robot) -> tuple:
    """Joint zeros, place of motion capture's body (None: those of the URDF), and its delay."""
    zeros, body = robot.joint_zeros, robot.mocap_placement
    pose = pin.SE3ToXYZQUAT(body)
    body = None if body.isIdentity() else (pose[3:], pose[:3])
    return zeros if zeros.any() else None, body, robot.config.mocap_delay


class Pipeline:
    """Makes estimates from samples, in one thread.

    Args:
        robot, config: robot and configuration.
        mocap: use motion capture. sensors: names of further optional sensors.
        lowstate: splits Unitree's raw messages, if they are used.
    """

    def __init__(
        self,
        robot: Robot,
        config: Config,
        mocap: bool = True,
        sensors: Collection[str] = (),
        lowstate: LowStateReader | None = None,
    ):
        step, clock = config.estimator.step, config.estimator.adapt_imu_clock
        self.intake = Intake(robot, step, mocap, sensors, lowstate, imu_clock=clock)
        self.estimator = Estimator(robot, config, mocap, sensors)

    @property
    def counts(self) -> Counter[str]:
        """What was refused or went wrong, by reason."""
        return self.intake.counts + self.estimator.problem.measurements.refused

    def push(self, sample: Sample) -> Iterator[Estimate]:
        """The estimates of all nodes that this sample completes (mostly none or one)."""
        for node in self.intake.take(sample):
            estimate = self.estimator.update(node.measurement)
            if estimate is not None:
                yield self.intake.with_status(estimate, self.estimator.problem.measurements.refused)

    def predict(self, sample: ImuSample) -> Estimate | None:
        """The newest estimate, carried to an IMU sample that was pushed; None if that was refused.

        One glitch that is integrated would be in all odometry until the next node.
        """
        return self.estimator.predict(sample) if self.intake.sync.believes(sample) else None
