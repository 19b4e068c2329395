# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The IMU's own orientation, which a filter of its makes, against what it feels."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from ..case import Case, Verdict
from ..finding import FAULT, HINT, Finding
from ..mocap import correlation, turning
from ..recording import Stream
from ..signals import Signals

_TILTED = np.radians(15.0)  # against what the accelerometer feels as up
_SPAN = 1.0  # s over which steps cancel
_TURNS = 0.05  # rad/s rms of a gyro that turns
# correlation of its turning with the gyro: 0.98 and more on real logs; -0.9 for the inverse, 0.2
# for another order of the quaternion
_AGREES = 0.5
_REMEDY = (
    "look at the order of its quaternion (x y z w), that it is of the IMU in the world and not its "
    "inverse, and that this world's z is up (ENU, not NED); or say orientation_covariance[0]: -1"
)


def examine(case: Case) -> Verdict:
    """Up and turning by the IMU's own orientation."""
    imu = case.recording.get("imu")
    quat = None if imu is None else imu.values.get("quat_world_imu")
    if case.signals is None or case.signals.gyro is None or quat is None:
        return case, []
    read = np.isfinite(quat).all(axis=1) & (np.abs(quat).max(axis=1) > 0)
    if read.sum() < 10:
        return case, []
    felt = np.sqrt(np.mean(np.square(imu.values["angular_velocity"][read])))
    if np.ptp(quat[read], axis=0).max() == 0.0 and felt > _TURNS:
        text = "the IMU's own orientation stays the same while it turns: it is none, and not used"
        remedy = "orientation_covariance[0]: -1 says so"
        return case, [Finding("imu.orientation", HINT, text, {}, remedy)]
    facts = {"angle": _tilt(imu, read)}
    if felt > _TURNS:
        facts["correlation"] = _agreement(imu, read, case.signals)
    if facts["angle"] > _TILTED:
        text = (
            f"the IMU's own orientation is {np.degrees(facts['angle']):.0f} degrees from what its "
            "accelerometer feels as up"
        )
    elif facts.get("correlation", 1.0) < _AGREES:
        text = (
            "the IMU's own orientation does not turn as its gyro does (correlation "
            f"{facts['correlation']:.2f})"
        )
    else:
        return case, []
    return case, [Finding("imu.orientation", FAULT, text, facts, _REMEDY)]


def _tilt(imu: Stream, read: np.ndarray) -> float:
    """Angle between up by the orientation and by the accelerometer, both as recorded [rad]."""
    seconds = np.floor(imu.stamps[read] / _SPAN)
    up = Rotation.from_quat(imu.values["quat_world_imu"][read]).inv().apply([0.0, 0.0, 1.0])
    force = imu.values["linear_acceleration"][read]
    cosines = []
    for second in np.unique(seconds):
        felt, told = force[seconds == second].mean(axis=0), up[seconds == second].mean(axis=0)
        cosines.append(felt @ told / max(np.linalg.norm(felt) * np.linalg.norm(told), 1e-9))
    return float(np.arccos(np.clip(np.median(cosines), -1.0, 1.0)))


def _agreement(imu: Stream, read: np.ndarray, signals: Signals) -> float:
    """Correlation of the rates by orientation and gyro, as recorded or without its mistakes."""
    stamps, first = np.unique(imu.stamps[read], return_index=True)
    if len(stamps) < 10:
        return 1.0
    at = np.clip(signals.t, stamps[0], stamps[-1])
    _, rate = turning(stamps, imu.values["quat_world_imu"][read][first], at)
    recorded = imu.values["angular_velocity"][read][first]
    as_recorded = np.stack([np.interp(at, stamps, column) for column in recorded.T], axis=1)
    rows = signals.usable
    return max(correlation(rate[rows], gyro[rows]) for gyro in (signals.gyro, as_recorded))
