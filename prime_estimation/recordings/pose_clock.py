# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Pose clock: delay of motion capture's stamps against the gyro, larger than a mount explains."""

from __future__ import annotations

from collections import deque

import numpy as np

from ..config.policies import POSE_CLOCK
from ..mhe.imu_mount import ImuMount
from ..robot import Robot
from ..types import Measurement


class PoseClock:
    """Compares how the tracked body turns with how the gyro does.

    Over `POSE_CLOCK.span` the body turns by b(t), in its own axes, and the base by g(t). If stamps
    are late by d and the body is mounted with any rotation C, `b(t + d) = C g(t)`. Without their
    means, and with the singular values s_i of `sum b g^T`, poses agree with the gyro to

        c(d) = (s_1 + s_2 + s_3) / sqrt(sum |b|^2 sum |g|^2) <= 1     (s_3 < 0 for a mirrored C)

    The delay is where c is largest. Once it turns out to be small, the comparison ends: what the
    estimate finds itself (`monitors.mount_fit`) is left to it. It begins anew when poses come to be
    refused, because a clock may be set at any time.

    Args:
        robot: with an IMU.
        step: between nodes [s].

    Attributes:
        late: by which stamps of poses are late [s]; 0: they are not, or nothing tells yet.
    """

    def __init__(self, robot: Robot, step: float):
        self._mount, self._step = ImuMount(robot), step
        self._known = robot.config.mocap_delay  # which is taken off already
        self._span, self._most = (
            round(seconds / step) for seconds in (POSE_CLOCK.span, POSE_CLOCK.most)
        )
        self.late = 0.0
        self._outliers, self._doubted = 0, False
        self.reset()

    @classmethod
    def of(cls, robot: Robot, step: float) -> PoseClock | None:
        """For robots that can tell: with an IMU on a floating base."""
        floating = robot.config.floating_base and robot.imu_joint is not None
        return cls(robot, step) if floating else None

    def reset(self) -> None:
        """Forget what was seen; what has been found stays."""
        nodes = round(POSE_CLOCK.memory / self._step)
        self._rates: deque[tuple[int, np.ndarray]] = deque(maxlen=nodes)
        self._poses: deque[tuple[int, np.ndarray]] = deque(maxlen=4 * nodes)
        self._seen, self._told, self._agreed = 0, 0.0, 0
        self._settled = self._doubted = False

    def doubt(self, outliers: int) -> None:
        """Note how many poses were refused so far; another thread may compare meanwhile."""
        if outliers - self._outliers >= POSE_CLOCK.outliers:
            self._outliers, self._doubted = outliers, True

    def learn(self, m: Measurement) -> None:
        """Look at the next measurement."""
        if self._settled and self._doubted:
            self.reset()
        if self._settled:
            return
        seen = m.gyro is not None and (self._mount.rigid or m.position is not None)
        if not seen or (self._rates and m.stamp_ns - self._rates[-1][0] > 1.5e9 * self._step):
            self.reset()
        if not seen:
            return
        rate = self._mount.base_rate(m.gyro, m.position, m.velocity)
        self._rates.append((m.stamp_ns, rate))
        for pose in m.mocap:
            if not self._poses or pose.stamp_ns > self._poses[-1][0]:
                self._poses.append((pose.stamp_ns, pose.quat_world_body))
        self._seen += 1
        if self._seen % POSE_CLOCK.every == 0 and len(self._rates) == self._rates.maxlen:
            self._look()

    @property
    def remark(self) -> str:
        """By how much poses are late, and what compensates it; empty where they are not."""
        if not self.late:
            return ""
        side, known = "late" if self.late > 0.0 else "early", self._known
        told = f"motion capture is about {abs(self.late):.2f} s {side} against the gyro"
        return f"{told}: set robot.mocap_delay: {self.late + known:.2f}"

    def _look(self) -> None:
        """Tell a delay that two looks agree about, or that there is none."""
        delay, agreement, before = self.compare()
        small = abs(delay) < POSE_CLOCK.least
        if agreement < (POSE_CLOCK.in_time if small else POSE_CLOCK.agreement):
            return
        far = not small and agreement - before > POSE_CLOCK.gain and abs(delay) < POSE_CLOCK.most
        if not (small or far):
            return
        again = abs(delay - self._told) < POSE_CLOCK.alike
        self._told, self._agreed = delay, self._agreed + 1 if again else 1
        if self._agreed >= POSE_CLOCK.looks:
            self._settled, self.late = small, 0.0 if small else delay

    def compare(self) -> tuple[float, float, float]:
        """Delay [s] at which turns agree best, c there, and without delay; zeros: nothing tells."""
        nodes = np.array([stamp for stamp, _ in self._rates])
        felt = self._step * np.cumsum([rate for _, rate in self._rates], axis=0)
        felt, nodes = felt[self._span :] - felt[: -self._span], nodes[self._span :]
        stamps, turns = self._turns()
        known = slice(*np.searchsorted(nodes, (stamps[0], stamps[-1]))) if len(stamps) else slice(0)
        felt, nodes = felt[known], nodes[known]
        inside = slice(self._most, len(felt) - self._most)
        moves = felt[inside] - felt[inside].mean(axis=0) if len(felt) > 3 * self._most else felt[:0]
        least = POSE_CLOCK.turns * POSE_CLOCK.span
        if not len(moves) or np.sum(moves**2) < len(moves) * least**2:
            return 0.0, 0.0, 0.0
        seen = np.column_stack([np.interp(nodes, stamps, axis) for axis in turns.T])
        windows = np.lib.stride_tricks.sliding_window_view(seen, len(moves), axis=0)
        windows = windows - windows.mean(axis=2, keepdims=True)  # (delays, 3, n)
        across = windows @ moves
        s = np.linalg.svd(across, compute_uv=False)
        s[:, 2] *= np.sign(np.linalg.det(across))
        power = np.sum(windows**2, axis=(1, 2)) * np.sum(moves**2)
        c = s.sum(axis=1) / np.sqrt(np.maximum(power, np.finfo(float).tiny))
        k = int(np.argmax(c))
        return self._step * (k - self._most), float(c[k]), float(c[self._most])

    def _turns(self) -> tuple[np.ndarray, np.ndarray]:
        """Stamps (n,) [ns] of poses, and turns of the body (n, 3) over the span before.

        Empty where poses are too rare.
        """
        stamps = np.array([stamp for stamp, _ in self._poses], dtype=np.int64)
        back, quat = round(1e9 * self._step * self._span), [quat for _, quat in self._poses]
        first = int(np.searchsorted(stamps, stamps[0] + back)) if len(stamps) else 0
        if len(stamps) - first < 2 or np.diff(stamps).max() > 1e9 * POSE_CLOCK.gap:
            return stamps[:0], np.zeros((0, 3))
        quat, now = np.array(quat), slice(first, None)
        then = np.searchsorted(stamps, stamps[now] - back, side="right") - 1
        share = (stamps[now] - stamps[then]) / back
        return stamps[now], _relative(quat[then], quat[now]) / share[:, None]


def _relative(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Rotation vectors (n, 3) between quaternions xyzw (n, 4), small, in axes of the body."""
    u, w = before[:, :3], before[:, 3:]
    v, z = after[:, :3], after[:, 3:]
    vector = w * v - z * u - np.cross(u, v)
    scalar = w * z + np.sum(u * v, axis=1, keepdims=True)
    return 2.0 * np.sign(scalar) * vector
