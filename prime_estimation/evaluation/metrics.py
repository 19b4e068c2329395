# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Figures of merit of motion, joints and contact forces.

Lists of messages against lists of messages. Times from `start_ns`, SI units.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation, Slerp

from ..errors import DataError
from ..io.messages import stamp_ns

NODE = 0.010  # s, span of the mean joint rate, and half width of the triangular mean of a force
# s, span of the force average that does not see the timing of an impact inside a node
SMOOTH = 0.040
# s, over which odometry drifts: the end of a run is one sample, its segments are many
SEGMENT = 4.0
CONTACT_LOAD = 0.05  # of the body weight: a foot with more normal force is in contact


def times(messages: list, start_ns: int) -> np.ndarray:
    """Stamps of messages [s] from `start_ns`."""
    return np.array([stamp_ns(m.header) - start_ns for m in messages]) * 1e-9


# --- motion
# -------------------------------------------------------------------------------------------------------


class Motion:
    """Arrays of a list of nav_msgs/Odometry, times [s] from `start_ns`.

    Messages whose stamp does not advance are left out.
    """

    def __init__(self, messages: list, start_ns: int):
        t = times(messages, start_ns)
        fresh = t > np.maximum.accumulate(np.concatenate([[-np.inf], t[:-1]]))
        messages = [m for m, f in zip(messages, fresh) if f]
        self.t = t[fresh]
        self.position = np.array([_xyz(m.pose.pose.position) for m in messages])
        self.rotation = Rotation.from_quat(
            [[*_xyz(m.pose.pose.orientation), m.pose.pose.orientation.w] for m in messages]
        )
        self.velocity = np.array([_xyz(m.twist.twist.linear) for m in messages])
        self.rate = np.array([_xyz(m.twist.twist.angular) for m in messages])
        self.position_covariance = np.array([m.pose.covariance for m in messages]).reshape(
            -1, 6, 6
        )[:, :3, :3]
        self.velocity_covariance = np.array([m.twist.covariance for m in messages]).reshape(
            -1, 6, 6
        )[:, :3, :3]


def odometry_figures(est: Motion, ref: Motion, settle: float) -> dict:
    """Position aligned in its first horizontal offset and yaw, and in those of segments.

    Velocity in the base frame; NEES (3 is right).
    """
    keep = (est.t >= max(est.t[0], ref.t[0]) + settle) & (est.t <= min(est.t[-1], ref.t[-1]))
    t = est.t[keep]
    _check_overlap(t, "odometry", settle)
    true_position, true_rotation = _at(t, ref.t, ref.position), Slerp(ref.t, ref.rotation)(t)
    position, rotation = est.position[keep], est.rotation[keep]
    align = Rotation.from_euler("z", (true_rotation[0] * rotation[0].inv()).as_euler("ZYX")[0])
    aligned = align.apply(position - position[0]) + true_position[0]
    aligned[:, 2] = position[:, 2]
    error = aligned - true_position
    path = float(np.linalg.norm(np.diff(true_position[:, :2], axis=0), axis=1).sum())
    yaw_pitch_roll = (align * rotation).as_euler("ZYX") - true_rotation.as_euler("ZYX")
    yaw_pitch_roll = (yaw_pitch_roll + np.pi) % (2 * np.pi) - np.pi
    velocity_error = est.velocity[keep] - _at(t, ref.t, ref.velocity)
    return {
        "samples": len(t),
        "rate_hz": float((len(t) - 1) / (t[-1] - t[0])),
        "largest_gap_s": float(np.diff(t).max()),
        "path_m": path,
        "position_rmse_m": _rms(error),
        "position_rmse_unaligned_m": _rms(position - true_position),
        "z_rmse_m": _rms((position - true_position)[:, 2:]),
        "drift_percent": 100 * float(np.linalg.norm(error[-1, :2])) / max(path, 1e-9),
        **_segment_figures(t, position, rotation, true_position, true_rotation),
        "velocity_rmse_mps": _rms(velocity_error),
        "angular_velocity_rmse_radps": _rms(est.rate[keep] - _at(t, ref.t, ref.rate)),
        "rollpitch_rmse_rad": _rms(yaw_pitch_roll[:, 1:]),
        "yaw_rmse_rad": _rms(yaw_pitch_roll[:, :1]),
        "orientation_rmse_rad": _rms((true_rotation.inv() * align * rotation).as_rotvec()),
        "nees_position": _nees(position - true_position, est.position_covariance[keep]),
        "nees_velocity": _nees(velocity_error, est.velocity_covariance[keep]),
    }


