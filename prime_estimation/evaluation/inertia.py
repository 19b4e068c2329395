# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Figures of inertia: mass, centre of mass and rotational inertia of each body over time."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from ..errors import DataError
from ..io.inertia_messages import inertia_parameters
from .statistics import HALF_WIDTH_95, times, xyz

LATE = 5.0  # s after the start, from when the largest errors of mass and com are taken
FIRST = 1.0  # s after the start, from when intervals are judged
_MOMENTS = [4, 6, 9]  # of inertia about the link's origin, among its parameters
CLOSE = 0.10  # of the mass: an error below it counts as settled


def inertia_figures(messages: list, truth: dict, start_ns: int) -> dict | None:
    """Figures of each estimated body against the truth over time; None where no truth is known.

    Raises:
        DataError: the truth knows none of the bodies: it is that of another robot.
    """
    if "bodies_true" not in truth:
        return None
    t = times(messages, start_ns)
    out: dict = {}
    links = sorted({b.link for m in messages for b in m.bodies})
    if links and not set(links) & set(truth["bodies_true"]):
        known = ", ".join(list(truth["bodies_true"])[:3])
        raise DataError(
            f"the truth knows none of the bodies of the estimate, {', '.join(links)}; it begins "
            f"with {known}: is it that of another robot?",
            links,
        )
    for link in links:
        if link not in truth["bodies_true"]:
            out[link] = {"error": "no such body in the truth"}
            continue
        track = [(time, b) for time, m in zip(t, messages) for b in m.bodies if b.link == link]
        out[link] = _body_figures(track, link, truth)
    return out


def _body_figures(track: list, link: str, truth: dict) -> dict:
    t, bodies = np.array([time for time, _ in track]), [body for _, body in track]
    true = np.array([true_parameters(truth, link, time) for time in t])
    estimated = np.array([inertia_parameters(b.inertia) for b in bodies])
    mass_error = estimated[:, 0] - true[:, 0]
    com_error = estimated[:, 1:4] / estimated[:, :1] - true[:, 1:4] / true[:, :1]
    distance = np.linalg.norm(com_error, axis=1)
    mass_covered = np.abs(mass_error) <= HALF_WIDTH_95 * np.array([b.mass_stddev for b in bodies])
    com_stddev = np.array([xyz(b.com_stddev) for b in bodies])
    com_covered = np.mean(np.abs(com_error) <= HALF_WIDTH_95 * com_stddev, axis=1)
    deviation = np.sqrt([np.ravel(b.covariance)[::11][_MOMENTS] for b in bodies])
    moments_covered = np.abs((estimated - true)[:, _MOMENTS]) <= HALF_WIDTH_95 * deviation
    late = t >= LATE if (t >= LATE).any() else t == t[-1]
    judged = t > FIRST
    within = np.abs(mass_error) <= CLOSE * true[:, 0]
    figures = {
        "mass_true_kg": float(true[-1, 0]),
        "mass_final_kg": float(estimated[-1, 0]),
        "mass_final_stddev_kg": float(bodies[-1].mass_stddev),
        "mass_error_final_kg": float(mass_error[-1]),
        "mass_error_max_after_5s_kg": float(np.abs(mass_error[late]).max()),
        "mass_coverage95_after_1s": float(mass_covered[judged].mean()) if judged.any() else None,
        "com_error_final_m": float(distance[-1]),
        "com_error_max_after_5s_m": float(distance[late].max()),
        "com_coverage95_after_1s": float(com_covered[judged].mean()) if judged.any() else None,
        "rotational_inertia_relative_error_final": _relative_tensor_error(estimated[-1], true[-1]),
        "moments_coverage95_after_1s": (
            float(moments_covered[judged].mean()) if judged.any() else None
        ),
        "time_within_10_percent_s": float(t[within][0]) if within.any() else None,
        "observable_final": bool(bodies[-1].observable),
    }
    if changes := payload_changes(truth):
        settling = _settling(t, within, changes)
        figures["settling_after_payload_s"] = settling[0] if len(settling) == 1 else settling
    return figures


def _relative_tensor_error(estimated: np.ndarray, true: np.ndarray) -> float:
    """`|I - I*| / |I*|` (Frobenius) of the rotational inertias about their centres of mass."""
    ours, truth = (pin.Inertia.FromDynamicParameters(pi).inertia for pi in (estimated, true))
    return float(np.linalg.norm(ours - truth) / np.linalg.norm(truth))


def _settling(t: np.ndarray, within: np.ndarray, changes: list[float]) -> list[float | None]:
    """Seconds from each change until the mass is close and stays so up to the next; None: never."""
    out: list[float | None] = []
    for begin, end in zip(changes, [*changes[1:], np.inf]):
        after = (t >= begin) & (t < end)
        wrong = np.flatnonzero(~within[after])
        settled = wrong[-1] + 1 if len(wrong) else 0
        out.append(float(t[after][settled] - begin) if settled < after.sum() else None)
    return out


def payload_changes(truth: dict) -> list[float]:
    """Times at which a load is put on or taken off [s from the start]."""
    if events := truth.get("payload_events"):
        return sorted(float(event["t"]) for event in events)
    switch = truth.get("payload_time_s") or (truth.get("payload") or {}).get("t_on")
    return [] if switch is None else [float(switch)]


def true_parameters(truth: dict, link: str, time: float) -> np.ndarray:
    """(10,) Pinocchio's inertial parameters of a moving body at `time` [s from the start].

    Fixed links and payload are lumped into it.
    """
    past = [e for e in truth.get("payload_events") or [] if time >= e["t"]]
    if past:
        bodies = max(past, key=lambda event: event["t"])["bodies"]
    else:
        changes, before = payload_changes(truth), truth.get("bodies_before")
        bodies = before if before and changes and time < changes[0] else truth["bodies_true"]
    parameters = np.ravel(bodies.get(link, {}).get("pin_dynamic_parameters", ()))
    if len(parameters) != 10 or parameters.dtype.kind not in "fi":
        raise DataError(f"the truth has no pin_dynamic_parameters (10 numbers) of {link}", link)
    return parameters
