# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Score an output bag against the ground truth of its run.

Motion, joints, contact forces, inertia, speed.

All figures in SI units unless their name says otherwise. Ground truth topics of a run:
`/ground_truth/odom` (twist in the base frame), `/ground_truth/joint_states`,
`/ground_truth/contacts/<foot>` (force on the foot, world axes, mean over its own sample interval
centred at the stamp); true inertias in the JSON beside the run.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from ..errors import DataError
from ..io.bag import BagReader
from ..io.messages import stamp_ns
from ..io.to_messages import inertia_parameters
from ..robot import GRAVITY
from .metrics import Motion, contact_figures, joint_figures, odometry_figures, times

INERTIA_LATE = 5.0  # s after the start, from when the largest errors of mass and com are taken


def evaluate(
    estimate: str | Path,
    reference: str | Path,
    settle: float = 2.0,
    truth_json: str | Path | None = None,
) -> dict:
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
    est = _load(
        estimate,
        lambda t: (
            t
            in {
                f"/prime/{n}"
                for n in (
                    "odometry",
                    "joint_states",
                    "contact_wrenches",
                    "inertial_parameters",
                    "status",
                )
            }
        ),
    )
    if not est:
        raise DataError(
            f"{estimate} has no /prime/... topics: not the output of this estimator?", estimate
        )
    if "/ground_truth/odom" not in ref:
        raise DataError(
            f"{reference} has no /ground_truth/odom: nothing to compare with", reference
        )
    start = stamp_ns(ref["/ground_truth/odom"][0].header)
    result: dict = {"run": Path(reference).name, "missing": []}
    sections = {
        "odometry": (
            "/prime/odometry",
            lambda m: odometry_figures(
                Motion(m, start), Motion(ref["/ground_truth/odom"], start), settle
            ),
        ),
        "joints": ("/prime/joint_states", lambda m: joint_figures(m, ref, start, settle)),
        "contacts": (
            "/prime/contact_wrenches",
            lambda m: contact_figures(
                m, ref, GRAVITY * float(truth.get("total_mass_true", 15.0)), start, settle
            ),
        ),
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
    """The JSON of a run: beside its folder or file, with the same stem.

    Empty when there is none.
    """
    run = Path(reference)
    # the name of a folder may have a dot
    beside = run.parent / f"{run.name}.json" if run.is_dir() else run.with_suffix(".json")
    candidates = (
        [Path(truth_json)]
        if truth_json
        else [beside, run.parent.parent / f"{run.parent.name}.json"]
    )
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


# --- inertia and speed
# --------------------------------------------------------------------------------------------


def inertia_figures(messages: list, truth: dict, start_ns: int) -> dict | None:
    """Mass and com of each body against the truth over time, and how often the 95 % interval of the mass covers it."""
    if "bodies_true" not in truth:
        return None
    t = times(messages, start_ns)
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
    com_error = np.linalg.norm(
        estimated[:, 1:4] / estimated[:, :1] - true[:, 1:4] / true[:, :1], axis=1
    )
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
        figures["settling_after_payload_s"] = (
            float(t[settled] - switch) if settled < len(t) else None
        )
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
        "solve_ms_p50_p99_max": np.percentile(
            [m.solve_time_ms for m in messages], [50, 99, 100]
        ).tolist(),
        "latency_ms_p50_p99_max": np.percentile(
            [m.latency_ms for m in messages], [50, 99, 100]
        ).tolist(),
        "overruns": int(messages[-1].overruns),
        "dropped_samples": int(messages[-1].dropped_samples),
    }
