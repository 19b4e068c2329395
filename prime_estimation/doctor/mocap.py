# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Motion capture on the grid of the other signals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation, Slerp

from .recording import Recording, Stream
from .signals import STEP, smooth

_JUMP = 0.05  # m from the median of its neighbours: an outlier
_NEIGHBOURS = 5


@dataclass(frozen=True)
class MocapSignals:
    """Motion of the tracked body.

    Attributes:
        known: (n,) the motion capture covers the instant.
        position: (n, 3) [m], world axes; `velocity`: its derivative [m/s].
        rotation: (n,) world from body.
        rate: (n, 3) angular velocity [rad/s], body axes.
    """

    known: np.ndarray
    position: np.ndarray
    velocity: np.ndarray
    rotation: Rotation
    rate: np.ndarray


def mocap_signals(recording: Recording, t: np.ndarray, delay: float = 0.0) -> MocapSignals | None:
    """Motion capture at the grid's times `t` (n,) [s], taken `delay` later; None without any."""
    stream = recording.get("mocap/pose")
    if stream is None or len(stream) < 10:
        return None
    stamps, position, quat = _clean(stream)
    if len(stamps) < 10:
        return None
    at = t + delay
    inside = np.clip(at, stamps[0], stamps[-1])
    place = smooth(np.stack([np.interp(inside, stamps, c) for c in position.T], axis=1))
    rotation, rate = turning(stamps, quat, inside)
    after = np.clip(np.searchsorted(stamps, at), 1, len(stamps) - 1)
    usual = float(np.median(np.diff(stamps)))
    known = (stamps[after] - stamps[after - 1] < 6.0 * usual) & (inside == at)
    return MocapSignals(known, place, np.gradient(place, STEP, axis=0), rotation, rate)


def turning(stamps: np.ndarray, quat: np.ndarray, at: np.ndarray) -> tuple[Rotation, np.ndarray]:
    """Rotations (n,) at times of the grid, and rate (n, 3) [rad/s] in axes of what turns."""
    rotation = Slerp(stamps, Rotation.from_quat(quat))(at)
    rate = np.zeros((len(at), 3))
    rate[1:-1] = (rotation[:-2].inv() * rotation[2:]).as_rotvec() / (2.0 * STEP)
    return rotation, smooth(rate)


def correlation(one: np.ndarray, other: np.ndarray) -> float:
    """Correlation of two rates of turning (n, 3), over all axes together."""
    one, other = one - one.mean(axis=0), other - other.mean(axis=0)
    return float((one * other).sum() / max(np.linalg.norm(one) * np.linalg.norm(other), 1e-9))


def _clean(stream: Stream) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Stamps, positions and quaternions in order of time, outliers left out."""
    order = np.argsort(stream.stamps, kind="stable")
    stamps = stream.stamps[order]
    position = stream.values["position_world"][order]
    quat = stream.values["quat_world_body"][order]
    padded = np.pad(position, ((_NEIGHBOURS // 2, _NEIGHBOURS // 2), (0, 0)), mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded, _NEIGHBOURS, axis=0)
    away = np.linalg.norm(position - np.median(windows, axis=2), axis=1)
    # in another unit than metres what is usual is larger
    usual = float(np.median(np.abs(position - position.mean(axis=0))))
    good = away < max(_JUMP, 0.5 * usual)
    good &= np.concatenate([[True], np.diff(stamps) > 0.0])
    return stamps[good], position[good], quat[good]