def _segment_figures(
    t: np.ndarray,
    position: np.ndarray,
    rotation: Rotation,
    true_position: np.ndarray,
    true_rotation: Rotation,
) -> dict:
    """Horizontal error and turn at the end of every piece of `SEGMENT` seconds whose beginning lies on the truth; None in a shorter run."""
    after = np.searchsorted(t, t + SEGMENT)
    begin = np.flatnonzero(after < len(t))
    end = after[begin]
    if not len(begin):
        return {"segment_error_m": None, "segment_drift_percent": None, "segment_yaw_rad": None}
    turn = np.unwrap((true_rotation * rotation.inv()).as_euler("ZYX")[:, 0])
    error = Rotation.from_euler("z", turn[begin, None]).apply(position[end] - position[begin]) - (
        true_position[end] - true_position[begin]
    )
    walked = np.concatenate(
        [[0.0], np.linalg.norm(np.diff(true_position[:, :2], axis=0), axis=1).cumsum()]
    )
    length = walked[end] - walked[begin]
    return {
        "segment_error_m": _rms(error[:, :2]),
        "segment_drift_percent": 100
        * float(np.linalg.norm(error[:, :2], axis=1).sum() / max(length.sum(), 1e-9)),
        "segment_yaw_rad": _rms((turn[end] - turn[begin])[:, None]),
    }


def _nees(error: np.ndarray, covariance: np.ndarray) -> float | None:
    """Mean squared normalized error over the samples with a positive definite covariance.

    None without any.
    """
    good = np.isfinite(covariance).all(axis=(1, 2))
    good[good] = np.linalg.eigvalsh(covariance[good])[:, 0] > 0
    if not good.any():
        return None
    weighted = np.linalg.solve(covariance[good], error[good][:, :, None])[:, :, 0]
    return float(np.mean(np.sum(error[good] * weighted, axis=1)))


# --- joints
# -------------------------------------------------------------------------------------------------------


def joint_figures(est: list, ref: dict, start_ns: int, settle: float) -> dict | None:
    """Joint position, and mean rate over the node that ends at the stamp, beside those of the sensor itself."""
    truth, sensor = ref.get("/ground_truth/joint_states"), ref.get("/joint_states")
    if not truth or not sensor:
        return None
    names = [n for n in truth[0].name if n in est[0].name]
    if not names:
        raise DataError(
            "estimate and ground truth have no joint in common: are these bags of the same robot?",
            est[0].name,
        )
    t_true, q_true, _ = _joint_arrays(truth, names, start_ns)
    out: dict = {"joints": len(names)}
    for label, messages in (("estimate", est), ("sensor", sensor)):
        t, q, rate = _joint_arrays(messages, names, start_ns)
        if label == "sensor":
            rate = _trailing_mean(rate, max(1, round(NODE / np.median(np.diff(t)))))
        keep = (t > t_true[0] + settle) & (t < t_true[-1])
        t = t[keep]
        _check_overlap(t, "joint", settle)
        true_now = _at(t, t_true, q_true)
        true_rate = (true_now - _at(t - NODE, t_true, q_true)) / NODE
        out[label] = {
            "position_rmse_rad": float(np.sqrt(np.mean((q[keep] - true_now) ** 2))),
            "velocity_rmse_radps": float(np.sqrt(np.mean((rate[keep] - true_rate) ** 2))),
        }
    return out


