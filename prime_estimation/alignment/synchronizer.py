# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Synchronizer: streams of samples to one `Measurement` per node of a regular grid."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Protocol

import numpy as np

from ..errors import DataError
from ..sensors import SENSORS
from ..sensors.imu_orientation import NAME as ORIENTATION
from ..sensors.joint_targets import NAME as TARGETS
from ..sensors.joint_targets import HeldTargets
from ..sensors.sensor import Aligned, Alignment, Sensor, Wearer
from ..types import CommandSample, ImuSample, JointSample, Measurement, Sample
from .averaging import between_samples, hold_correction, hold_weights, linear_weights
from .bridging import bridged
from .encoder_glitches import GlitchCheck
from .events import EventQueue
from .held_targets import target_torque
from .stream import Stream
from .unwrapping import AngleUnwrapper

FLAT, RAMP, TRIANGLE, NOW = range(4)  # rows of `linear_weights`
NOBODY = Wearer((), (), 0.01)
HELD_NS = 100_000_000  # for which targets are in force; motors that hear none brake or go limp
JUMP_NS = 500_000_000  # silence of all streams after which the grid starts anew
NEAR_NS = 20_000_000  # between samples of a stream that loses none; held commands, other sensors
_GLITCH = "joint_glitch_"
_NOT_SAMPLES = ("clock_back", "clock_forward", "imu_clock", "joint_bridged", "imu_bridged")


class Sensed(Protocol):
    """What of a `Robot` says how its sensors are read."""

    nj: int
    imu_joint: int | None
    turning: list[int]
    joint_names: list[str]
    feet: list[str]


