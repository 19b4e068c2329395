# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""What a recording of a real robot has to compare an estimate with.

Motion capture on a clock of its own, or the attitude of the robot's own filter.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation, Slerp

from prime_estimation.doctor.delays import lag
from prime_estimation.doctor.mocap import MocapSignals, mocap_signals
from prime_estimation.doctor.recording import read_recording
from prime_estimation.doctor.signals import STEP, signals_of
from prime_estimation.evaluation.motion import Motion, odometry_figures
from prime_estimation.evaluation.statistics import at, rms
from prime_estimation.io.bag import BagReader
from prime_estimation.robot import Robot

LONGEST_DELAY = 1.5  # s
PACE = 0.5  # s of a path that is known only as an estimate: steps and noise add nothing to it


@dataclass(frozen=True)
class Reference:
    """Motion by motion capture, on the clock of the log, named as in `evaluation.motion.Motion`.

    Attributes:
        t: (n,) seconds of the log's stamps.
        position: (n, 3) [m]; `rotation`: (n,) world from body.
        velocity: (n, 3) [m/s], body axes; `rate`: (n, 3) [rad/s].
        delay: by which the motion capture was late, or its stamps off [s].
    """

    t: np.ndarray
    position: np.ndarray
    rotation: Rotation
    velocity: np.ndarray
    rate: np.ndarray
    delay: float


def motion_capture(bag: Path, robot: Robot) -> Reference | None:
    """Motion capture of a bag, moved by the one delay at which it turns as the gyro does."""
    recording = read_recording(bag, robot, longest=float("inf"))
    signals = signals_of(recording, robot)
    late = mocap_signals(recording, signals.t)
    if late is None:
        return None
    felt = signals.gyro @ robot.imu_placement.rotation.T
    delay = lag(_turning(late), felt, LONGEST_DELAY, STEP).seconds
    mocap = mocap_signals(recording, signals.t, delay)
    known = np.flatnonzero(mocap.known)
    rotation = mocap.rotation[known]
    with BagReader(bag) as reader:
        start = reader.start_ns * 1e-9
    return Reference(
        start + signals.t[known],
        mocap.position[known],
        rotation,
        rotation.inv().apply(mocap.velocity[known]),
        mocap.rate[known],
        delay,
    )


def _turning(mocap: MocapSignals) -> np.ndarray:
    return np.where(mocap.known[:, None], mocap.rate, 0.0)


def against_mocap(estimate: Motion, reference: Reference) -> dict:
    """Figures of an estimate, moved and turned about the vertical to the reference at its start.

    `velocity`, `worst_second` [m/s], base axes; `drift`, `segments` [% of the path], at the end and
    over pieces of 4 s; `z_end`, `z` (rms) [m]; `tilt`, `tilt_max`, `yaw_end`, `yaw` (rms) [rad].
    """
    figures = odometry_figures(estimate, reference, 0.0)
    inside = (estimate.t >= reference.t[0]) & (estimate.t <= reference.t[-1])
    t, rotation = estimate.t[inside], estimate.rotation[inside]
    true = Slerp(reference.t, reference.rotation)(t)
    height = estimate.position[inside, 2] - at(t, reference.t, reference.position)[:, 2]
    height = height - height[0]
    return {
        "seconds": float(t[-1] - t[0]),
        "path": figures["path_m"],
        "velocity": figures["velocity_rmse_mps"],
        "worst_second": figures["worst_second_velocity_mps"],
        "drift": figures["drift_percent"],
        "segments": figures["segment_drift_percent"],
        "z_end": float(height[-1]),
        "z": rms(height[:, None]),
        **_attitude_figures(rotation, true),
    }


def against_own_filter(estimate: Motion, t: np.ndarray, attitude: Rotation) -> dict:
    """Figures of an estimate where only the attitude (n,) by the robot's own filter is known.

    `path` [m] by the estimate itself; the others as in `against_mocap`.
    """
    t_paces = np.append(np.arange(estimate.t[0], estimate.t[-1], PACE), estimate.t[-1])
    paces = at(t_paces, estimate.t, estimate.position)
    inside = (estimate.t >= t[0]) & (estimate.t <= t[-1])
    rotation, position = estimate.rotation[inside], estimate.position[inside]
    own = Slerp(t, attitude)(estimate.t[inside])
    return {
        "seconds": float(estimate.t[inside][-1] - estimate.t[inside][0]),
        "path": float(np.linalg.norm(np.diff(paces[:, :2], axis=0), axis=1).sum()),
        "z_end": float(position[-1, 2] - position[0, 2]),
        **_attitude_figures(rotation, own),
    }


def _attitude_figures(rotation: Rotation, true: Rotation) -> dict:
    """Angle between the verticals, and heading against that at the start, of (n,) attitudes."""
    tilt = np.linalg.norm(np.cross(_up(rotation), _up(true)), axis=1)
    yaw = np.unwrap((rotation * true.inv()).as_euler("ZYX")[:, 0])
    yaw = yaw - yaw[0]
    return {
        "tilt": float(np.mean(tilt)),
        "tilt_max": float(np.max(tilt)),
        "yaw_end": float(yaw[-1]),
        "yaw": rms(yaw[:, None]),
    }


def _up(rotation: Rotation) -> np.ndarray:
    """(n, 3) the vertical in body axes."""
    return rotation.inv().apply([0.0, 0.0, 1.0])
