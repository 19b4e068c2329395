# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Launch files of the repository, and the arguments that each declares."""

from pathlib import Path

LAUNCH = Path(__file__).resolve().parents[2] / "launch"
FILES = sorted(LAUNCH.glob("*.launch.py"))
EXPECTED = {
    "estimator": {
        "robot",
        "config",
        "mocap",
        "input",
        "bag",
        "bag_topics",
        "namespace",
        "frame_prefix",
        "use_sim_time",
        "autostart",
        "respawn",
        "rviz",
        "rqt",
    },
    "replay": {
        *("bag", "bag_topics", "robot", "config", "mocap", "namespace", "frame_prefix"),
        *("rate", "loop", "rviz", "rqt"),
    },
    "mpc": {"robot", "config", "namespace", "gait", "rate", "use_sim_time"},
    "robot": {
        *("robot", "config", "namespace", "mocap", "mpc", "gait", "commands"),
        *("browser", "rviz", "rqt"),
    },
    "simulate": {
        *("robot", "config", "gait", "payload", "payload_at", "speed"),
        *("mpc", "browser", "rviz", "rqt"),
    },
    "view": {
        "robot",
        "config",
        "namespace",
        "frame_prefix",
        "use_sim_time",
        "rviz",
        "rqt",
        "mocap_frame",
        "mocap_origin",
    },
}


def stem(path: Path) -> str:
    return path.name.split(".")[0]
