# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Odometry between nodes: the newest estimate, predicted to the newest IMU sample."""

from __future__ import annotations

import math
import threading
from collections import deque
from dataclasses import replace

import numpy as np
import pinocchio as pin

from .. import _core
from ..config.policies import INTERVAL
from ..errors import DataError
from ..robot import Robot
from ..sensors.sensor import INSTANT
from ..types import Estimate, ImuSample
from ..types.arrays import finite
from .dead_axes import going_on, unseen_twist
from .imu_mount import ImuMount

KEPT = 1000  # samples, more than an estimate may be late by
# by which a robot that trots turns faster about dead axes of its IMU, and accelerates along them
UNSEEN = np.repeat([20.0, 3.0], 3)  # rad/s2, m/s2


class Predictor:
    """Strapdown integration (the core's `Strapdown`) from the head of the window.

    Joints between IMU and base keep their rates of the last estimate. Each new estimate replaces
    the integrated state; the samples that are newer than it are integrated again. Estimates and
    samples may come from different threads: the integration begins with the sample that needs it.

    The covariance grows by two errors: a jump of the specific force at any instant between two
    samples leaves `dt df / sqrt(12)` in the velocity, and the mean specific force has an error that
    leaves `age INTERVAL.carried_force`, and `age / 2` of that in the position. For dead axes of the
    IMU, the readings at the estimate are used: constant rate, no acceleration.
    """

    def __init__(self, robot: Robot, mount: ImuMount):
        self.gravity = robot.model.gravity.linear
        self.mount = mount
        self._imu = _core.Strapdown()
        self._imu.gravity = self.gravity
        self._lock = threading.Lock()
        self._samples: deque[ImuSample] = deque(maxlen=KEPT)
        self._estimate: Estimate | None = None
        self._last: ImuSample | None = None  # that is not newer than the estimate
        self._begun = False  # from the estimate
        self._dead: np.ndarray | None = None  # (6,) axes of the IMU
        self._expected = np.zeros(6)  # readings at the estimate

    def reset(self) -> None:
        """Forget estimate and samples."""
        with self._lock:
            self._samples.clear()
            self._estimate = None

    def correct(self, estimate: Estimate, dead: np.ndarray | None = None) -> None:
        """Start anew from an estimate; keep the samples that are newer. Nothing without an IMU.

        Args:
            estimate: to start from.
            dead: (6,) axes of gyro and accelerometer that are not to be used.
        """
        if estimate.gyro_bias.size == 0:
            return
        with self._lock:
            self._estimate, self._begun, self._last = estimate, False, None
            self._dead = dead
            # what came before one of them is older, whatever a clock said that was set back since
            past = [i for i, s in enumerate(self._samples) if s.stamp_ns <= estimate.stamp_ns]
            for _ in range(past[-1] + 1 if past else 0):
                self._last = self._samples.popleft()

    def predict(self, sample: ImuSample, reach: float = math.inf) -> Estimate | None:
        """The estimate at the stamp of an IMU sample; None before the first estimate.

        None, too, where the last estimate lies more than `reach` [s] back: nothing is integrated
        then. A sample from the past changes nothing.

        Raises:
            DataError: it is no ImuSample, or a reading is no array (3,).
        """
        _check(sample)
        usable = finite(sample.angular_velocity, sample.linear_acceleration)
        with self._lock:
            if usable:
                self._samples.append(sample)
            estimate = self._estimate
            if estimate is None or sample.stamp_ns - estimate.stamp_ns > 1e9 * reach:
                self._begun = False
                return None
            if not self._begun:
                self._begin(estimate, self._last)
            elif usable and sample.stamp_ns > self._stamp_ns:
                self._step(sample)
            return self._predicted()

    def _begin(self, estimate: Estimate, last: ImuSample | None) -> None:
        self._start(estimate, last)
        for sample in self._samples:
            if sample.stamp_ns > self._stamp_ns:
                self._step(sample)

    def _start(self, estimate: Estimate, last: ImuSample | None) -> None:
        self._begun, self._stamp_ns = True, estimate.stamp_ns
        base_M_imu, moved = self.mount.motion(estimate.joint_position, estimate.joint_velocity)
        if self._dead is not None:
            base = estimate.quat_world_base, estimate.angular_velocity_base
            biases = np.concatenate([estimate.gyro_bias, estimate.accelerometer_bias])
            self._expected = going_on((base_M_imu, moved), base, biases, self.gravity)
        elif last is not None and not self.mount.rigid:
            # rates of the estimate are means over the past step: what the gyro says beyond the base
            # is the turning of now
            base = base_M_imu.rotation.T @ estimate.angular_velocity_base
            moved = pin.Motion(moved.linear, last.angular_velocity - estimate.gyro_bias - base)
        self._moved = moved
        self._imu.gyro_bias, self._imu.accelerometer_bias = (
            estimate.gyro_bias,
            estimate.accelerometer_bias,
        )
        place = estimate.position_world, estimate.quat_world_base
        velocity = estimate.linear_velocity_base, estimate.angular_velocity_base
        self._imu.start_on_base(*place, *velocity, base_M_imu, moved)
        if last is not None:
            self._imu.set_force(self._readings(last)[1])

    def _readings(self, sample: ImuSample) -> tuple[np.ndarray, np.ndarray]:
        """Angular rate and specific force of a sample, where an axis is dead those expected."""
        if self._dead is None:
            return sample.angular_velocity, sample.linear_acceleration
        said = np.concatenate([sample.angular_velocity, sample.linear_acceleration])
        said = np.where(self._dead, self._expected, said)
        return said[:3], said[3:]

    def _step(self, sample: ImuSample) -> None:
        dt, self._stamp_ns = 1e-9 * (sample.stamp_ns - self._stamp_ns), sample.stamp_ns
        self._imu.step(dt, *self._readings(sample))

    def _predicted(self) -> Estimate:
        age = 1e-9 * (self._stamp_ns - self._estimate.stamp_ns)
        if age <= 0.0:
            return self._estimate
        rate = self._estimate.joint_velocity
        base_M_imu, _ = self.mount.motion(self._estimate.joint_position + age * rate, rate)
        position, quaternion, linear, angular, jumps = self._imu.base(base_M_imu, self._moved)
        if quaternion @ self._estimate.quat_world_base < 0.0:
            quaternion = -quaternion  # the same rotation; who takes differences sees no jump
        covariance, twist_covariance = (
            self._estimate.pose_covariance.copy(),
            self._estimate.twist_covariance.copy(),
        )
        carried = age * INTERVAL.carried_force
        covariance[:3, :3] += age**2 * twist_covariance[:3, :3]
        covariance.flat[:15:7] += (0.5 * age * carried) ** 2
        twist_covariance[:3, :3] += INSTANT**2 * jumps
        twist_covariance.flat[:15:7] += carried**2
        if self._dead is not None:
            twist_covariance += unseen_twist(base_M_imu.rotation, age * UNSEEN * self._dead)
        return replace(
            self._estimate,
            stamp_ns=self._stamp_ns,
            position_world=position,
            quat_world_base=quaternion,
            linear_velocity_base=linear,
            angular_velocity_base=angular,
            pose_covariance=covariance,
            twist_covariance=twist_covariance,
        )


def _check(sample: ImuSample) -> None:
    """Check a reading that is used as it is; what it lacks (None) is passed over."""
    if not isinstance(sample, ImuSample):
        raise DataError(f"an estimator predicts to an ImuSample, got {sample!r:.60}", sample)
    for part in ("angular_velocity", "linear_acceleration"):
        value = getattr(sample, part)
        if value is not None and getattr(value, "shape", None) != (3,):
            what = f"{part} of an imu sample must be an array of three numbers, got {value!r:.40}"
            raise DataError(what, sample)