def _joint_arrays(
    messages: list, names: list[str], start_ns: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    order = [list(messages[0].name).index(n) for n in names]
    position, velocity = (
        np.array([np.asarray(getattr(m, f))[order] for m in messages])
        for f in ("position", "velocity")
    )
    return times(messages, start_ns), position, velocity


def _trailing_mean(x: np.ndarray, width: int) -> np.ndarray:
    total = np.cumsum(np.vstack([np.zeros((1, x.shape[1])), x]), axis=0)
    return np.vstack([x[: width - 1], (total[width:] - total[:-width]) / width])


# --- contacts
# -----------------------------------------------------------------------------------------------------


def contact_figures(
    messages: list, ref: dict, weight: float, start_ns: int, settle: float
) -> dict | None:
    """Force of each foot (sum of its corners) against the triangular mean of the truth over +-10 ms, and contact as F1."""
    feet = {
        topic.rsplit("/", 1)[1]: m
        for topic, m in ref.items()
        if topic.startswith("/ground_truth/contacts/")
    }
    if not feet:
        return None
    t = times(messages, start_ns)
    out: dict = {}
    for foot, truth in feet.items():
        corners = [
            [c for c in m.contacts if c.name == foot or c.name.startswith(f"{foot}/")]
            for m in messages
        ]
        if not any(corners):
            out[foot] = {"error": "no contact of this name"}
            continue
        force = np.array(
            [
                np.sum([_xyz(c.wrench.force) for c in cs], axis=0) if cs else np.zeros(3)
                for cs in corners
            ]
        )
        out[foot] = _foot_figures(
            t,
            force,
            times(truth, start_ns),
            np.array([_xyz(m.wrench.force) for m in truth]),
            weight,
            settle,
        )
    scored = [v for v in out.values() if "relative_rmse" in v]
    for figure in ("relative_rmse", "relative_rmse_40ms", "contact_f1") if scored else ():
        out[f"mean_{figure}"] = float(np.mean([v[figure] for v in scored]))
    return out


def _foot_figures(
    t: np.ndarray,
    force: np.ndarray,
    t_true: np.ndarray,
    f_true: np.ndarray,
    weight: float,
    settle: float,
) -> dict:
    keep = (t > t_true[0] + settle) & (t < t_true[-1])
    _check_overlap(t[keep], "contact", settle)
    reference = _at(t[keep], t_true, _centred_mean(t_true, f_true, 2 * NODE, triangular=True))
    error = force[keep] - reference
    grid = t_true[(t_true > t[keep][0] + 0.05) & (t_true < t[keep][-1])]
    smooth_true = _at(grid, t_true, _centred_mean(t_true, f_true, SMOOTH))
    smooth = _at(grid, t_true, _centred_mean(t_true, _at(t_true, t, force), SMOOTH))
    said, is_so = force[keep][:, 2] > CONTACT_LOAD * weight, reference[:, 2] > CONTACT_LOAD * weight
    hits = np.sum(said & is_so)
    return {
        "force_rmse_N": _rms(error),
        "normal_rmse_N": _rms(error[:, 2:]),
        "relative_rmse": _rms(error) / max(_rms(reference), 1e-9),
        "relative_rmse_40ms": _rms(smooth - smooth_true) / max(_rms(smooth_true), 1e-9),
        "contact_f1": float(2 * hits / max(2 * hits + np.sum(said ^ is_so), 1)),
    }


def _centred_mean(
    t: np.ndarray, x: np.ndarray, span: float, triangular: bool = False
) -> np.ndarray:
    """Mean of uniformly sampled x over `span` seconds around each sample, with flat or triangular weights."""
    # half a sample rounds up, whatever the noise of the stamps
    half = max(1, int(0.5 * span / np.median(np.diff(t)) + 0.5 + 1e-6))
    weights = half - np.abs(np.arange(1 - half, half)) if triangular else np.ones(2 * half + 1)
    norm = np.convolve(np.ones(len(x)), weights, "same")
    return np.stack([np.convolve(column, weights, "same") / norm for column in x.T], axis=1)


# --- small arithmetic of the above
# --------------------------------------------------------------------------------


def _check_overlap(t: np.ndarray, what: str, settle: float) -> None:
    if len(t) < 10:
        raise DataError(
            f"only {len(t)} {what} samples overlap the ground truth after {settle:g} s: are these bags of the same run?",
            len(t),
        )


def _xyz(v) -> list[float]:
    return [v.x, v.y, v.z]


def _at(t_query: np.ndarray, t: np.ndarray, x: np.ndarray) -> np.ndarray:
    return np.stack([np.interp(t_query, t, column) for column in x.T], axis=1)


def _rms(x: np.ndarray) -> float:
    """Root of the mean squared norm of the rows."""
    return float(np.sqrt(np.mean(np.sum(x**2, axis=1))))
