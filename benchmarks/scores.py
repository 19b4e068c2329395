# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Figures of merit against the ground truth of a run, by the same code.

Of the sliding window, and of a full-information window.
"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
from recordings import ground_truth

from prime_estimation.config.parameters import Config
from prime_estimation.evaluation.contacts import contact_figures
from prime_estimation.evaluation.inertia import true_parameters
from prime_estimation.evaluation.motion import Motion, odometry_figures
from prime_estimation.evaluation.scores import evaluate
from prime_estimation.evaluation.truth import load_truth
from prime_estimation.mhe.window import Window
from prime_estimation.recordings import replay as replay_module
from prime_estimation.robot import GRAVITY, Robot

SETTLE = 0.3  # s at the start of a batch that its figures leave out


def online_figures(run: Path, bag: Path, config: Config, mocap: bool, folder: Path) -> dict:
    """The sliding window through `run` (the bag or an excerpt of it), as `prime replay` does it."""
    out = folder / "online.mcap"
    summary = replay_module.replay(run, Robot(config.robot), config, out, mocap=mocap)
    scores = evaluate(out, run, truth_json=bag.parent / f"{bag.name}.json")
    body = next(v for v in scores["inertia"].values() if "mass_error_final_kg" in v)
    return {
        "mass error [kg]": body["mass_error_final_kg"],
        "com error [mm]": 1e3 * body["com_error_final_m"],
        **_loads(scores["contacts"]),
        "velocity [mm/s]": 1e3 * scores["odometry"]["velocity_rmse_mps"],
        "drift [%]": scores["odometry"]["drift_percent"],
        "refused": summary.final.status.refused_steps,
        "restarts": summary.final.status.restarts,
    }


def _loads(contacts: dict) -> dict:
    """Force error, mean over the feet of absolute and relative RMSE, and F1 of contact."""
    absolute = [
        foot["force_rmse_N"]
        for foot in contacts.values()
        if isinstance(foot, dict) and "force_rmse_N" in foot
    ]
    return {
        "force [N]": sum(absolute) / len(absolute),
        "force 10 ms [%]": 100 * contacts["mean_relative_rmse"],
        "force 40 ms [%]": 100 * contacts["mean_relative_rmse_40ms"],
        "F1": contacts["mean_contact_f1"],
    }


# --- full information -----------------------------------------------------------------------------


def _header(stamp_ns: int):
    return SimpleNamespace(stamp=SimpleNamespace(sec=stamp_ns // 10**9, nanosec=stamp_ns % 10**9))


def _vector(v):
    return SimpleNamespace(x=float(v[0]), y=float(v[1]), z=float(v[2]))


def motion(window: Window) -> Motion:
    """Motion of a window: poses at its nodes, velocities as means of the steps on both sides."""
    nq, messages = window.problem.nq, []
    unknown = np.full(36, np.nan)
    for k, stamp in enumerate(window.stamps[:-1]):
        x, v = window.xs[k], 0.5 * (window.xs[k][nq : nq + 6] + window.xs[k + 1][nq : nq + 6])
        quat = SimpleNamespace(**dict(zip("xyzw", map(float, x[3:7]))))
        pose = SimpleNamespace(
            pose=SimpleNamespace(position=_vector(x), orientation=quat), covariance=unknown
        )
        twist = SimpleNamespace(
            twist=SimpleNamespace(linear=_vector(v), angular=_vector(v[3:])), covariance=unknown
        )
        messages.append(SimpleNamespace(header=_header(stamp), pose=pose, twist=twist))
    return Motion(messages, 0)


def contact_messages(window: Window) -> list:
    """Contact forces of all running nodes, in the shape of the message ContactWrenches."""
    names, out = [c.name for c in window.problem.robot.contacts], []
    unknown = np.full(9, np.nan)
    for node, data, stamp in zip(window.nodes, window.data, window.stamps):
        force = node.contact_forces(data)[0].reshape(-1, 3)
        contacts = [
            SimpleNamespace(
                name=n, wrench=SimpleNamespace(force=_vector(f)), force_covariance=unknown
            )
            for n, f in zip(names, force)
        ]
        out.append(SimpleNamespace(header=_header(stamp), contacts=contacts))
    return out


def batch_figures(window: Window, bag: Path, end: float) -> dict:
    """Figures of a full-information window."""
    truth, (reference, start) = load_truth(bag), ground_truth(bag, end)
    robot, x = window.problem.robot, window.xs[-1]
    pi = window.problem.inertias(x)[0][0]
    true = true_parameters(truth, robot.estimated_links[0], 0.0)
    moving = odometry_figures(motion(window), Motion(reference["/ground_truth/odom"], 0), SETTLE)
    loaded = contact_figures(
        contact_messages(window), reference, GRAVITY * truth["total_mass_true"], start, SETTLE
    )
    return {
        "mass error [kg]": float(pi[0] - true[0]),
        "com error [mm]": 1e3 * float(np.linalg.norm(pi[1:4] / pi[0] - true[1:4] / true[0])),
        **_loads(loaded),
        "velocity [mm/s]": 1e3 * moving["velocity_rmse_mps"],
        "drift [%]": moving["drift_percent"],
    }
