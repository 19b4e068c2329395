# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Figures of motion: position, orientation and velocity of the base, and their covariances."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation, Slerp

from .statistics import at, check_overlap, coverage95, nees, rms, times, worst_second, xyz

# s, over which odometry drifts: the end of a run is one sample, its segments are many
SEGMENT = 4.0
BEGINS = 0.25  # s, between the beginnings of segments
FEW = 100  # samples at stamps of the truth, below which rates are compared between them, too


class Motion:
    """Arrays of a list of nav_msgs/Odometry, times [s] from `start_ns`.

    Messages whose stamp does not advance are left out.
    """

    def __init__(self, messages: list, start_ns: int):
        t = times(messages, start_ns)
        fresh = t > np.maximum.accumulate(np.concatenate([[-np.inf], t[:-1]]))
        messages = [m for m, f in zip(messages, fresh) if f]
        self.t = t[fresh]
        self.position = np.array([xyz(m.pose.pose.position) for m in messages])
        self.rotation = Rotation.from_quat(
            [[*xyz(m.pose.pose.orientation), m.pose.pose.orientation.w] for m in messages]
        )
        self.velocity = np.array([xyz(m.twist.twist.linear) for m in messages])
        self.rate = np.array([xyz(m.twist.twist.angular) for m in messages])
        pose, twist = (
            np.array([getattr(m, part).covariance for m in messages]).reshape(-1, 6, 6)
            for part in ("pose", "twist")
        )
        self.position_covariance = pose[:, :3, :3]  # fixed axes
        self.rotation_covariance = pose[:, 3:, 3:]  # fixed axes
        self.velocity_covariance = twist[:, :3, :3]  # base axes


def odometry_figures(est: Motion, ref: Motion, settle: float, own_world: bool = False) -> dict:
    """Figures of the base's motion, from `settle` seconds after the start on.

    `position`, `yaw`, `drift`: aligned in the first horizontal offset and yaw. `segment`: over
    pieces of `SEGMENT` seconds. `nees`: 3 is right, 1 of yaw. `coverage95`: 0.95 is right.
    `worst_second`: largest RMS of any second. Velocity in the base frame.

    Args:
        est: the estimate.
        ref: the truth.
        settle: seconds that are left out.
        own_world: the world of the estimate lies where it began, not where the truth has it: the
            intervals of place and heading are those of the way since then.
    """
    keep = (est.t >= max(est.t[0], ref.t[0]) + settle) & (est.t <= min(est.t[-1], ref.t[-1]))
    t = est.t[keep]
    check_overlap(t, "odometry", settle)
    true_position, true_rotation = at(t, ref.t, ref.position), Slerp(ref.t, ref.rotation)(t)
    position, rotation = est.position[keep], est.rotation[keep]
    velocity_error = est.velocity[keep] - at(t, ref.t, ref.velocity)
    path = float(np.linalg.norm(np.diff(true_position[:, :2], axis=0), axis=1).sum())
    return {
        "samples": len(t),
        "rate_hz": float((len(t) - 1) / (t[-1] - t[0])),
        "largest_gap_s": float(np.diff(t).max()),
        "path_m": path,
        **_pose_figures(position, rotation, true_position, true_rotation, path),
        "velocity_rmse_mps": rms(velocity_error),
        "worst_second_velocity_mps": worst_second(t, np.sum(velocity_error**2, axis=1)),
        "angular_velocity_rmse_radps": _rate_error(t, est.rate[keep], ref),
        **_segment_figures(t, position, rotation, true_position, true_rotation),
        **_interval_figures(
            *_pose_errors(est, ref, keep, own_world),
            velocity_error,
            est.velocity_covariance[keep],
        ),
    }


def _rate_error(t: np.ndarray, rate: np.ndarray, ref: Motion) -> float:
    """RMS [rad/s] of angular rates (n, 3), where there are enough at stamps of the truth only.

    A foot that touches down jerks the base within one sample of the truth: a straight line from
    before to after is off by more than the estimate.
    """
    nearest = at(t, ref.t, np.arange(len(ref.t), dtype=float)[:, None])[:, 0]
    met = np.abs(nearest - np.round(nearest)) < 1e-3  # of the interval between its samples
    met = met if met.sum() >= FEW else np.ones(len(t), bool)
    return rms(rate[met] - at(t[met], ref.t, ref.rate))


