# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""A small log of two joints and an IMU, and its mapping."""

import numpy as np
import pytest

RATE = 200.0


@pytest.fixture
def table() -> dict[str, np.ndarray]:
    """Columns of two moving joints and an IMU, in SI."""
    t = 3.0 + np.arange(400) / RATE
    columns = {"t": t}
    for i in (0, 1):
        columns[f"q{i}"] = 0.4 * np.sin(2.0 * t + i)
        columns[f"dq{i}"] = 0.8 * np.cos(2.0 * t + i)
        columns[f"tau{i}"] = 3.0 * np.cos(5.0 * t + i)
    for i, axis in enumerate("xyz"):
        columns[f"w{axis}"] = 0.1 * (i + 1) * np.sin(3.0 * t)
        columns[f"a{axis}"] = 9.81 * (axis == "z") + 0.2 * np.cos(4.0 * t + i)
    return columns


@pytest.fixture
def mapping() -> dict:
    """Its mapping, as YAML has it."""
    return {
        "files": {"log": {"time": {"column": "t"}}},
        "joints": {
            "names": ["left", "right"],
            "position": "q{}",
            "velocity": "dq{}",
            "effort": "tau{}",
        },
        "imu": {"gyro": ["wx", "wy", "wz"], "accelerometer": ["ax", "ay", "az"]},
    }


@pytest.fixture
def write_csv(tmp_path):
    """Function that writes columns as a CSV file and returns its path."""

    def write(columns: dict, name: str = "log.csv"):
        path = tmp_path / name
        rows = np.stack(list(columns.values()), axis=1)
        np.savetxt(path, rows, delimiter=",", header=",".join(columns), comments="", fmt="%.9f")
        return path

    return write
