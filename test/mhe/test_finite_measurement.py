# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Readings that are no numbers are refused and counted, and the estimate goes on."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from helpers.runs import measurements
from helpers.spoiling import trot

from prime_estimation.config.parameters import Config
from prime_estimation.estimator import Estimator
from prime_estimation.mhe.finite_measurement import finite_measurement
from prime_estimation.robot import Robot
from prime_estimation.types import Measurement, PoseSample


@pytest.fixture(scope="module")
def walk(tmp_path_factory):
    config = Config.load("go2")
    robot = Robot(config.robot)
    return robot, config, measurements(trot(tmp_path_factory.mktemp("trot"))[0], robot, config, 1.6)


@pytest.mark.parametrize(
    ("field", "stream", "value"),
    [
        ("position", "joint", np.nan),
        ("velocity", "joint", np.inf),
        ("torque", "joint", np.nan),
        ("gyro", "imu", np.nan),
        ("accelerometer", "imu", -np.inf),
    ],
)
def test_no_restart_because_of_them(field, stream, value, walk):
    robot, config, ms = walk
    estimator, estimates = Estimator(robot, config), []
    for node, m in enumerate(ms):
        if node in (100, 101):
            spoilt = getattr(m, field).copy()
            spoilt[-1] = value
            m = replace(m, **{field: spoilt})
        estimates.append(estimator.update(m))
    assert estimator.monitors.last_restart == (0, "")
    assert estimator.problem.measurements.refused == {f"{stream}_not_finite": 2}
    assert all(np.isfinite(e.position_world).all() for e in estimates if e is not None)
    assert estimates[-1] is not None


@pytest.mark.parametrize(
    ("spoilt", "stream"),
    [
        ({"position_change": np.full(12, np.nan)}, "joint"),
        ({"velocity_change": np.nan}, "joint"),
        ({"torque_change": np.full(12, np.inf)}, "joint"),
        ({"gyro_change": np.full(3, np.nan)}, "imu"),
        ({"accelerometer_change": -np.inf}, "imu"),
        ({"heading_rate": np.nan}, "imu_orientation"),
        ({"quat_world_imu": np.full(4, np.nan)}, "imu_orientation"),
        ({"quat_world_imu": np.zeros(4)}, "imu_orientation"),  # says upright, and is no rotation
    ],
)
def test_changes_and_orientations_are_readings_too(spoilt, stream):
    """Each had been in the window: the estimate started anew, or was told to be upright."""
    up = np.array([0.0, 0.0, 0.0, 1.0])
    good = Measurement(
        10, np.zeros(12), np.zeros(12), np.zeros(3), quat_world_imu=up, heading_rate=0.0
    )
    counts = Counter()
    left = finite_measurement(replace(good, **spoilt), counts)
    assert counts == {f"{stream}_not_finite": 1}
    gone = {name: getattr(left, name) is None for name in ("position", "gyro", "quat_world_imu")}
    owners = {"joint": "position", "imu": "gyro", "imu_orientation": "quat_world_imu"}
    assert [name for name, is_gone in gone.items() if is_gone] == [owners[stream]]
    assert (left.heading_rate is None) == (stream == "imu_orientation")
    for field in spoilt:
        value = getattr(left, field)
        assert value is None or value == 0.0
    assert finite_measurement(good, counts) is good


def test_a_stream_is_refused_as_a_whole_and_others_stay():
    pose = PoseSample(9, np.array([0.0, np.nan, 0.0]), np.array([0.0, 0.0, 0.0, 1.0]))
    good = replace(pose, position_world=np.zeros(3))
    no_turn = replace(good, quat_world_body=np.zeros(4))
    gyro, joints = np.array([0.0, np.nan, 0.0]), np.zeros(12)
    m = Measurement(10, joints, joints, gyro, readings={"mocap": (pose, good, no_turn)})
    counts = Counter()
    left = finite_measurement(replace(m, accelerometer=np.ones(3)), counts)
    assert left.gyro is None and left.accelerometer is None and left.position is joints
    assert left.mocap == (good,) and counts == {"imu_not_finite": 1, "mocap_not_finite": 2}
    fine = replace(m, gyro=np.zeros(3), readings={"mocap": (good,)})
    assert finite_measurement(fine, counts) is fine
