# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Measurement model: makes inputs of nodes from readings, and names the rows of the residual."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .. import _core
from ..config.parameters import Config
from ..robot import GRAVITY, Robot
from ..sensors import SENSORS, optional_sensors
from ..sensors.frames import FrameTracker, WorldMotion
from ..sensors.sensor import Block, Sensor, SensorSet, Wearer, take_back
from ..sensors.tracker import Gate, Tracker
from ..types import Measurement, Sample

# while joint positions are missing, the legs are somewhere near where they were seen last
UNSEEN_POSITION, UNSEEN_RATE = 0.5, 5.0  # rad, rad/s; about the last reading, and about rest
# without an IMU either, the base goes on: rad/s, m/s2 by which it may turn and speed up
UNSEEN_TURN, UNSEEN_FORCE = 1.0, 5.0
ZEROED = "zeroed_encoders"  # residual of encoders whose zeros are estimated
OUT_OF_REACH = 10.0  # depth of the ground under legs that are not seen [m]


class MeasurementModel:
    """Measurement model of all sensors of a problem.

    Attributes:
        core: its C++ part: residuals, layout of parameters and rows.
        blocks: (name, size) of all parameter blocks, those of the dynamics first.
        rows: slices of a node's residual, by name.
        noise: section `noise` of the configuration.
        zeros: (nj,) index of the parameter that is the zero of each encoder, -1: none; empty: no
            encoder has one.
        trackers: trackers of the sensors that have one, by name of the sensor.
        gates: gates of the sensors that have one, by name of the sensor.

    Args:
        dynamics: C++ contact dynamics.
        mount: pose of the IMU on the robot.
        sensors: sensors of the problem.
        zeros: as the attribute.
        mounts: the mounts of the sensors are parameters.
    """

    def __init__(
        self,
        dynamics,
        mount,
        sensors: SensorSet,
        zeros: Sequence[int] = (),
        mounts: bool = False,
    ):
        self.sensors, self.noise, self.zeros = sensors, None, list(zeros)
        residuals = list(sensors.residuals) + (["wrench_cone"] if dynamics.ncone else [])
        # a suspended base is measured by the IMU alone, which drifts
        residuals += ["held"] if "imu" in sensors.names else []
        residuals += [ZEROED] if zeros else []
        self.core = _core.MeasurementModel(dynamics, mount.core, residuals, mounts, self.zeros)
        self.blocks: list[tuple[str, int]] = list(self.core.parameters())
        self.rows: dict[str, list[slice]] = {}
        for name, first, size in self.core.rows():
            name = "encoders" if name == ZEROED else name
            self.rows.setdefault(name, []).append(slice(first, first + size))
        self.trackers: dict[str, Tracker] = {}
        self.gates: dict[str, Gate] = {}
        # event sensors whose readings no tracker hands out
        self._untracked: Sequence[Sensor] = sensors.event_sensors
        self._late: Counter[str] = Counter()  # readings whose node had left, by sensor
        self.not_finite: Counter[str] = Counter()  # those that are no numbers, by reason
        self._slots = {s.name: sensors.residuals.count(s.name) for s in sensors.event_sensors}

    def attach(self, problem) -> None:
        """Make trackers and gates of the sensors for a problem."""
        trackers = {s.name: s.tracker(problem) for s in self.sensors}
        self.trackers = {name: t for name, t in trackers.items() if t is not None}
        gates = {s.name: s.gate(problem) for s in self.sensors}
        self.gates = {name: g for name, g in gates.items() if g is not None}
        events = self.sensors.event_sensors
        self._untracked = [s for s in events if s.name not in self.trackers]

    def expected(self, m: Measurement) -> Measurement:
        """The measurement without motion capture, if that is not a sensor of the problem.

        Otherwise a start batch would take position and heading from it, which no node measures.
        """
        if "mocap" in self.sensors.names or "mocap" not in m.readings:
            return m
        return replace(m, readings={k: v for k, v in m.readings.items() if k != "mocap"})

    @property
    def frames(self) -> Iterator[FrameTracker]:
        """Trackers of the estimated frames in the world."""
        return (self.trackers[sensor.name] for sensor in self.sensors if sensor.framed)

    def parameter_priors(self) -> dict[str, Block]:
        """Prior and random walk of the sensors' parameter blocks."""
        return {
            name: block
            for sensor in self.sensors
            for name, block in sensor.blocks(self.noise, self.sensors.wearer).items()
        }

    def state_input(
        self, m: Measurement, last_position: np.ndarray | None = None
    ) -> "_core.NodeInput":
        """Input of the node at `m.stamp_ns`, with the readings of its state.

        Readings of its step are added one node later (`complete`).

        Args:
            m: measurement.
            last_position: last measured joint positions (nj,) [rad], used if m has none.
        """
        given = _core.NodeInput(self.core)
        if m.position is None and last_position is not None:
            self._leave_legs_unseen(given, last_position)
        for sensor in self.sensors:
            sensor.give_state(given, m, self.noise, self.sensors.wearer)
        if self.zeros:  # the same reading, in rows that know the zeros
            given.set(ZEROED, given.value("encoders"), given.weight("encoders"))
            take_back(given, "encoders")
        return given

    def _leave_legs_unseen(self, given, last_position: np.ndarray) -> None:
        nj = len(last_position)
        position = self.sensors.wearer.joints(last_position)
        given.set("encoders", position, np.full(nj, 1.0 / UNSEEN_POSITION))
        given.set("rates", np.zeros(nj), np.full(nj, 1.0 / UNSEEN_RATE))
        given.ground_depth = OUT_OF_REACH

    def coast(self, given, up: np.ndarray) -> None:
        """Keep the base from falling through a step of which nothing is read.

        Args:
            given: input of the node.
            up: (3,) the vertical in axes of the IMU.
        """
        given.set("gyro", np.zeros(3), np.full(3, 1.0 / UNSEEN_TURN))
        given.set("accelerometer", GRAVITY * up, np.full(3, 1.0 / UNSEEN_FORCE))

    def complete(self, given, m: Measurement) -> None:
        """Hand the readings of the step before `m.stamp_ns` to the input of the node before."""
        for sensor in self.sensors:
            sensor.give_step(given, m, self.noise)

    def hand_out(self, readings: Mapping[str, Any], window) -> None:
        """Hand readings of event sensors, and of those with trackers, to a window that has moved.

        Events that come after their node has left are counted; trackers say what they refuse.
        """
        self._late.update(self.give_events(readings, window.inputs, window.stamps))
        for name, tracker in self.trackers.items():
            tracker.give(readings.get(name, ()), window)

    @property
    def refused(self) -> Counter[str]:
        """Readings that were not used so far: `<name>_outlier`, `_late_node`, `_not_finite`."""
        outliers = {f"{name}_outlier": gate.refused for name, gate in self.gates.items()}
        # copies: a node's other threads ask while the solver counts
        late = {f"{name}_late_node": n for name, n in dict(self._late).items()}
        return +Counter(outliers | late) + Counter(self.not_finite)

    def without_outliers(self, readings: Mapping[str, Any], window) -> Mapping[str, Any]:
        """Readings of a measurement that pass the gates of their sensors.

        Args:
            readings: by sensor.
            window: that has just moved to the node of the measurement.
        """
        gated = {name: gate for name, gate in self.gates.items() if readings.get(name)}
        if not gated:
            return readings
        passed = {
            name: tuple(sample for sample in readings[name] if gate.passes(sample, window))
            for name, gate in gated.items()
        }
        return {**readings, **passed}

    def take_motion(self) -> WorldMotion | None:
        """Motion of the world that the newest readings told, once; None: none."""
        for gate in self.gates.values():
            if gate.moved is not None:
                motion, gate.moved = gate.moved, None
                return motion
        return None

    def give_events(
        self, samples: Mapping[str, Sequence[Sample]], inputs: list, stamps: Sequence[int]
    ) -> list[str]:
        """Hand samples of event sensors to the nodes in whose past step they were taken.

        Args:
            samples: by sensor.
            inputs: of consecutive nodes.
            stamps: their times [ns].

        Returns:
            The sensor of each sample that found no node. Those that find no place at theirs are
            left out: such a sensor is faster than a node has use for.
        """
        lost, step = [], round(self.sensors.wearer.step * 1e9)
        for sensor in self._untracked:
            for sample in samples.get(sensor.name, ()):
                k = bisect_left(stamps, sample.stamp_ns)
                before = stamps[k - 1] if k > 0 else stamps[0] - step
                if k == len(stamps) or sample.stamp_ns <= before:
                    lost.append(sensor.name)
                elif (slot := self._free_slot(inputs[k], sensor)) is not None:
                    sensor.give_event(inputs[k], slot, sample, stamps[k], self.noise)
        return lost

    def withdraw(self, name: str, inputs: Iterable) -> None:
        """Take back what inputs of nodes were given of an event sensor."""
        for given in inputs:
            for slot in range(self._slots.get(name, 0)):
                take_back(given, name, slot)

    def _free_slot(self, given, sensor) -> int | None:
        """First place at a node that has no reading of a sensor yet; None where there is none."""
        for slot in range(self._slots[sensor.name]):
            if not given.present(sensor.name, slot):
                return slot
        return None


def sensor_set(robot: Robot, config: Config, optional: Collection[str]) -> SensorSet:
    """The sensors of a robot: those that it always has, and the optional ones that are expected.

    Raises:
        ConfigError: there is no optional sensor of a name.
    """
    optional = optional_sensors(optional)
    floating = robot.config.floating_base
    has = {"imu": floating and robot.imu_joint is not None}
    chosen = tuple(
        s
        for s in SENSORS
        if has.get(s.name, True) and (not s.optional or (floating and s.name in optional))
    )
    weight = GRAVITY * robot.total_mass
    wearer = Wearer(robot.joint_names, robot.feet, config.estimator.step, weight, robot.coordinates)
    return SensorSet(chosen, wearer)
