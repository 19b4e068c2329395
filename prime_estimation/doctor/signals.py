# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Sensor streams on one regular grid, smoothed alike, so that physics can be compared."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.ndimage import minimum_filter1d

from ..errors import DataError
from ..robot import GRAVITY, Robot
from .recording import Recording, Stream

STEP = 0.004  # s, of the grid
BANDWIDTH = 15.0  # Hz: steps of a legged robot are slower, noise and impacts faster
_EDGE = 0.2  # s left out at both ends, and around gaps, where the smoothing has no data
_GAP = 0.05  # s without a sample that is no interpolation any more
_LEVEL = 1.0  # 1/s, by which the vertical follows the specific force
SHORTEST = 2.0  # s of data without which nothing can be told
LONGEST = 100.0  # s of stamps in a second of recording, which no clock gives


@dataclass(frozen=True)
class Signals:
    """Smoothed signals on a grid; every column has gone through the same filter.

    Attributes:
        t: (n,) [s], from the beginning of the recording.
        usable: (n,) not at an edge or a gap.
        position, velocity, acceleration: (n, nj) rad, rad/s, rad/s2.
        torque: (n, nj) of the motors [Nm]; None: there is none.
        gyro, force: (n, 3) rad/s, m/s2, IMU axes; None: there is no IMU.
        up: (n, 3) unit vector upwards, IMU axes.
        standing: (n, nf) contact flags, by `Robot.feet`; None: there are none.
    """

    t: np.ndarray
    usable: np.ndarray
    position: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray
    torque: np.ndarray | None = None
    gyro: np.ndarray | None = None
    force: np.ndarray | None = None
    up: np.ndarray | None = None
    standing: np.ndarray | None = None

    def later(self, name: str, seconds: float) -> "Signals":
        """With one signal taken `seconds` later: the correction of one that is late by that."""
        values = getattr(self, name)
        moved = [np.interp(self.t + seconds, self.t, column) for column in values.T]
        return replace(self, **{name: np.stack(moved, axis=1)})

    def scaled(self, factors: np.ndarray, names: tuple[str, ...]) -> "Signals":
        """With joint signals multiplied by `factors` (nj,)."""
        changes = {n: getattr(self, n) * factors for n in names if getattr(self, n) is not None}
        return replace(self, **changes)

    def permuted(self, order: np.ndarray, names: tuple[str, ...]) -> "Signals":
        """With joint signals in another order (nj,)."""
        return replace(
            self, **{n: getattr(self, n)[:, order] for n in names if getattr(self, n) is not None}
        )

    def turned(self, rotation: np.ndarray) -> "Signals":
        """With the IMU's signals turned by a rotation (3, 3)."""
        return replace(self, **{n: getattr(self, n) @ rotation.T for n in ("gyro", "force", "up")})

    def sampled(self, count: int) -> np.ndarray:
        """Indices of about `count` usable grid points, spread evenly."""
        found = np.flatnonzero(self.usable)
        return found[:: max(1, len(found) // count)]


def signals_of(recording: Recording, robot: Robot) -> Signals:
    """Signals of a recording.

    Raises:
        DataError: joint states and IMU have less than `SHORTEST` usable seconds in common.
    """
    joints, imu = recording.get("joint_states"), recording.get("imu")
    needed = [joints] + ([imu] if robot.imu_joint is not None and imu is not None else [])
    begin = max(float(s.stamps.min()) for s in needed)
    end = min(float(s.stamps.max()) for s in needed)
    if end - begin > LONGEST * max(1.0, recording.seconds):
        raise DataError(
            f"{recording.path}: stamps of joint states and IMU go from {begin:.3g} to {end:.3g} s "
            f"in {recording.seconds:.1f} s of recording: are they of a clock, and in its units?",
            recording.path,
        )
    t = np.arange(begin, end, STEP)
    if not t.size:
        spans = " and ".join(f"{s.stamps.min():.1f} to {s.stamps.max():.1f} s" for s in needed)
        raise DataError(
            f"{recording.path}: joint states and IMU have no time in common ({spans} from the "
            "start of the recording): are they stamped by the same clock?",
            recording.path,
        )
    usable = np.logical_and.reduce([_covered(s, t) for s in needed])
    if usable.sum() * STEP < SHORTEST:
        raise DataError(f"{recording.path}: {_too_little(usable, end - begin)}", recording.path)
    position = smooth(_on_grid(joints, "position", t, robot.turning))
    if "velocity" in joints.values:
        velocity = smooth(_on_grid(joints, "velocity", t))
    else:
        velocity = np.gradient(position, STEP, axis=0)
    return Signals(
        t,
        usable,
        position,
        velocity,
        np.gradient(velocity, STEP, axis=0),
        _torque(recording, robot, t),
        **_imu(imu, t),
        standing=_standing(recording, robot, t),
    )


def _too_little(usable: np.ndarray, together: float) -> str:
    """Why there are too few usable grid points, of an overlap of joint states and IMU [s]."""
    if together < SHORTEST + 2.0 * _EDGE:
        least = f"{SHORTEST + 2.0 * _EDGE:g} s"
        return (
            f"joint states and IMU have {together:.2g} s in common, an examination wants {least} "
            "and better 10: give a longer recording"
        )
    gap = f"a gap of {1e3 * _GAP:g} ms"
    rest = f"of the {together:.1f} s that joint states and IMU have in common"
    if not usable.any():
        longest = f"{2.0 * _EDGE:g} s: are messages lost, or seldom?"
        return f"in none {rest} are they without {gap} for {longest}"
    seconds = usable.sum() * STEP
    return (
        f"{seconds:.1f} s {rest} are {_EDGE:g} s away from {gap}, an examination wants "
        f"{SHORTEST:g} s and better 10: are messages lost, or seldom?"
    )


def _imu(imu: Stream | None, t: np.ndarray) -> dict:
    if imu is None:
        return {}
    gyro = smooth(_on_grid(imu, "angular_velocity", t))
    force = smooth(_on_grid(imu, "linear_acceleration", t))
    return {"gyro": gyro, "force": force, "up": upwards(gyro, force)}


def upwards(gyro: np.ndarray, force: np.ndarray) -> np.ndarray:
    """(n, 3) unit vector upwards: the gyro carries it on, the specific force levels it slowly."""
    out = np.zeros_like(force)
    u = force[: max(1, int(1.0 / STEP))].mean(axis=0)
    u = u / max(np.linalg.norm(u), 1e-9)
    for k, (rate, felt) in enumerate(zip(gyro, force)):
        u = u - STEP * np.cross(rate, u) + STEP * _LEVEL * (felt / GRAVITY - u)
        u = u / max(np.linalg.norm(u), 1e-9)
        out[k] = u
    return out


def _torque(recording: Recording, robot: Robot, t: np.ndarray) -> np.ndarray | None:
    """Measured torque, else commanded torque, of true size."""
    name = recording.torque_stream
    if name is None:
        return None
    return robot.motor_torque(smooth(_on_grid(recording.streams[name], "effort", t)))


def _standing(recording: Recording, robot: Robot, t: np.ndarray) -> np.ndarray | None:
    """Feet that stand by the recording's own flags."""
    stream, feet = recording.get("contacts"), recording.feet.get("contacts", [])
    if stream is None or not set(robot.feet) <= set(feet):
        return None
    own = stream.values["force"][:, [feet.index(foot) for foot in robot.feet]]
    if not np.isfinite(own).all(axis=1).any():
        return None
    return _on_grid(replace(stream, values={"force": own}), "force", t) > 0.5


def _on_grid(stream: Stream, name: str, t: np.ndarray, turning=()) -> np.ndarray:
    values = stream.values[name]
    known = np.isfinite(values).all(axis=1)
    order = np.argsort(stream.stamps[known], kind="stable")
    stamps, values = stream.stamps[known][order], values[known][order]
    fresh = np.concatenate([[True], np.diff(stamps) > 0.0])
    stamps, values = stamps[fresh], values[fresh]
    for column in turning:
        values[:, column] = np.unwrap(values[:, column])
    return np.stack([np.interp(t, stamps, column) for column in values.T], axis=1)


def smooth(values: np.ndarray) -> np.ndarray:
    """Values (n, k) without what is faster than `BANDWIDTH`, none of it late."""
    from scipy.signal import butter, filtfilt

    b, a = butter(2, 2.0 * STEP * BANDWIDTH)
    return filtfilt(b, a, values, axis=0)


def _covered(stream: Stream, t: np.ndarray) -> np.ndarray:
    """Grid points that are not within `_EDGE` of an end or a gap of the stream."""
    stamps = np.sort(stream.stamps)
    after = np.clip(np.searchsorted(stamps, t), 1, len(stamps) - 1)
    inside = (stamps[after] - stamps[after - 1] <= _GAP) & (t >= stamps[0]) & (t <= stamps[-1])
    inside[[0, -1]] = False
    width = 2 * round(_EDGE / STEP) + 1
    return minimum_filter1d(inside.astype(np.uint8), width, mode="constant").astype(bool)
