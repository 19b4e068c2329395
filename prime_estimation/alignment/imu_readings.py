# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""IMU readings: gyro, specific force and orientation of an IMU, averaged at nodes."""

from __future__ import annotations

from collections import Counter

import numpy as np

from ..sensors.imu_orientation import NAME as ORIENTATION
from ..types import ImuSample
from .averaging import apart, between_samples, unseen
from .filter_heading import FilterHeading
from .held_samples import HeldCheck, HeldOrientation
from .node_window import FLAT, NEAR_NS, NOW, RAMP, TRIANGLE, NodeWindow
from .sample_checks import is_finite, is_in_range, vector
from .stream import Stream

# what a foot that comes down does meanwhile where samples are lost: m/s2, rad/s
LOST_FORCE, LOST_RATE = 100.0, 2.0
# of usual changes that may come and go between samples (`averaging.unseen`)
UNSEEN_FORCE, UNSEEN_TURN = 1.0, 0.3
# beyond the range of any IMU on a legged robot: 5700 degrees/s, 100 g
RANGE = np.repeat([100.0, 1000.0], 3)
UNIT = 0.1  # by which the norm of a quaternion may differ from one


class ImuReadings:
    """Takes IMU samples and averages them at nodes.

    Args:
        counts: reasons of refusal are incremented here.
        gap_ns: longest interval between samples that is bridged [ns].
        orientation: its orientation is a reading of a sensor of its own.

    Attributes:
        stream: rows (10,) of gyro [rad/s], specific force [m/s2], quaternion xyzw (NaN: none).
    """

    def __init__(self, counts: Counter, gap_ns: int, orientation: bool):
        self._counts, self._orientation = counts, orientation
        self.stream = Stream("imu", 10, counts, gap_ns, NEAR_NS)
        self._held, self._row = HeldCheck(), np.zeros(10)
        self._held_orientation = HeldOrientation()
        self._heading = FilterHeading(counts)

    def reset(self) -> None:
        """Forget all samples."""
        self.stream.reset()
        self._held.reset()
        self._heading.reset()

    def push(self, sample: ImuSample) -> bool:
        """Take a sample; True when the clock turns out to have been set back for good."""
        row, quat = self._row, sample.quat_world_imu
        row[:3] = vector(sample.angular_velocity, 3, "imu", sample)
        row[3:6] = vector(sample.linear_acceleration, 3, "imu", sample)
        if quat is not None:
            quat = vector(quat, 4, "imu orientation", sample)
        # q and -q are the same rotation: the sign nearest to the sample before makes interpolation
        # go the short way
        previous = row[6:].copy()
        row[6:] = 0.0 if quat is None else quat
        counts = self._counts
        if not (is_finite(row, "imu", counts) and is_in_range(row[:6], RANGE, "imu", counts)):
            row[6:] = previous
            return False
        if quat is None or not self._is_read(quat):
            row[6:] = np.nan
        elif row[6:] @ previous < 0.0:
            row[6:] *= -1.0
        if self.stream.is_newer(sample.stamp_ns) and self._held.imu(row):
            self._counts["imu_held"] += 1
            return False
        return self.stream.push(sample.stamp_ns, row)

    def _is_read(self, quat: np.ndarray) -> bool:
        """Whether an orientation is one: of norm one, and not the same whatever the gyro reads."""
        if abs(float(quat @ quat) - 1.0) > 2.0 * UNIT:
            self._counts["imu_orientation_no_unit"] += 1
            return False
        if self._held_orientation.holds(quat, self._row[:3]):
            self._counts["imu_orientation_held"] += 1
            return False
        return True

    def fields(self, seen: NodeWindow) -> dict:
        """Fields of the measurement at a node from the samples about it."""
        mean, lost = seen.weights @ seen.rows, (np.diff(seen.stamps) > seen.near_ns)[:, None]
        stamps = seen.stamps.tobytes()
        come_and_gone = unseen(stamps) * seen.changed[:6]
        fields = {"gyro_now": mean[NOW, :3], "imu_interval": 1e-9 * seen.usual_ns}
        if np.isfinite(mean[NOW, 6]):
            quat = fields["quat_world_imu"] = mean[NOW, 6:] / np.linalg.norm(mean[NOW, 6:])
            if self._orientation:
                fields["readings"] = {ORIENTATION: quat}
        if seen.covers(1):
            gyro = fields["gyro"] = mean[FLAT, :3]
            quat = fields.get("quat_world_imu")
            if quat is not None and not self._held.dead[:3].any():
                fields["heading_rate"] = self._heading.rate(seen, quat, gyro)
            fields["gyro_samples"] = float(seen.samples[FLAT])
            missed = np.hypot(LOST_RATE * lost, UNSEEN_TURN * come_and_gone[:, :3])
            change = between_samples(seen.rows[:, :3], seen.weights[FLAT], missed)
            fields["gyro_change"] = change
            fields["accelerometer_ramp"] = mean[RAMP, 3:6]
        if seen.covers(2):
            missed = np.hypot(LOST_FORCE * lost, UNSEEN_FORCE * come_and_gone[:, 3:])
            kernel, factor = seen.weights[TRIANGLE], apart(stamps)
            change = between_samples(seen.rows[:, 3:6], kernel, missed, factor)
            fields["accelerometer"] = mean[TRIANGLE, 3:6]
            fields["accelerometer_samples"] = float(seen.samples[TRIANGLE])
            fields["accelerometer_change"] = change
        if (dead := self._held.dead).any():
            fields["imu_dead"] = dead
        return fields