def _pose_figures(
    position: np.ndarray,
    rotation: Rotation,
    true_position: np.ndarray,
    true_rotation: Rotation,
    path: float,
) -> dict:
    """Errors of the pose once the first horizontal offset and yaw are removed, not the height."""
    align = Rotation.from_euler("z", (true_rotation[0] * rotation[0].inv()).as_euler("ZYX")[0])
    aligned = align.apply(position - position[0]) + true_position[0]
    aligned[:, 2] = position[:, 2]
    error = aligned - true_position
    yaw_pitch_roll = (align * rotation).as_euler("ZYX") - true_rotation.as_euler("ZYX")
    yaw_pitch_roll = (yaw_pitch_roll + np.pi) % (2 * np.pi) - np.pi
    return {
        "position_rmse_m": rms(error),
        "position_rmse_unaligned_m": rms(position - true_position),
        "z_rmse_m": rms((position - true_position)[:, 2:]),
        "drift_percent": 100 * float(np.linalg.norm(error[-1, :2])) / max(path, 1e-9),
        "rollpitch_rmse_rad": rms(yaw_pitch_roll[:, 1:]),
        "yaw_rmse_rad": rms(yaw_pitch_roll[:, :1]),
        "orientation_rmse_rad": rms((true_rotation.inv() * align * rotation).as_rotvec()),
    }


def _pose_errors(
    est: Motion, ref: Motion, keep: np.ndarray, own_world: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Errors of place and rotation (n, 3) about fixed axes, each with its covariance (n, 3, 3)."""
    t, align, shift = est.t[keep], Rotation.identity(), np.zeros(3)
    position, rotation = est.position[keep], est.rotation[keep]
    if own_world:  # its origin and heading are those of the first estimate
        first, align = _first(est, ref), heading_of_world(est, ref)
        there = at(est.t[[first]], ref.t, ref.position)[0]
        shift = (there - align.apply(est.position[first])) * [1.0, 1.0, 0.0]
    A = align.as_matrix()
    return (
        align.apply(position) + shift - at(t, ref.t, ref.position),
        A @ est.position_covariance[keep] @ A.T,
        (align * rotation * Slerp(ref.t, ref.rotation)(t).inv()).as_rotvec(),
        A @ est.rotation_covariance[keep] @ A.T,
    )


def heading_of_world(est: Motion, ref: Motion) -> Rotation:
    """Turn about the vertical of the world in which an estimate began, to that of the truth."""
    first = _first(est, ref)
    turn = Slerp(ref.t, ref.rotation)(est.t[first]) * est.rotation[first].inv()
    return Rotation.from_euler("z", turn.as_euler("ZYX")[0])


def _first(est: Motion, ref: Motion) -> int:
    """Index of the first estimate with a truth."""
    return np.flatnonzero((est.t >= ref.t[0]) & (est.t <= ref.t[-1]))[0]


def _interval_figures(
    position: np.ndarray,
    position_covariance: np.ndarray,
    rotation: np.ndarray,
    rotation_covariance: np.ndarray,
    velocity: np.ndarray,
    velocity_covariance: np.ndarray,
) -> dict:
    """How well the stated covariances of errors (n, 3) hold; the rotation is about fixed axes."""
    return {
        "nees_position": nees(position, position_covariance),
        "nees_velocity": nees(velocity, velocity_covariance),
        "nees_orientation": nees(rotation, rotation_covariance),
        "nees_yaw": nees(rotation[:, 2:], rotation_covariance[:, 2:, 2:]),
        "coverage95_position": coverage95(position, position_covariance),
        "coverage95_velocity": coverage95(velocity, velocity_covariance),
        "coverage95_rollpitch": coverage95(rotation[:, :2], rotation_covariance[:, :2, :2]),
    }


def _segment_figures(
    t: np.ndarray,
    position: np.ndarray,
    rotation: Rotation,
    true_position: np.ndarray,
    true_rotation: Rotation,
) -> dict:
    """Errors of displacement, height included, and of turn over pieces of `SEGMENT` seconds.

    Each piece begins at the true heading. None in a run that is shorter.
    """
    begin = np.arange(t[0], t[-1] - SEGMENT, BEGINS)
    if not len(begin):
        names = ("error_m", "z_m", "drift_percent", "yaw_rad")
        return {f"segment_{name}": None for name in names}
    i, j = np.searchsorted(t, begin), np.searchsorted(t, begin + SEGMENT)
    yaw, true_yaw = (np.unwrap(r.as_euler("ZYX")[:, 0]) for r in (rotation, true_rotation))
    turn = Rotation.from_euler("z", (true_yaw - yaw)[i, None])
    error = turn.apply(position[j] - position[i]) - (true_position[j] - true_position[i])
    angle = (yaw - true_yaw)[j] - (yaw - true_yaw)[i]
    steps = np.linalg.norm(np.diff(true_position[:, :2], axis=0), axis=1)
    walked = np.concatenate([[0.0], steps.cumsum()])
    return {
        "segment_error_m": rms(error),
        "segment_z_m": rms(error[:, 2:]),
        "segment_drift_percent": 100
        * rms(error)
        / max(float(np.mean(walked[j] - walked[i])), 1e-9),
        "segment_yaw_rad": rms(((angle + np.pi) % (2 * np.pi) - np.pi)[:, None]),
    }
