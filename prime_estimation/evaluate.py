# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Score an output bag against the ground truth of its run: motion, joints, contact forces, inertia, speed.

All figures in SI units unless their name says otherwise. Ground truth topics of a run: `/ground_truth/odom` (twist in the
base frame), `/ground_truth/joint_states`, `/ground_truth/contacts/<foot>` (force on the foot, world axes, mean over its own
sample interval centred at the stamp); true inertias in the JSON beside the run.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation, Slerp

from .errors import DataError
from .io.bag import BagReader
from .io.messages import stamp_ns
from .io.outbound import inertia_parameters

NODE = 0.010  # s, span of the mean joint rate, and half width of the triangular mean of a force
SMOOTH = 0.040  # s, span of the force average that does not see the timing of an impact inside a node
CONTACT_LOAD = 0.05  # of the body weight: a foot with more normal force is in contact
INERTIA_LATE = 5.0  # s after the start, from when the largest errors of mass and com are taken


def evaluate(estimate: str | Path, reference: str | Path, settle: float = 2.0, truth_json: str | Path | None = None) -> dict:
    """Figures of an estimator's output bag against the recorded run with ground truth.

    Args:
        estimate: bag with `/prime/...` topics; what is missing in it is listed under `missing`.
        reference: the run with `/ground_truth/...` topics and the sensors' `/joint_states`.
        settle: seconds at the start that motion and force figures leave out.
        truth_json: true inertias; default: the JSON beside the run.

    Returns:
        Sections odometry, joints, contacts, inertia, speed (those for which both sides exist).

    Raises:
        DataError: a bag cannot be read, or they do not overlap.
    """
    truth = load_truth(reference, truth_json)
    ref = _load(reference, lambda t: t.startswith("/ground_truth/") or t == "/joint_states")
    est = _load(estimate, lambda t: t in {f"/prime/{n}" for n in ("odometry", "joint_states", "contact_wrenches", "inertial_parameters", "status")})
    if not est:
        raise DataError(f"{estimate} has no /prime/... topics: not the output of this estimator?", estimate)
    if "/ground_truth/odom" not in ref:
        raise DataError(f"{reference} has no /ground_truth/odom: nothing to compare with", reference)
    start = stamp_ns(ref["/ground_truth/odom"][0].header)
    result: dict = {"run": Path(reference).name, "missing": []}
    sections = {
        "odometry": ("/prime/odometry", lambda m: odometry_figures(Motion(m, start), Motion(ref["/ground_truth/odom"], start), settle)),
        "joints": ("/prime/joint_states", lambda m: joint_figures(m, ref, start, settle)),
        "contacts": ("/prime/contact_wrenches", lambda m: contact_figures(m, ref, 9.81 * float(truth.get("total_mass_true", 15.0)), start, settle)),
        "inertia": ("/prime/inertial_parameters", lambda m: inertia_figures(m, truth, start)),
        "speed": ("/prime/status", speed_figures),
    }
    for name, (topic, figures) in sections.items():
        if topic not in est:
            result["missing"].append(topic)
        elif (values := figures(est[topic])) is not None:
            result[name] = values
    return result


def load_truth(reference: str | Path, truth_json: str | Path | None = None) -> dict:
    """The JSON of a run: beside its folder or file, with the same stem; empty when there is none."""
    run = Path(reference)
    candidates = [Path(truth_json)] if truth_json else [run.with_suffix(".json"), run.parent / f"{run.name}.json", run.parent.parent / f"{run.parent.name}.json"]
    for path in candidates:
        if path.is_file():
            try:
                return json.loads(path.read_text())
            except ValueError as error:
                raise DataError(f"{path} is not valid JSON: {error}", path) from error
    if truth_json:
        raise DataError(f"no such file: {truth_json}", truth_json)
    return {}


def _load(path: str | Path, wanted) -> dict[str, list]:
    out: dict[str, list] = {}
    with BagReader(path) as bag:
        for topic, _, message in bag.messages([t for t in bag.topics if wanted(t)]):
            out.setdefault(topic, []).append(message)
    return out


# --- motion -------------------------------------------------------------------------------------------------------


class Motion:
    """Arrays of a list of nav_msgs/Odometry, times [s] from `start_ns`; messages whose stamp does not advance are left out."""

    def __init__(self, messages: list, start_ns: int):
        times = _times(messages, start_ns)
        newest = np.maximum.accumulate(np.concatenate([[-np.inf], times[:-1]]))
        messages = [m for m, fresh in zip(messages, times > newest) if fresh]
        self.t = times[times > newest]
        self.position = np.array([_xyz(m.pose.pose.position) for m in messages])
        self.rotation = Rotation.from_quat([[*_xyz(m.pose.pose.orientation), m.pose.pose.orientation.w] for m in messages])
        self.velocity = np.array([_xyz(m.twist.twist.linear) for m in messages])
        self.rate = np.array([_xyz(m.twist.twist.angular) for m in messages])
        self.position_covariance = np.array([m.pose.covariance for m in messages]).reshape(-1, 6, 6)[:, :3, :3]
        self.velocity_covariance = np.array([m.twist.covariance for m in messages]).reshape(-1, 6, 6)[:, :3, :3]


