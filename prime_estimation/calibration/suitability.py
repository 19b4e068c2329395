# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Whether a recording can calibrate anything: it must move, in a world whose z points up."""

from __future__ import annotations

import numpy as np

from ..errors import DataError
from .offsets import Offsets
from .recording import KinematicRecording
from .rotations import rotate

# rad/s, root mean square about the second axis: a robot that stands has the noise of its gyro
LEAST_TURNING = 0.02
LARGEST_TILT = np.deg2rad(15.0)  # of gravity in the world of the motion capture


def check_motion(recording: KinematicRecording) -> None:
    """DataError where the base does not turn about two axes: nothing tells the offsets then."""
    turning = recording.gyro - recording.gyro.mean(axis=0)
    second = np.linalg.svd(turning, compute_uv=False)[1] / np.sqrt(len(turning))
    if second < LEAST_TURNING:
        raise DataError(
            f"{recording.name}: the base hardly turns ({second:.3f} rad/s about its second axis); "
            "calibration needs a recording that walks, turns, and pitches or rolls",
            second,
        )


def check_frame(recording: KinematicRecording, offsets: Offsets) -> None:
    """DataError where the mean specific force does not point along z of the motion capture.

    Args:
        recording: its signals.
        offsets: with the rotation of the tracked body that fits its turning.
    """
    m, step = recording.mocap, recording.step
    inside = m.node < len(recording) - 1
    body = m.rotation[inside] @ offsets.mocap_rotation.T @ offsets.imu_rotation
    force = rotate(body, recording.imu.velocity[m.node[inside]] / step).mean(axis=0)
    tilt = float(np.arccos(np.clip(force[2] / np.linalg.norm(force), -1.0, 1.0)))
    if tilt > LARGEST_TILT:
        along = "xyz"[int(np.abs(force).argmax())]
        sign = "-" if force["xyz".index(along)] < 0.0 else ""
        raise DataError(
            f"{recording.name}: in the world of the motion capture 'up' is {sign}{along}, "
            f"{np.rad2deg(tilt):.0f} degrees from z; turn its poses so that z points up",
            force,
        )
