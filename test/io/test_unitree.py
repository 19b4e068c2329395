# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Unitree's LowState: joint order, quaternion order, torque, stamps from the tick."""

import random

import numpy as np
import pytest
from helpers.messages import random_message

from prime_estimation.config.files import config_dir
from prime_estimation.errors import ConfigError
from prime_estimation.io.messages import MessageReader, stamp_ns
from prime_estimation.io.typestore import typestore
from prime_estimation.io.unitree import FAMILIES, LowStateReader, TickClock, family_of
from prime_estimation.robot import Robot

NOW = 1_700_000_000_000_000_000


def make(name: str) -> type:
    return typestore().types[name]


def lowstate(family: str, tick: int = 1000):
    """A LowState whose motor i is at i rad, 0.1 i rad/s, i + 0.5 Nm."""
    message = random_message(FAMILIES[family].type, np.random.default_rng(3))
    for i, motor in enumerate(message.motor_state):
        motor.q, motor.dq, motor.tau_est = float(i), 0.1 * i, i + 0.5
    imu = getattr(message, FAMILIES[family].imu)
    imu.quaternion = np.array([0.5, 0.5, -0.5, 0.5], np.float32)
    imu.gyroscope = np.array([1, 2, 3], np.float32)
    imu.accelerometer = np.array([0, 0, 9.81], np.float32)
    message.tick = tick
    if hasattr(message, "mode_pr"):
        message.mode_pr = 0
    return message


def parts(reader: LowStateReader, message, arrival_ns: int = NOW) -> tuple:
    """Joint states and IMU of a raw message."""
    found = reader.read(message, arrival_ns)
    assert set(found) >= {"joint_states", "imu"}
    return found["joint_states"], found["imu"]


@pytest.mark.parametrize(
    ("family", "first", "last", "count"),
    [
        ("unitree_go", "FR_hip_joint", "RL_calf_joint", 12),
        ("unitree_legged", "FR_hip_joint", "RL_calf_joint", 12),
        ("unitree_hg", "left_hip_pitch_joint", "right_wrist_yaw_joint", 29),
    ],
)
def test_motors_by_name(family, first, last, count):
    joints, imu = parts(LowStateReader(FAMILIES[family], make, "imu_link"), lowstate(family))
    assert (joints.name[0], joints.name[-1], len(joints.name)) == (first, last, count)
    assert joints.position.tolist() == list(range(count))
    assert joints.effort[3] == 3.5 and joints.velocity[10] == pytest.approx(1.0)
    # w x y z on the wire, x y z w in ROS
    assert (imu.orientation.w, imu.orientation.x, imu.orientation.y, imu.orientation.z) == (
        0.5,
        0.5,
        -0.5,
        0.5,
    )
    assert (
        imu.header.frame_id == "imu_link"
        and imu.linear_acceleration.z == pytest.approx(9.81)
        and imu.orientation_covariance[0] == 0.0
    )
    assert imu.header.stamp == joints.header.stamp


@pytest.mark.parametrize(
    "name", [n for n in ("go1", "go2", "g1") if (config_dir() / "robots" / f"{n}.yaml").exists()]
)
def test_the_robot_finds_all_its_joints(name):
    robot = Robot.load(name)
    family = family_of(name)
    message = lowstate({f.type: k for k, f in FAMILIES.items()}[family.type])
    joints, imu = parts(LowStateReader(family, make), message)
    sample = MessageReader(robot.joint_names).sample("joint_states", joints, NOW)
    expected = [family.joints.index(n) for n in robot.joint_names]
    assert sample.position.tolist() == expected and sample.stamp_ns == NOW
    assert MessageReader(robot.joint_names).sample("imu", imu, NOW).quat_world_imu == pytest.approx(
        [0.5, -0.5, 0.5, 0.5]
    )


def test_no_orientation_is_said_so():
    message = lowstate("unitree_go")
    message.imu_state.quaternion = np.zeros(4, np.float32)
    _, imu = parts(LowStateReader(FAMILIES["unitree_go"], make), message)
    assert imu.orientation_covariance[0] == -1.0


def test_motor_coordinates_of_the_ankles_are_refused():
    reader, message = LowStateReader(FAMILIES["unitree_hg"], make), lowstate("unitree_hg")
    message.mode_pr = 1
    assert reader.read(message, NOW) == {}
    assert "mode_pr" in next(iter(reader.counts))


def test_unknown_robot():
    with pytest.raises(ConfigError, match="go2"):
        family_of("spot")
    assert family_of("go1") is FAMILIES["unitree_legged"]


# --- stamps ---------------------------------------------------------------------------------------


def arrivals(count: int, drift: float = 2e-5, seed: int = 0):
    """(tick, true time, arrival) of a 500 Hz stream with 0.2 ms delay and exponential jitter of 0.5
    ms."""
    rng = random.Random(seed)
    for k in range(count):
        true = NOW + int(2_000_000 * k * (1.0 + drift))
        yield 77 + 2 * k, true, true + 200_000 + int(rng.expovariate(1.0 / 500_000))


@pytest.mark.parametrize("drift", [-5e-5, 0.0, 5e-5])
def test_stamps_are_regular_and_near_the_truth(drift):
    clock, last = TickClock(), 0
    for k, (tick, true, arrival) in enumerate(arrivals(5000, drift)):
        # the first one hung in a queue
        stamp = clock.stamp(tick, arrival + (15_000_000 if k == 0 else 0))
        assert stamp > last
        last = stamp
        if k > 100:
            assert 0 <= stamp - true < 400_000
    assert clock.restarts == 0 and 0.3 < clock.jitter_ms < 1.0


def test_restarted_counter_is_taken_up():
    clock = TickClock()
    for tick, _, arrival in arrivals(1000):
        clock.stamp(tick, arrival)
    for tick, true, arrival in arrivals(1000):
        stamp = clock.stamp(tick, arrival + 5_000_000_000)
    assert clock.restarts == 1 and abs(stamp - true - 5_000_000_000) < 2_000_000


def test_dropped_messages_do_not_bend_time():
    clock = TickClock()
    errors = [
        clock.stamp(tick, arrival) - true
        for k, (tick, true, arrival) in enumerate(arrivals(3000))
        if k < 10 or k > 400
    ]
    assert max(abs(e) for e in errors[500:]) < 400_000


def test_stamp_of_the_message_is_the_clock():
    reader = LowStateReader(FAMILIES["unitree_go"], make)
    reader.read(lowstate("unitree_go", 1000), NOW)
    joints, _ = parts(reader, lowstate("unitree_go", 1002), NOW + 2_700_000)
    assert stamp_ns(joints.header) == pytest.approx(NOW + 2_000_000, abs=1000)