def odometry_figures(est: Motion, ref: Motion, settle: float) -> dict:
    """Position after removing the initial horizontal offset and yaw; velocity in the base frame; consistency (NEES, 3 is right)."""
    keep = (est.t >= max(est.t[0], ref.t[0]) + settle) & (est.t <= min(est.t[-1], ref.t[-1]))
    t = est.t[keep]
    if len(t) < 10:
        raise DataError(f"only {len(t)} odometry samples overlap the ground truth after {settle} s: are these bags of the same run?", len(t))
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
        "velocity_rmse_mps": _rms(velocity_error),
        "angular_velocity_rmse_radps": _rms(est.rate[keep] - _at(t, ref.t, ref.rate)),
        "rollpitch_rmse_rad": _rms(yaw_pitch_roll[:, 1:]),
        "yaw_rmse_rad": _rms(yaw_pitch_roll[:, :1]),
        "orientation_rmse_rad": _rms((true_rotation.inv() * align * rotation).as_rotvec()),
        "nees_position": _nees(position - true_position, est.position_covariance[keep]),
        "nees_velocity": _nees(velocity_error, est.velocity_covariance[keep]),
    }


def _nees(error: np.ndarray, covariance: np.ndarray) -> float | None:
    """Mean squared normalized error over the samples with a positive definite covariance; None without any."""
    good = np.isfinite(covariance).all(axis=(1, 2))
    good[good] = np.linalg.eigvalsh(covariance[good])[:, 0] > 0
    if not good.any():
        return None
    weighted = np.linalg.solve(covariance[good], error[good][:, :, None])[:, :, 0]
    return float(np.mean(np.sum(error[good] * weighted, axis=1)))


# --- joints -------------------------------------------------------------------------------------------------------


def joint_figures(est: list, ref: dict, start_ns: int, settle: float) -> dict | None:
    """Joint position, and mean rate over the node that ends at the stamp, beside those of the sensor itself."""
    truth, sensor = ref.get("/ground_truth/joint_states"), ref.get("/joint_states")
    if not truth or not sensor:
        return None
    names = [n for n in truth[0].name if n in est[0].name]
    t_true, q_true, _ = _joint_arrays(truth, names, start_ns)
    out: dict = {"joints": len(names)}
    for label, messages in (("estimate", est), ("sensor", sensor)):
        t, q, rate = _joint_arrays(messages, names, start_ns)
        if label == "sensor":
            rate = _trailing_mean(rate, max(1, round(NODE / np.median(np.diff(t)))))
        keep = (t > t_true[0] + settle) & (t < t_true[-1])
        t = t[keep]
        true_now = _at(t, t_true, q_true)
        true_rate = (true_now - _at(t - NODE, t_true, q_true)) / NODE
        out[label] = {
            "position_rmse_rad": float(np.sqrt(np.mean((q[keep] - true_now) ** 2))),
            "velocity_rmse_radps": float(np.sqrt(np.mean((rate[keep] - true_rate) ** 2))),
        }
    return out


