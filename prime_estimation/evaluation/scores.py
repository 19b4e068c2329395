# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Score an output bag against the ground truth of its run.

Motion, joints, contact forces, inertia, external wrench, speed.

All figures in SI units unless their name says otherwise. Ground truth topics of a run:
`/ground_truth/odom` (twist in the base frame), `/ground_truth/joint_states`,
`/ground_truth/contacts/<foot>` (force on the foot, world axes, mean over its own sample interval
centred at the stamp), `/ground_truth/external_wrench` (likewise, on the base, moment about its
origin); true inertias in the JSON beside the run.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..errors import DataError
from ..io.bag import BagReader, named
from ..io.messages import stamp_ns
from ..robot import GRAVITY
from .contacts import contact_figures
from .external import external_figures
from .inertia import inertia_figures
from .joints import joint_figures
from .motion import Motion, heading_of_world, odometry_figures
from .truth import load_truth

OUTPUTS = (
    "odometry",
    "joint_states",
    "contact_wrenches",
    "inertial_parameters",
    "status",
    "external_wrench",
)
ENDS_TOGETHER_NS = 500_000_000  # an estimate ends within some nodes of its recording


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
        Sections odometry, joints, contacts, inertia, external, speed: those for which both
        sides exist; `missing` topics, and `notices` of what could not be read or is not covered.

    Raises:
        DataError: a bag cannot be read, or they do not overlap, or are of two recordings.
    """
    truth = load_truth(reference, truth_json)
    notices: list[str] = []
    ref = _load(
        reference, lambda t: t.startswith("/ground_truth/") or t == "/joint_states", notices
    )
    topics = {f"/prime/{name}" for name in OUTPUTS}
    est = _load(estimate, lambda t: t in topics, notices)
    if not est:
        raise DataError(
            f"{estimate} has no /prime/... topics: not the output of this estimator?", estimate
        )
    if "/ground_truth/odom" not in ref:
        raise DataError(
            f"{reference} has no /ground_truth/odom: nothing to compare with", reference
        )
    notices += _uncovered(est, ref)
    result: dict = {"run": named(reference).name, "missing": [], "notices": notices}
    sections = _sections(est, ref, truth, settle)
    for name, (topic, figures) in sections.items():
        if topic not in est:
            result["missing"].append(topic)
        elif (values := figures(est[topic])) is not None:
            result[name] = values
    return result


def _uncovered(est: dict[str, list], ref: dict[str, list]) -> list[str]:
    """What is said of an estimate that breaks off before its recording does."""
    if "/prime/odometry" not in est:
        return []
    begin, end = (stamp_ns(ref["/ground_truth/odom"][i].header) for i in (0, -1))
    last = stamp_ns(est["/prime/odometry"][-1].header)
    if not 0 < last - begin < end - begin - ENDS_TOGETHER_NS:
        return []
    seconds = (1e-9 * (last - begin), 1e-9 * (end - begin))
    return ["the estimate breaks off at {:.2f} s of {:.2f} s".format(*seconds)]


def _knows_the_world(est: dict[str, list]) -> bool:
    """Whether the world of the estimate is that of the truth: by motion capture.

    Of an estimate that does not say what it was made from, it is.
    """
    said = est.get("/prime/status")
    return not said or "mocap" in map(_sensor_name, said[-1].sensors)


def _sensor_name(sensor) -> str:
    """Of a SensorHealth; of what 0.1.0 wrote, `name` or `name: what is wrong`."""
    return sensor.partition(":")[0] if isinstance(sensor, str) else sensor.name


def _sections(
    est: dict[str, list], ref: dict[str, list], truth: dict, settle: float
) -> dict[str, tuple]:
    """(topic of the estimate, function from its messages to figures) by section."""
    start = stamp_ns(ref["/ground_truth/odom"][0].header)
    motion = Motion(ref["/ground_truth/odom"], start)
    weight = GRAVITY * float(truth.get("total_mass_true", 15.0))
    own_world, told = not _knows_the_world(est), est.get("/prime/odometry")
    moved = Motion(told, start) if told else None

    def contacts(messages: list) -> dict | None:
        heading = heading_of_world(moved, motion) if own_world and moved else None
        return contact_figures(messages, ref, weight, start, settle, heading)

    pushes = ref.get("/ground_truth/external_wrench")
    sections = {
        "odometry": (
            "/prime/odometry",
            lambda _: odometry_figures(moved, motion, settle, own_world),
        ),
        "joints": ("/prime/joint_states", lambda m: joint_figures(m, ref, start, settle)),
        "contacts": ("/prime/contact_wrenches", contacts),
        "inertia": ("/prime/inertial_parameters", lambda m: inertia_figures(m, truth, start)),
        "speed": ("/prime/status", speed_figures),
    }
    if pushes:
        sections["external"] = (
            "/prime/external_wrench",
            lambda m: external_figures(m, pushes, motion, start, settle),
        )
    return sections


def _load(path: str | Path, wanted, notices: list[str]) -> dict[str, list]:
    """Messages by topic; `notices` gets what could not be read."""
    out: dict[str, list] = {}
    with BagReader(path) as bag:
        for topic, _, message in bag.messages([t for t in bag.topics if wanted(t)]):
            out.setdefault(topic, []).append(message)
        if bag.notice:
            notices.append(bag.notice)
    return out


def speed_figures(messages: list) -> dict:
    """Percentiles of solve time and latency of the estimates, counters at the end."""
    estimates = [m for m in messages if m.window_nodes > 0]  # else nothing was solved

    def percentiles(values: list[float]) -> list[float]:
        return np.percentile(values or [np.nan], [50, 99, 100]).tolist()

    return {
        "solves": len(estimates),
        "solve_ms_p50_p99_max": percentiles([m.solve_time_ms for m in estimates]),
        "latency_ms_p50_p99_max": percentiles([m.latency_ms for m in estimates]),
        "overruns": int(messages[-1].overruns),
        "dropped_samples": int(messages[-1].dropped_samples),
    }
