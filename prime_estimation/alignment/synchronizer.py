# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Synchronizer: streams of samples to one `Measurement` per node of a regular grid."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from numbers import Real
from typing import Protocol

import numpy as np

from ..errors import ConfigError, DataError
from ..sensors import SENSORS, optional_sensors
from ..sensors.choice import chosen, sensor_names
from ..sensors.imu_orientation import NAME as ORIENTATION
from ..sensors.joint_targets import NAME as TARGETS
from ..sensors.sensor import Wearer
from ..types import CommandSample, ImuSample, JointSample, Measurement, Sample
from .commanded_torque import CommandedTorque
from .imu_readings import ImuReadings
from .joint_readings import GLITCH, JointReadings
from .node_window import NodeWindow
from .optional_readings import OptionalReadings
from .sample_checks import check_stamp
from .stream import Stream

NOBODY = Wearer((), (), 0.01)
LONGEST_STEP = 1.0  # s; a longer one was meant in ms or ns
JUMP_NS = 500_000_000  # silence of all streams after which the grid starts anew
# counts of what is no sample that was refused: corrections, and fields left out of samples in use
_NOT_SAMPLES = (
    *("clock_back", "clock_forward", "imu_clock", "joint_bridged", "imu_bridged"),
    *("joint_rate_zero", "joint_torque_zero", "imu_orientation_held", "imu_orientation_no_unit"),
    *("imu_heading_drifts", "imu_heading_outlier"),
)


class Sensed(Protocol):
    """Part of a `Robot` that determines how its sensors are read."""

    nj: int
    imu_joint: int | None
    turning: list[int]
    joint_names: list[str]
    feet: list[str]

    def motor_torque(self, reading: np.ndarray) -> np.ndarray:
        """Torque of the motors by their readings (nj,) [Nm]."""
        ...