def _joint_arrays(messages: list, names: list[str], start_ns: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    order = [list(messages[0].name).index(n) for n in names]
    position, velocity = (np.array([np.asarray(getattr(m, f))[order] for m in messages]) for f in ("position", "velocity"))
    return _times(messages, start_ns), position, velocity


def _trailing_mean(x: np.ndarray, width: int) -> np.ndarray:
    total = np.cumsum(np.vstack([np.zeros((1, x.shape[1])), x]), axis=0)
    return np.vstack([x[: width - 1], (total[width:] - total[:-width]) / width])


# --- contacts -----------------------------------------------------------------------------------------------------


def contact_figures(messages: list, ref: dict, weight: float, start_ns: int, settle: float) -> dict | None:
    """Force of each foot (sum of its corners) against the triangular mean of the truth over +-10 ms, and contact as F1."""
    feet = {topic.rsplit("/", 1)[1]: m for topic, m in ref.items() if topic.startswith("/ground_truth/contacts/")}
    if not feet:
        return None
    t = _times(messages, start_ns)
    out: dict = {}
    for foot, truth in feet.items():
        corners = [[c for c in m.contacts if c.name == foot or c.name.startswith(f"{foot}/")] for m in messages]
        if not any(corners):
            out[foot] = {"error": "no contact of this name"}
            continue
        force = np.array([np.sum([_xyz(c.wrench.force) for c in cs], axis=0) if cs else np.zeros(3) for cs in corners])
        out[foot] = _foot_figures(t, force, _times(truth, start_ns), np.array([_xyz(m.wrench.force) for m in truth]), weight, settle)
    scored = [v for v in out.values() if "relative_rmse" in v]
    for figure in ("relative_rmse", "relative_rmse_40ms", "contact_f1") if scored else ():
        out[f"mean_{figure}"] = float(np.mean([v[figure] for v in scored]))
    return out


def _foot_figures(t: np.ndarray, force: np.ndarray, t_true: np.ndarray, f_true: np.ndarray, weight: float, settle: float) -> dict:
    keep = (t > t_true[0] + settle) & (t < t_true[-1])
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


def _centred_mean(t: np.ndarray, x: np.ndarray, span: float, triangular: bool = False) -> np.ndarray:
    """Mean of uniformly sampled x over `span` seconds around each sample, with flat or triangular weights."""
    half = max(1, int(0.5 * span / np.median(np.diff(t)) + 0.5 + 1e-6))  # half a sample rounds up, whatever the noise of the stamps
    weights = half - np.abs(np.arange(1 - half, half)) if triangular else np.ones(2 * half + 1)
    norm = np.convolve(np.ones(len(x)), weights, "same")
    return np.stack([np.convolve(column, weights, "same") / norm for column in x.T], axis=1)


# --- inertia and speed --------------------------------------------------------------------------------------------


def inertia_figures(messages: list, truth: dict, start_ns: int) -> dict | None:
    """Mass and com of each body against the truth over time, and how often the 95 % interval of the mass covers it."""
    if "bodies_true" not in truth:
        return None
    t = _times(messages, start_ns)
    switch = truth.get("payload_time_s") or (truth.get("payload") or {}).get("t_on")
    out: dict = {}
    for link in sorted({b.link for m in messages for b in m.bodies}):
        if link not in truth["bodies_true"]:
            out[link] = {"error": "no such body in the truth"}
            continue
        track = [(time, b) for time, m in zip(t, messages) for b in m.bodies if b.link == link]
        out[link] = _body_figures(track, link, truth, switch)
    return out


def _body_figures(track: list, link: str, truth: dict, switch: float | None) -> dict:
    t = np.array([time for time, _ in track])
    true = np.array([true_parameters(truth, link, time) for time in t])
    estimated = np.array([inertia_parameters(b.inertia) for _, b in track])
    stddev = np.array([b.mass_stddev for _, b in track])
    mass_error = estimated[:, 0] - true[:, 0]
    com_error = np.linalg.norm(estimated[:, 1:4] / estimated[:, :1] - true[:, 1:4] / true[:, :1], axis=1)
    late = t >= INERTIA_LATE if (t >= INERTIA_LATE).any() else t == t[-1]
    within = np.abs(mass_error) <= 0.10 * true[:, 0]
    covered = np.abs(mass_error) <= 1.96 * stddev
    figures = {
        "mass_true_kg": float(true[-1, 0]),
        "mass_final_kg": float(estimated[-1, 0]),
        "mass_final_stddev_kg": float(stddev[-1]),
        "mass_error_final_kg": float(mass_error[-1]),
        "mass_error_max_after_5s_kg": float(np.abs(mass_error[late]).max()),
        "mass_coverage95_after_1s": float(covered[t > 1.0].mean()) if (t > 1.0).any() else None,
        "com_error_final_m": float(com_error[-1]),
        "com_error_max_after_5s_m": float(com_error[late].max()),
        "time_within_10_percent_s": float(t[within][0]) if within.any() else None,
        "observable_final": bool(track[-1][1].observable),
    }
    if switch is not None:
        wrong = np.flatnonzero(~within & (t >= switch))
        settled = wrong[-1] + 1 if len(wrong) else np.searchsorted(t, switch)
        figures["settling_after_payload_s"] = float(t[settled] - switch) if settled < len(t) else None
    return figures


def true_parameters(truth: dict, link: str, time: float) -> np.ndarray:
    """(10,) Pinocchio's inertial parameters of a moving body at `time` seconds after the start, fixed links and payload lumped."""
    payload = truth.get("payload") or {}
    switch = truth.get("payload_time_s") or payload.get("t_on")
    before = truth.get("bodies_before") if switch is not None and time < switch else None
    return np.array((before or truth["bodies_true"])[link]["pin_dynamic_parameters"])


def speed_figures(messages: list) -> dict:
    """Percentiles of solve time and latency, counters at the end."""
    return {
        "solves": len(messages),
        "solve_ms_p50_p99_max": np.percentile([m.solve_time_ms for m in messages], [50, 99, 100]).tolist(),
        "latency_ms_p50_p99_max": np.percentile([m.latency_ms for m in messages], [50, 99, 100]).tolist(),
        "overruns": int(messages[-1].overruns),
        "dropped_samples": int(messages[-1].dropped_samples),
    }


# --- small arithmetic of the above --------------------------------------------------------------------------------


def _times(messages: list, start_ns: int) -> np.ndarray:
    return np.array([stamp_ns(m.header) - start_ns for m in messages]) * 1e-9


def _xyz(v) -> list[float]:
    return [v.x, v.y, v.z]


def _at(t_query: np.ndarray, t: np.ndarray, x: np.ndarray) -> np.ndarray:
    return np.stack([np.interp(t_query, t, column) for column in x.T], axis=1)


def _rms(x: np.ndarray) -> float:
    """Root of the mean squared norm of the rows."""
    return float(np.sqrt(np.mean(np.sum(x**2, axis=1))))
