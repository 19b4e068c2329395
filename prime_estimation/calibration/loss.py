# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Upper loss of the noise calibration: estimated trajectory against motion capture."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .mocap_factor import mocap_pose
from .offsets import Offsets
from .recording import KinematicRecording
from .rotations import rotate, transpose
from .trajectory import POSITION, ROTATION, VELOCITY, Trajectory

PART = 1.0  # s


@dataclass(frozen=True)
class LossScales:
    """Errors that count as much as each other."""

    position: float = 0.02  # m
    rotation: float = 0.01  # rad
    velocity: float = 0.02  # m/s


class TrajectoryLoss:
    """Half the mean squared error on SE(3) and of the velocity, each by its scale.

    Args:
        recording: whose motion capture is the truth.
        offsets: of the machine, the tracked body's included.
        reference: (n, 3) velocity of the IMU in the world, of an estimate with motion capture.
        first: node from which on errors count.
        scales: of the errors.
    """

    def __init__(
        self,
        recording: KinematicRecording,
        offsets: Offsets,
        reference: np.ndarray,
        first: int,
        scales: LossScales = LossScales(),
    ):
        self.recording = recording
        self.offsets = offsets
        self.reference = reference
        self.first = first
        wanted = recording.mocap.node >= first
        pose = np.repeat([scales.position, scales.rotation], 3) ** -2.0
        self._pose = wanted[:, None] * pose / max(1, wanted.sum())
        self._speed = scales.velocity**-2.0 / (len(recording) - first)
        self._nodes = np.arange(first, len(recording))

    def value(self, x: Trajectory) -> float:
        """Loss of a trajectory."""
        return float(np.mean(self.parts(x)))

    def parts(self, x: Trajectory) -> np.ndarray:
        """(p,) shares of the loss, by seconds of the recording; their mean is the loss."""
        r = mocap_pose(x, self.recording, self.offsets).residual
        v = (x.velocity - self.reference)[self.first :]
        length = round(PART / self.recording.step)
        count = max(2, (len(x) - self.first) // length)
        by_pose, by_node = (
            np.minimum((node - self.first) // length, count - 1)
            for node in (np.maximum(self.recording.mocap.node, self.first), self._nodes)
        )
        out = np.bincount(by_pose, 0.5 * np.sum(self._pose * r * r, axis=1), count)
        out += np.bincount(by_node, 0.5 * self._speed * np.sum(v * v, axis=1), count)
        return count * out

    def gradient(self, x: Trajectory) -> np.ndarray:
        """(n, width) by the tangents of the nodes."""
        f, g = mocap_pose(x, self.recording, self.offsets), np.zeros((len(x), x.width))
        local = rotate(transpose(f.jacobian), self._pose * f.residual)
        np.add.at(g, (f.node[:, None], np.r_[POSITION, ROTATION, VELOCITY]), local)
        g[self.first :, VELOCITY] += self._speed * (x.velocity - self.reference)[self.first :]
        return g
