# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""What an observer says of readings that no estimate can be made of, and of wrong arguments."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

from prime_estimation import Config, Robot, StateObserver
from prime_estimation.alignment.joint_readings import GLITCH
from prime_estimation.errors import ConfigError, DataError
from prime_estimation.policy.readings import Readings
from prime_estimation.types import ImuSample, JointSample

STANCE = np.array([0.0, 0.8, -1.5] * 4)
STEP = 2_000_000  # ns


def said(change=lambda stamp: {}, every=STEP, number=60, late=0) -> str:
    """Reason after constant readings, changed by `change(stamp)`, joints stamped `late` earlier."""
    zero, up = np.zeros(12), np.array([0.0, 0.0, 9.81])
    with StateObserver("go2", threaded=False) as observer:
        for k in range(number):
            stamp = 10**18 + every * k
            joints = dict(stamp_ns=stamp - late, position=STANCE, velocity=zero, torque=zero)
            imu = dict(stamp_ns=stamp, gyro=np.zeros(3), accelerometer=up)
            changed = change(stamp)
            for part in (joints, imu):
                known = {n: v for n, v in changed.items() if n in part or n == "quat_world_imu"}
                if part is joints:
                    known.pop("quat_world_imu", None)
                state = observer.arrays(**part | known)
        assert not state.valid
        return state.reason


@pytest.mark.parametrize("per_s", [1, 1_000, 1_000_000])
def test_stamps_of_another_unit(per_s):
    reason = said(lambda stamp: {"stamp_ns": stamp * per_s // 10**9})
    assert "ns apart: are they in s, ms or us instead of ns?" in reason


def test_readings_that_are_too_slow():
    reason = said(every=100_000_000)
    assert reason == "joints come every 100 ms: every 50 ms (20 Hz) are needed"


@pytest.mark.parametrize(
    "name, value, stream",
    [
        ("torque", np.r_[np.nan, np.zeros(11)], "joints"),
        ("quat_world_imu", np.full(4, np.nan), "imu"),
        ("accelerometer", np.array([0.0, 0.0, np.inf]), "imu"),
    ],
)
def test_values_that_are_not_finite(name, value, stream):
    reason = said(lambda stamp: {name: value})
    assert reason == f"no {stream} yet (60 of 60 readings refused: not finite (NaN, inf))"


def test_joints_that_come_late():
    assert said(late=60_000_000).startswith("joints are stamped 60 ms before the IMU")


def test_joints_in_degrees():
    assert "are they in degrees?" in said(
        lambda stamp: {"position": np.degrees(STANCE)}, number=200
    )


def test_right_readings_are_only_gathered():
    assert said() == "the start batch is being gathered"


@pytest.mark.parametrize("value", [math.nan, -1, 0, "0.3", True])
def test_range_of_the_largest_deviation(value):
    with pytest.raises(ConfigError, match="largest_stddev must be a number above 0 m/s"):
        StateObserver("go2", threaded=False, largest_stddev=value)


def test_sensors_are_a_list():
    with pytest.raises(ConfigError, match=r"write sensors=\['joint_targets'\]"):
        StateObserver("go2", threaded=False, sensors="joint_targets")


def test_what_is_handed_in_is_checked():
    with StateObserver("go2", threaded=False) as observer:
        for stamp in (1e30, None, math.nan, "x", True):
            with pytest.raises(DataError, match="stamp_ns must be a whole number of ns"):
                observer.arrays(stamp, position=STANCE)
        with pytest.raises(ConfigError, match="configuration is that of 'g1', the robot is go2"):
            StateObserver("go2", Config.load("g1"))
        with pytest.raises(DataError, match="joints must be an array of numbers, got 'home'"):
            observer.arrays(0, position="home")
        with pytest.raises(DataError, match="readings of the IMU must be an array of numbers"):
            observer.arrays(0, gyro=["x"] * 3, accelerometer=np.zeros(3))
        with pytest.raises(DataError, match="no LowState: a NoneType has no 'tick'"):
            observer.lowstate(None)
        with pytest.raises(DataError, match="no LowState: a SimpleNamespace has no 'imu_state'"):
            observer.lowstate(SimpleNamespace(tick=0, motor_state=[], imu=None))  # of a Go1
        with pytest.raises(ConfigError, match=r"make it with sensors=\['joint_targets'\]"):
            observer.targets(STANCE, np.ones(12), np.ones(12), stamp_ns=0)


def test_a_closed_observer_says_so():
    with StateObserver("go2") as observer:
        pass
    state = observer.arrays(0, position=STANCE)
    assert not state.valid and state.reason == "the observer is closed"
    assert np.isnan(state.joint_position).all()


@pytest.mark.parametrize(
    "readings, said",
    [
        ({"velocity": np.zeros(12)}, "velocity comes with position"),
        ({"torque": np.zeros(12)}, "torque comes with position"),
        ({"quat_world_imu": [0.0, 0.0, 0.0, 1.0]}, "quat_world_imu comes with gyro"),
    ],
)
def test_arrays_that_would_be_passed_over(readings, said):
    with StateObserver("go2", threaded=False) as observer, pytest.raises(DataError, match=said):
        observer.arrays(0, **readings)


def read(every_ns: int, arrivals_ns: int = 0, number: int = 40) -> Readings:
    """Of joints and IMU that are stamped so far apart, and of raw messages that arrive so."""
    out = Readings(Robot.load("go2"))
    for k in range(number):
        if arrivals_ns:
            out.arrived(10**18 + arrivals_ns * k)
        out.take(JointSample(10**18 + every_ns * k, STANCE), True)
        out.take(ImuSample(10**18 + every_ns * k, np.zeros(3), np.array([0.0, 0.0, 9.81])), True)
    return out


def test_stamps_of_no_sensor_are_of_another_unit():
    """None is read 20 000 times a second."""
    assert read(60_000).trouble({}) == ""
    assert read(40_000).trouble({}).startswith("stamps of the joints are 40000 ns apart")
    assert read(STEP, 60_000).trouble({}) == ""
    assert read(STEP, 40_000).trouble({}).startswith("messages arrive every 40000 ns")


def test_why_readings_were_refused():
    """The most frequent reasons, of this stream, a joint that jumps among them by its name."""
    counts = {f"{GLITCH}FL_hip_joint": 3, "joint_late": 2, "imu_late": 9, "joint_unknown": 7}
    readings = read(STEP, number=10)
    told = "5 of 10 readings refused: FL_hip_joint jumps, with a stamp before the newest"
    assert readings.refusals("joints", counts) == told
    assert readings.refusals("imu", counts).startswith("9 of 10 readings refused")
    assert readings.refusals("joints", {"imu_late": 9}) == ""


@pytest.mark.parametrize(("used", "said"), [(20, ""), (19, "joints: their stamps jump")])
def test_half_of_the_readings_may_be_refused(used, said):
    readings = Readings(Robot.load("go2"))
    for k in range(40):
        readings.take(JointSample(10**18 + STEP * k, STANCE), k < used)
    assert readings.trouble({}) == said
