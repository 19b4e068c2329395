# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The sensor of ros2_control, compiled against stand-ins: what it offers while nothing comes."""

import math
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PACKAGE = HERE.parents[1] / "prime_estimation_ros2_control"
HEADERS = [
    "hardware_interface/sensor_interface.hpp",
    "hardware_interface/version.h",
    "nav_msgs/msg/odometry.hpp",
    "pluginlib/class_list_macros.hpp",
    "prime_estimation_msgs/msg/contact_wrenches.hpp",
    "rclcpp/rclcpp.hpp",
]
NAN = math.nan
FORCES = (40.0, 0.9, 50.0, 1.0)
NO_FORCES, NOTHING = (NAN,) * 4, (NAN,) * 2


@pytest.fixture(scope="module")
def component(tmp_path_factory):
    """What a controller reads after each of some events; None where the component refuses."""
    compiler = shutil.which("c++") or shutil.which("g++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    folder = tmp_path_factory.mktemp("ros2_control")
    for header in HEADERS:
        (folder / header).parent.mkdir(parents=True, exist_ok=True)
        (folder / header).write_text('#include "stand_in.hpp"\n')
    sources = [HERE / "silence.cpp", PACKAGE / "src" / "state_estimator.cpp"]
    places = [f"-I{place}" for place in (HERE, folder, PACKAGE / "include")]
    options = ["-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Wno-missing-field-initializers"]
    program = folder / "silence"
    subprocess.run([compiler, *options, *places, *sources, "-pthread", "-o", program], check=True)

    def read(*events: str, contact_timeout: str = "0.35") -> list[tuple[float, ...]] | None:
        told = [program, contact_timeout, *events]
        done = subprocess.run(told, capture_output=True, text=True, timeout=60.0)
        rows = [tuple(map(float, line.split())) for line in done.stdout.splitlines()]
        return None if done.returncode else rows

    return read


def same(row, *parts) -> bool:
    return row == pytest.approx([x for part in parts for x in part], nan_ok=True)


def test_forces_are_unknown_after_silence(component):
    rows = component("read", "odometry", "wrenches", "pause", "wrenches", "odometry")
    assert same(rows[0], (0.0,), NOTHING, NO_FORCES)
    assert same(rows[1], (1.0, 1.0, 2.0), NO_FORCES)
    assert same(rows[2], (1.0, 1.0, 2.0), FORCES)
    assert same(rows[3], (0.0, 1.0, 2.0), NO_FORCES)  # the last pose, which is not valid
    assert same(rows[4], (0.0, 1.0, 2.0), FORCES)
    assert same(rows[5], (1.0, 1.0, 2.0), FORCES)


def test_what_makes_no_sense_is_silence(component):
    rows = component("odometry_nan", "odometry", "odometry_nan", "wrenches", "wrenches_nan")
    assert same(rows[0], (0.0,), NOTHING, NO_FORCES)
    assert same(rows[2], (1.0, 1.0, 2.0), NO_FORCES)
    assert same(rows[4], (1.0, 1.0, 2.0), FORCES[:2], NOTHING)


def test_a_contact_that_is_not_told_is_not_known(component):
    rows = component("wrenches", "wrenches_of_one")
    assert same(rows[0], (0.0,), NOTHING, FORCES)
    assert same(rows[1], (0.0,), NOTHING, FORCES[:2], NOTHING)


def test_while_inactive_nothing_is_known(component):
    rows = component("odometry", "wrenches", "deactivate", "activate")
    assert all(same(row, (0.0,), NOTHING, NO_FORCES) for row in rows[2:])


def test_a_timeout_that_is_none_is_refused(component):
    assert component("read", contact_timeout="50 ms") is None
    assert component("read", contact_timeout="0.05") is not None
