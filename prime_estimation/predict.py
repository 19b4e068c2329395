# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Odometry between nodes: the newest estimate, carried by the IMU to its newest sample."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import replace

import numpy as np
import pinocchio as pin

from .robot import Robot
from .types import Estimate, ImuSample

KEPT = 200  # samples, more than come in while a window is being solved


class Predictor:
    """Strapdown integration from the head of the window.

    `R+ = R exp(w dt)`, `v+ = v + (R f + g) dt`, `p+ = p + (v + v+)/2 dt` in world axes, biases and lever arm of the IMU taken out. Each new
    estimate replaces what had been integrated; the samples that are newer than it are run through again. Estimates and samples may
    come from different threads.
    """

    def __init__(self, robot: Robot):
        self.gravity = robot.model.gravity.linear
        self.placement = robot.imu_placement if robot.imu_placement is not None else pin.SE3.Identity()
        self._lock = threading.Lock()
        self._samples: deque[ImuSample] = deque(maxlen=KEPT)
        self._estimate: Estimate | None = None

    def reset(self) -> None:
        """Forget estimate and samples."""
        with self._lock:
            self._samples.clear()
            self._estimate = None

    def correct(self, estimate: Estimate) -> None:
        """Start anew from an estimate; keep the samples that are newer."""
        with self._lock:
            last = None
            while self._samples and self._samples[0].stamp_ns <= estimate.stamp_ns:
                last = self._samples.popleft()
            self._start(estimate, last)
            for sample in self._samples:
                self._step(sample)

    def predict(self, sample: ImuSample) -> Estimate | None:
        """The estimate at the stamp of an IMU sample; None before the first estimate. A sample from the past changes nothing."""
        with self._lock:
            if np.isfinite(sample.angular_velocity).all() and np.isfinite(sample.linear_acceleration).all():
                self._samples.append(sample)
                if self._estimate is not None and sample.stamp_ns > self._stamp_ns:
                    self._step(sample)
            return self._estimate and self._predicted()

    def _start(self, estimate: Estimate, last: ImuSample | None) -> None:
        self._estimate, self._stamp_ns = estimate, estimate.stamp_ns
        self._R = pin.Quaternion(np.array(estimate.quat_world_base)).toRotationMatrix()
        self._p = np.array(estimate.position_world)
        self._w = np.array(estimate.angular_velocity_base)
        self._v = self._R @ (estimate.linear_velocity_base + np.cross(self._w, self.placement.translation))
        self._force = None if last is None else self._R @ self._specific_force(last)

    def _specific_force(self, sample: ImuSample) -> np.ndarray:
        return self.placement.rotation @ (sample.linear_acceleration - self._estimate.accelerometer_bias)

    def _step(self, sample: ImuSample) -> None:
        dt = 1e-9 * (sample.stamp_ns - self._stamp_ns)
        w = self.placement.rotation @ (sample.angular_velocity - self._estimate.gyro_bias)
        R = self._R @ pin.exp3(0.5 * dt * (self._w + w))
        force = R @ self._specific_force(sample)
        before = force if self._force is None else self._force
        v = self._v + dt * (0.5 * (before + force) + self.gravity)
        arm = self.placement.translation
        base_before, base_now = self._v - self._R @ np.cross(self._w, arm), v - R @ np.cross(w, arm)
        self._p = self._p + 0.5 * dt * (base_before + base_now)
        self._R, self._v, self._w, self._force, self._stamp_ns = R, v, w, force, sample.stamp_ns

    def _predicted(self) -> Estimate:
        age = 1e-9 * (self._stamp_ns - self._estimate.stamp_ns)
        if age <= 0.0:
            return self._estimate
        pose = self._estimate.pose_covariance.copy()
        pose[:3, :3] += age**2 * self._estimate.twist_covariance[:3, :3]
        return replace(
            self._estimate,
            stamp_ns=self._stamp_ns,
            position_world=self._p.copy(),
            quat_world_base=pin.Quaternion(self._R).normalized().coeffs().copy(),
            linear_velocity_base=self._R.T @ self._v - np.cross(self._w, self.placement.translation),
            angular_velocity_base=self._w.copy(),
            pose_covariance=pose,
        )