class Synchronizer:
    """Aligns samples to nodes; `Measurement` defines the meaning of each field.

    Nodes lie at `t_0 + k step`, k >= 1; `t_0` is the first instant at which both joint and IMU
    streams exist. A node is ready when the newest joint and IMU samples have reached it. A stream
    that is `stale_ns` behind is not waited for.

    Args:
        step_ns: time between nodes [ns].
        nj: number of joints.
        sensors: names of the optional sensors whose samples are aligned too.
        wearer: properties of the robot that these sensors need.
        use_effort: pass torques on.
        use_imu: False for a robot without IMU.
        motor_torque: torque of the motors by their readings (nj,) [Nm].
        stale_ns: silence after which a stream is called stale, and longest interval between samples
            of joints or IMU that is bridged [ns].
        turning: indices of continuous joints, whose readings may begin anew after a turn
            (`Robot.turning`).

    Attributes:
        counts: what was rejected or went wrong, by name: `<stream>_not_finite`, `_late`,
            `_duplicate`, `_jump` (a wrong stamp ahead), `_out_of_range`,
            `_missing` (nodes without the stream),
            `_held` (the values before with a new stamp, of a robot that moves),
            `_bridged` (nodes over a burst of lost samples), `joint_glitch_<joint>` (samples),
            `<event sensor>_ahead`, `_late_node`, `<centred sensor>_sparse` (samples too far from
            both neighbours for a mean), `clock_back`, `clock_forward` (restarts), `imu_clock`
            (changes of the IMU's stamps); and fields that are left out of samples in use.
        stale: names of the streams that nodes do not wait for at present.

    Raises:
        ConfigError: a number is none, or the sensors are no list of names.
    """

    def __init__(
        self,
        step_ns: int,
        nj: int,
        sensors: Collection[str] = ("mocap",),
        use_effort: bool = True,
        use_imu: bool = True,
        stale_ns: int = 50_000_000,
        turning: Sequence[int] = (),
        wearer: Wearer = NOBODY,
        motor_torque: Callable[[np.ndarray], np.ndarray] = np.asarray,
    ):
        if not (_is_whole(step_ns) and _is_whole(nj) and _is_whole(stale_ns)):
            what = (
                "step_ns, nj and stale_ns must be whole numbers above 0; of a robot it is made by"
            )
            got = f"{step_ns!r:.40}, {nj!r:.40} and {stale_ns!r:.40}"
            raise ConfigError(f"{what} Synchronizer.of(robot, step), got {got}", step_ns)
        sensor_names(sensors)
        self.step_ns, self.nj = int(step_ns), int(nj)
        self.use_effort, self.use_imu = use_effort, use_imu
        self.stale_ns = int(stale_ns)
        self._motor_torque = motor_torque
        self.counts: Counter = Counter()
        self.stale: set[str] = set()
        own = [s for s in SENSORS if s.sample is not None]  # samples of their own
        used = [s for s in own if s.name in sensors]
        self._not_used = tuple(s.sample for s in own if s.name not in sensors)
        self._optional = OptionalReadings(used, wearer, self.step_ns, self.counts)
        names = list(wearer.joint_names) or [str(i) for i in range(nj)]
        self._joints = JointReadings(names, self.counts, self.stale_ns, use_effort, turning)
        self._imu = ImuReadings(self.counts, self.stale_ns, ORIENTATION in sensors)
        targets = self._optional.held.get(TARGETS)
        self._commanded = CommandedTorque(self.nj, self.step_ns, self.counts, targets)
        self._required = [self._joints.stream, *([self._imu.stream] if use_imu else [])]
        self._start_ns = 0
        self._next_ns: int | None = None
        self._popped = False
        self._discontinuity = False

    @classmethod
    def of(
        cls,
        robot: Sensed,
        step: float,
        use_mocap: bool = True,
        sensors: Collection[str] = (),
        **options,
    ) -> Synchronizer:
        """For the sensors of a robot.

        Args:
            robot: whose sensors these are.
            step: between nodes [s].
            use_mocap: hand on motion capture.
            sensors: names of further optional sensors.
            options: further ones of the constructor.

        Raises:
            ConfigError: there is no robot, no optional sensor of a name, or the step is no time
                above 0.
        """
        if not hasattr(robot, "motor_torque"):
            what = (
                "Synchronizer.of takes a Robot (Robot.load) and the step between nodes [s]: got a"
            )
            raise ConfigError(f"{what} {type(robot).__name__}", robot)
        if not (isinstance(step, Real) and 0.0 < step <= LONGEST_STEP):
            told = f"the step between nodes must be above 0 s, and {LONGEST_STEP:g} s at most"
            raise ConfigError(f"{told}, got {step!r:.40}", step)
        return cls(
            round(step * 1e9),
            robot.nj,
            optional_sensors(chosen(sensors, use_mocap)),
            use_imu=robot.imu_joint is not None,
            turning=robot.turning,
            wearer=Wearer(robot.joint_names, robot.feet, step),
            motor_torque=robot.motor_torque,
            **options,
        )

    @property
    def dropped_samples(self) -> int:
        """Samples of all streams that were refused so far, or missing at their node."""
        # a copy, made in one step: another thread may be adding a reason meanwhile
        return sum(n for reason, n in dict(self.counts).items() if reason not in _NOT_SAMPLES)

    @property
    def glitches(self) -> dict[str, int]:
        """Samples refused so far because of encoder glitches, by joint."""
        counted = dict(self.counts).items()
        return {name[len(GLITCH) :]: n for name, n in counted if name.startswith(GLITCH)}

    @property
    def rateless(self) -> list[str]:
        """Joints whose rate stays zero while they move: no rate is taken meanwhile."""
        return self._joints.rateless

    def pop_discontinuity(self) -> bool:
        """True once after the grid was started anew.

        What came before must not be connected with what comes next.
        """
        flag, self._discontinuity = self._discontinuity, False
        return flag

    # --- samples in -------------------------------------------------------------------------------

    def push(self, sample: Sample) -> None:
        """Take a sample, in order of arrival.

        Values that are not finite are refused and counted; a wrong shape, or a stamp that is no
        whole number, raises DataError.
        """
        if hasattr(sample, "stamp_ns"):
            check_stamp(sample)
        back = False
        if isinstance(sample, JointSample):
            back = self._joints.push(sample)
        elif isinstance(sample, ImuSample):
            back = self.use_imu and self._imu.push(sample)
        elif isinstance(sample, CommandSample):
            if self.use_effort:
                self._commanded.push(sample)
        elif self._optional.takes(sample):
            clocks = [s.newest for s in self._required if s.newest is not None]
            self._optional.push(sample, max(clocks) + JUMP_NS if clocks else None)
        elif not isinstance(sample, self._not_used):
            raise DataError(f"a synchronizer takes samples, got {type(sample).__name__}", sample)
        if back:
            self._restart("clock_back")

    def believes(self, sample: Sample) -> bool:
        """Whether the sample of joints or IMU that was pushed last has entered its stream.

        One that has not was refused, or waits for the next one to confirm it.
        """
        streams = {JointSample: self._joints.stream, ImuSample: self._imu.stream}
        stream = streams.get(type(sample))
        return stream is None or stream.newest == sample.stamp_ns

    def shift_imu(self, by_ns: int) -> None:
        """Move the stamps of the IMU: its clock turned out to differ from that of the joints."""
        self.counts["imu_clock"] += 1
        self._imu.stream.shift(by_ns)

    def _restart(self, reason: str) -> None:
        self.counts[reason] += 1
        for readings in (self._joints, self._imu, self._commanded, self._optional):
            readings.reset()
        self._next_ns = None
        self._discontinuity = self._discontinuity or self._popped

    # --- nodes out --------------------------------------------------------------------------------

    def pop(self) -> Measurement | None:
        """The next node's measurement, or None while its samples have not come yet."""
        while True:
            self.stale = {s.name for s in self._required if self._is_stale(s)}
            if self._next_ns is None and not self._anchor():
                return None
            t = self._next_ns
            reached = [s for s in self._required if s.newest is not None and s.newest >= t]
            if not reached or any(
                s not in reached and s.name not in self.stale for s in self._required
            ):
                return None
            gaps = [s.gap_at(t) for s in reached]
            if all(length > JUMP_NS for length, _ in gaps):
                self.counts["clock_forward"] += 1
                self._discontinuity = self._discontinuity or self._popped
                self._begin_grid(max(end for _, end in gaps))
                continue
            self._next_ns = t + self.step_ns
            self._popped = True
            return self._measurement(t)

    def _anchor(self) -> bool:
        if any(s.first is None for s in self._required):
            return False
        self._begin_grid(max(s.first for s in self._required))
        return True

    def _begin_grid(self, start_ns: int) -> None:
        self._start_ns, self._next_ns = start_ns, start_ns + self.step_ns

    def _is_stale(self, stream: Stream) -> bool:
        """Another stream has gone on for `stale_ns`, counted from its own return."""
        for other in self._required:
            if other is not stream and other.newest is not None:
                begin = other.since if stream.newest is None else max(stream.newest, other.since)
                if other.newest - begin > self.stale_ns:
                    return True
        return False

    def _measurement(self, t: int) -> Measurement:
        fields = {"position": None, "velocity": None, "gyro": None}
        joints = NodeWindow.of(self._joints.stream, t, self.step_ns, self.counts)
        if joints is not None:
            fields |= self._joints.fields(joints)
        if "torque" not in fields:
            fields |= self._commanded.fields(t, joints)
        if fields.get("torque") is not None:
            fields["torque"] = self._motor_torque(fields["torque"])
        readings = fields.pop("readings", {})
        if self.use_imu:
            imu = NodeWindow.of(self._imu.stream, t, self.step_ns, self.counts)
            if imu is not None:
                fields |= self._imu.fields(imu)
                readings |= fields.pop("readings", {})
        readings |= self._optional.at(t, self._start_ns)
        return Measurement(t, **fields, readings=readings)


def _is_whole(value: object) -> bool:
    """Whether a value is a whole number above 0."""
    return isinstance(value, Real) and 0 < value == value // 1
