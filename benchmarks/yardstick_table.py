# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Table of the yardstick: one row per run, one column per figure of `prime evaluate`."""

from __future__ import annotations


def _get(scores: dict, *path):
    for key in path:
        scores = scores.get(key) if isinstance(scores, dict) else None
    return scores


def _link(scores: dict):
    inertia = _get(scores, "inertia") or {}
    return next(
        (v for v in inertia.values() if isinstance(v, dict) and "mass_error_final_kg" in v), {}
    )


def _sensor_margin(scores: dict):
    """Largest ratio of an estimate's error to its own sensor's (joint position, joint rate)."""
    estimate, sensor = _get(scores, "joints", "estimate"), _get(scores, "joints", "sensor")
    return max(estimate[k] / sensor[k] for k in estimate) if estimate and sensor else None


def _odometry(figure: str, factor: float = 1.0, who: str = "prime"):
    return lambda s: _scaled(factor, s[who], "odometry", figure)


def _contacts(figure: str, factor: float = 1.0):
    return lambda s: _scaled(factor, s["prime"], "contacts", figure)


def _external(figure: str, factor: float = 1.0):
    return lambda s: _scaled(factor, s["prime"], "external", figure)


def _inertia(figure: str, factor: float = 1.0):
    return lambda s: _scaled(factor, _link(s["prime"]), figure)


def _with_mocap(value):
    """Of an absolute position, which nobody knows without motion capture."""
    return lambda s: value(s) if s["mocap"] else None


def _worst_force(scores: dict):
    """Largest 40 ms error of any foot in any second [N]."""
    feet = (_get(scores["prime"], "contacts") or {}).values()
    worst = [f.get("worst_second_N_40ms") for f in feet if isinstance(f, dict)]
    return max((w for w in worst if w is not None), default=None)


def _settling(scores: dict):
    """Seconds until each change of load is known; never: a dash."""
    link = _link(scores["prime"])
    if "settling_after_payload_s" not in link:
        return None
    times = link["settling_after_payload_s"]
    times = times if isinstance(times, list) else [times]
    return ", ".join("-" if t is None else f"{t:.2f}" for t in times)


def _solve(index: int):
    return lambda s: (_get(s["prime"], "speed", "solve_ms_p50_p99_max") or [None] * 3)[index]


# heading, format, value of one run's scores
COLUMNS = [
    ("velocity [mm/s]", "{:.1f}", _odometry("velocity_rmse_mps", 1e3)),
    ("EKF", "{:.1f}", _odometry("velocity_rmse_mps", 1e3, "ekf")),
    ("EKF publ.", "{:.1f}", _odometry("velocity_rmse_mps", 1e3, "ekf_published")),
    ("worst second", "{:.1f}", _odometry("worst_second_velocity_mps", 1e3)),
    ("drift [%]", "{:.2f}", _odometry("drift_percent")),
    ("EKF", "{:.2f}", _odometry("drift_percent", 1.0, "ekf")),
    ("EKF publ.", "{:.2f}", _odometry("drift_percent", 1.0, "ekf_published")),
    ("over 4 s [mm]", "{:.1f}", _odometry("segment_error_m", 1e3)),
    ("EKF", "{:.1f}", _odometry("segment_error_m", 1e3, "ekf")),
    ("EKF publ.", "{:.1f}", _odometry("segment_error_m", 1e3, "ekf_published")),
    ("of path [%]", "{:.2f}", _odometry("segment_drift_percent")),
    ("height [mm]", "{:.1f}", _odometry("segment_z_m", 1e3)),
    ("position [mm]", "{:.1f}", _odometry("position_rmse_m", 1e3)),
    ("EKF", "{:.1f}", _odometry("position_rmse_m", 1e3, "ekf")),
    ("mass error [kg]", "{:+.3f}", _inertia("mass_error_final_kg")),
    ("max after 5 s", "{:.3f}", _inertia("mass_error_max_after_5s_kg")),
    ("covered", "{:.2f}", _inertia("mass_coverage95_after_1s")),
    ("com [mm]", "{:.1f}", _inertia("com_error_final_m", 1e3)),
    ("max after 5 s", "{:.1f}", _inertia("com_error_max_after_5s_m", 1e3)),
    ("covered", "{:.2f}", _inertia("com_coverage95_after_1s")),
    ("rotational", "{:.2f}", _inertia("rotational_inertia_relative_error_final")),
    ("settling [s]", "{}", _settling),
    ("force 40 ms [%]", "{:.1f}", _contacts("mean_relative_rmse_40ms", 100)),
    ("worst second [N]", "{:.1f}", _worst_force),
    ("10 ms [%]", "{:.1f}", _contacts("mean_relative_rmse", 100)),
    ("covered", "{:.2f}", _contacts("mean_coverage95")),
    ("F1", "{:.3f}", _contacts("mean_contact_f1")),
    ("vs sensor", "{:.2f}", lambda s: _sensor_margin(s["prime"])),
    ("NEES velocity", "{:.1f}", _odometry("nees_velocity")),
    ("position", "{:.1f}", _with_mocap(_odometry("nees_position"))),
    ("orientation", "{:.1f}", _with_mocap(_odometry("nees_orientation"))),
    ("covered velocity", "{:.2f}", _odometry("coverage95_velocity")),
    ("position", "{:.2f}", _with_mocap(_odometry("coverage95_position"))),
    ("tilt", "{:.2f}", _odometry("coverage95_rollpitch")),
    ("push [%]", "{:.1f}", _external("relative_rmse_pushed", 100)),
    ("no push [N]", "{:.1f}", _external("force_rmse_free_N")),
    ("solve p50 [ms]", "{:.1f}", _solve(0)),
    ("p99", "{:.1f}", _solve(1)),
]


def _scaled(factor: float, scores: dict, *path):
    value = _get(scores, *path)
    return None if value is None else factor * value


def markdown(results: list[dict]) -> str:
    """One row per run. A dash.

    Not there, or without meaning (absolute position without motion capture).
    """
    lines = [
        "| run | mocap | " + " | ".join(c[0] for c in COLUMNS) + " |",
        "|---|---|" + "---:|" * len(COLUMNS),
    ]
    for scores in results:
        values = [(form, value(scores)) for _, form, value in COLUMNS]
        cells = ["-" if v is None else form.format(v) for form, v in values]
        lines.append(
            f"| {scores['run']} | {'yes' if scores['mocap'] else 'no'} | "
            + " | ".join(cells)
            + " |"
        )
    errors = [
        f"{s['run']}, mocap {s['mocap']}, {k}: {v['error']}"
        for s in results
        for k, v in s.items()
        if _get(v, "error")
    ]
    return "\n".join(lines + [""] * bool(errors) + errors)