class Synchronizer:
    """Aligns samples to nodes (see `Measurement` for what each field means).

    Nodes lie at `t_0 + k step`, k >= 1, `t_0` being the first instant at which joint and IMU
    streams both exist. A node is ready when the newest joint and IMU samples have reached it; a
    stream that falls `stale_ns` behind is not waited for.

    Args:
        step_ns: time between nodes [ns].
        nj: number of joints.
        sensors: names of the optional sensors whose samples are aligned too.
        wearer: the robot, as far as these must know it.
        use_effort: hand on torque.
        use_imu: False for a robot without IMU.
        stale_ns: silence after which a stream is called stale, and longest interval between samples
            of joints or IMU that is bridged [ns].
        turning: indices of continuous joints, whose readings may begin anew after a turn
            (`Robot.turning`).

    Attributes:
        counts: what was rejected or went wrong, by name: `<stream>_not_finite`, `_late`,
            `_duplicate`, `_jump` (a wrong stamp ahead), `_missing` (nodes without the stream),
            `_bridged` (nodes over a burst of lost samples), `joint_glitch_<joint>` (samples),
            `<event sensor>_ahead`, `_late_node`, `clock_back`, `clock_forward` (restarts),
            `imu_clock` (changes of the IMU's stamps).
        stale: names of the streams that nodes do not wait for at present.
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
    ):
        self.step_ns, self.nj = int(step_ns), int(nj)
        self.use_effort, self.use_imu = use_effort, use_imu
        self.stale_ns = int(stale_ns)
        self.counts: Counter = Counter()
        self.stale: set[str] = set()
        self._joint = Stream("joint", 3 * nj, self.counts, self.stale_ns, NEAR_NS)
        self._imu = Stream("imu", 10, self.counts, self.stale_ns, NEAR_NS)
        self._command = Stream("command", nj, self.counts, NEAR_NS)
        self._required = [self._joint, self._imu] if use_imu else [self._joint]
        own = [s for s in SENSORS if s.sample is not None]  # samples of their own
        self._optional = {s.sample: s for s in own if s.name in sensors}
        self._not_used = tuple(s.sample for s in own if s.name not in sensors)
        self._wants_orientation = ORIENTATION in sensors
        self._wait_ns = {s.name: s.wait_ns for s in self._optional.values()}
        self._events = {
            s.name: EventQueue(s.name, self.counts)
            for s in self._optional.values()
            if s.alignment is Alignment.EVENTS
        }
        self._streams = {
            s.name: Stream(s.name, s.width(wearer), self.counts, NEAR_NS)
            for s in self._optional.values()
            if s.alignment is Alignment.CENTRED
        }
        self._held = {
            s.name: Stream(s.name, s.width(wearer), self.counts, HELD_NS)
            for s in self._optional.values()
            if s.alignment is Alignment.HELD
        }
        self._unwrapper, self._glitches = AngleUnwrapper(turning), GlitchCheck(nj)
        self._joint_names = list(wearer.joint_names) or [str(i) for i in range(nj)]
        self._joint_row, self._imu_row = np.zeros(3 * nj), np.zeros(10)
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
        """
        return cls(
            round(step * 1e9),
            robot.nj,
            {*sensors, *(["mocap"] if use_mocap else [])},
            use_imu=robot.imu_joint is not None,
            turning=robot.turning,
            wearer=Wearer(robot.joint_names, robot.feet, step),
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
        return {name[len(_GLITCH) :]: n for name, n in counted if name.startswith(_GLITCH)}

    def pop_discontinuity(self) -> bool:
        """True once after the grid was started anew.

        What came before must not be connected with what comes next.
        """
        flag, self._discontinuity = self._discontinuity, False
        return flag

    # --- samples in -------------------------------------------------------------------------------

    def push(self, sample: Sample) -> None:
        """Take a sample, in order of arrival.

        Values that are not finite are refused and counted; a wrong shape raises DataError.
        """
        if isinstance(sample, JointSample):
            back = self._push_joint(sample)
        elif isinstance(sample, ImuSample):
            back = self.use_imu and self._push_imu(sample)
        elif isinstance(sample, CommandSample):
            back = self.use_effort and self._push_command(sample)
        elif type(sample) in self._optional:
            back = self._push_optional(self._optional[type(sample)], sample)
        elif isinstance(sample, self._not_used):
            back = False
        else:
            raise DataError(f"a synchronizer takes samples, got {type(sample).__name__}", sample)
        if back:
            self._restart("clock_back")

    def _push_joint(self, sample: JointSample) -> bool:
        row, nj = self._joint_row, self.nj
        parts = (sample.position, sample.velocity, sample.effort if self.use_effort else None)
        for i, part in enumerate(parts):
            if part is not None:
                _check_shape(part, nj, "joint", sample)
            row[i * nj : (i + 1) * nj] = 0.0 if part is None else part
        if not self._finite("joint", row):
            return False
        if sample.position is not None:
            self._unwrapper.unwrap(row[:nj])
        for i, part in enumerate(parts):
            if part is None:
                row[i * nj : (i + 1) * nj] = np.nan
        jumped = self._glitches.glitch(sample.stamp_ns, row[: 2 * nj])
        if jumped is not None:
            self.counts[f"{_GLITCH}{self._joint_names[jumped]}"] += 1
            return False
        before, back = self._joint.newest, self._joint.push(sample.stamp_ns, row)
        if before != self._joint.newest == sample.stamp_ns:
            self._glitches.believe(sample.stamp_ns, row[: 2 * nj])
        return back

    def _push_imu(self, sample: ImuSample) -> bool:
        row, quat = self._imu_row, sample.quat_world_imu
        _check_shape(sample.angular_velocity, 3, "imu", sample)
        _check_shape(sample.linear_acceleration, 3, "imu", sample)
        row[:3], row[3:6] = sample.angular_velocity, sample.linear_acceleration
        # q and -q are the same rotation: the sign nearest to the sample before makes interpolation
        # go the short way
        previous = row[6:].copy()
        row[6:] = 0.0 if quat is None else quat
        if not self._finite("imu", row):
            row[6:] = previous
            return False
        if quat is None:
            row[6:] = np.nan
        elif row[6:] @ previous < 0.0:
            row[6:] *= -1.0
        return self._imu.push(sample.stamp_ns, row)

    def _push_command(self, sample: CommandSample) -> bool:
        _check_shape(sample.effort, self.nj, "command", sample)
        effort = np.asarray(sample.effort, float)
        if self._finite("command", effort) and self._command.push(sample.stamp_ns, effort):
            self._command.reset()
        return False

    def _push_optional(self, sensor: Sensor, sample: Sample) -> bool:
        values = sensor.values(sample)
        if not self._finite(sensor.name, values):
            return False
        if sensor.name in self._events:
            clocks = [s.newest for s in self._required if s.newest is not None]
            latest = max(clocks) + JUMP_NS if clocks else None
            self._events[sensor.name].push(sample, latest)
            return False
        stream = self._streams.get(sensor.name) or self._held[sensor.name]
        _check_shape(values, stream.width, sensor.name, sample)
        if stream.push(sample.stamp_ns, values):
            stream.reset()
        return False

    def _finite(self, name: str, row: np.ndarray) -> bool:
        if np.isfinite(row.dot(row)):
            return True
        self.counts[f"{name}_not_finite"] += 1
        return False

    def shift_imu(self, by_ns: int) -> None:
        """Move the stamps of the IMU: its clock turned out to differ from that of the joints."""
        self.counts["imu_clock"] += 1
        self._imu.shift(by_ns)

    def _restart(self, reason: str) -> None:
        self.counts[reason] += 1
        optional = (*self._events.values(), *self._streams.values(), *self._held.values())
        for stream in (self._joint, self._imu, self._command, *optional):
            stream.reset()
        self._glitches.reset()
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
        fields = {"stamp_ns": t, "position": None, "velocity": None, "gyro": None}
        self._joint_fields(t, fields)
        if self.use_imu:
            self._imu_fields(t, fields)
        made = fields.get("readings", {})
        fields["readings"] = {**made, **self._event_fields(t), **self._centred_fields(t)}
        return Measurement(**fields)

    def _event_fields(self, t: int) -> dict[str, tuple[Sample, ...]]:
        out = {}
        for name, queue in self._events.items():
            queue.forget(self._start_ns)
            due = queue.take(t, t - self.step_ns - self._wait_ns[name])
            if due:
                out[name] = due
        return out

    def _centred_fields(self, t: int) -> dict[str, Aligned]:
        out = {}
        for name, stream in self._streams.items():
            if stream.newest is None:
                continue
            # nobody waits for it: its newest sample holds to the node
            window = stream.window(t, 2 * self.step_ns, hold=stream.newest < t)
            if window is not None and -window[0][0] >= 2 * self.step_ns:
                stamps, rows = window
                if stamps[-1] < 0:
                    stamps, rows = np.append(stamps, 0), np.vstack([rows, rows[-1:]])
                weights, samples = linear_weights(stamps.tobytes(), self.step_ns)
                out[name] = Aligned(weights[TRIANGLE] @ rows, float(samples[TRIANGLE]))
        return out

    def _samples(self, stream: Stream, t: int):
        """Rows (n, width) about the last two steps, with their weights.

        Weights in the four kernels (4, n), effective samples (4,), stamps (n,) less t [ns].
        """
        window = stream.window(t, 2 * self.step_ns) if stream.newest is not None else None
        if window is None:
            self.counts[f"{stream.name}_missing"] += 1
            return None
        stamps, rows = window
        weights, samples = linear_weights(stamps.tobytes(), self.step_ns)
        if _bridges(stamps):
            self.counts[f"{stream.name}_bridged"] += 1
        return rows, weights, samples, stamps

    def _joint_fields(self, t: int, fields: dict) -> None:
        nj, seen = self.nj, self._samples(self._joint, t)
        if seen is not None:
            rows, weights, samples, stamps = seen
            mean = weights @ rows
            if _bridges(stamps):
                between, path = bridged(stamps, rows, nj, NEAR_NS)
                mean = linear_weights(between.tobytes(), self.step_ns)[0] @ path
            fields["position"] = mean[NOW, :nj]
            if -stamps[0] >= self.step_ns and np.isfinite(mean[FLAT, nj]):
                fields.update(
                    velocity=mean[FLAT, nj : 2 * nj], velocity_samples=float(samples[FLAT])
                )
                fields["velocity_change"] = between_samples(rows[:, nj : 2 * nj], weights[FLAT])
                # mean of q(t) + (integral of dq from t to t_k): dq(s) counts in it for all t before
                # s, so with a growing weight
                fields["position_carried"] = (
                    mean[FLAT, :nj] + 0.5e-9 * self.step_ns * mean[RAMP, nj : 2 * nj]
                )
            if -stamps[0] >= 2 * self.step_ns and np.isfinite(mean[TRIANGLE, 2 * nj]):
                torque = mean[TRIANGLE, 2 * nj :] - hold_correction(
                    stamps, rows[:, 2 * nj :], self.step_ns
                )
                fields.update(torque=torque, torque_samples=float(samples[TRIANGLE]))
            elif -stamps[0] >= 2 * self.step_ns and TARGETS in self._held:
                self._target_field(t, seen, fields)
        if "torque" not in fields and self._command.newest is not None:
            self._command_field(t, fields)

    def _target_field(self, t: int, seen, fields: dict) -> None:
        """Torque at the joint samples from the targets in force there, averaged as if measured."""
        rows, weights, samples, stamps = seen
        stream, nj = self._held[TARGETS], self.nj
        if stream.newest is None or self._command.newest is not None:
            return  # a commanded torque says the same without gains
        window = stream.window(t, 3 * self.step_ns, hold=True)
        if window is None:
            return
        made = target_torque(stamps, rows[:, :nj], rows[:, nj : 2 * nj], *window)
        if made is not None:
            torque, gains = made
            kernel = weights[TRIANGLE]
            mean = kernel @ torque - hold_correction(stamps, torque, self.step_ns)
            known = float(samples[TRIANGLE])
            fields.update(torque=mean, torque_samples=known, torque_commanded=True)
            fields.setdefault("readings", {})[TARGETS] = HeldTargets(
                *np.tensordot(kernel, gains, 1)
            )

    def _command_field(self, t: int, fields: dict) -> None:
        """A command is in force until the next one, so it is held, not interpolated."""
        window = self._command.window(t, 2 * self.step_ns, hold=True)
        if window is not None and -window[0][0] >= 2 * self.step_ns:
            weights, samples = hold_weights(window[0].tobytes(), self.step_ns)
            fields.update(torque=weights @ window[1], torque_samples=samples, torque_commanded=True)

    def _imu_fields(self, t: int, fields: dict) -> None:
        seen = self._samples(self._imu, t)
        if seen is None:
            return
        rows, weights, samples, stamps = seen
        mean = weights @ rows
        fields["gyro_now"] = mean[NOW, :3]
        if np.isfinite(mean[NOW, 6]):
            quat = fields["quat_world_imu"] = mean[NOW, 6:] / np.linalg.norm(mean[NOW, 6:])
            if self._wants_orientation:
                fields.setdefault("readings", {})[ORIENTATION] = quat
        if -stamps[0] >= self.step_ns:
            fields.update(
                gyro=mean[FLAT, :3],
                gyro_samples=float(samples[FLAT]),
                gyro_change=between_samples(rows[:, :3], weights[FLAT]),
            )
            fields["accelerometer_ramp"] = mean[RAMP, 3:6]
        if -stamps[0] >= 2 * self.step_ns:
            change = between_samples(rows[:, 3:6], weights[TRIANGLE])
            fields.update(
                accelerometer=mean[TRIANGLE, 3:6],
                accelerometer_samples=float(samples[TRIANGLE]),
                accelerometer_change=change,
            )


def _bridges(stamps: np.ndarray) -> bool:
    """Whether samples are further apart than those of a stream that loses none."""
    return bool(np.diff(stamps).max(initial=0) > NEAR_NS)


def _check_shape(value, size: int, name: str, sample) -> None:
    if np.shape(value) != (size,):
        raise DataError(
            f"a {name} sample must have {size} values, got shape {np.shape(value)}", sample
        )
