# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Readings to messages and back."""

import numpy as np
import pytest

from prime_estimation.io.messages import MessageReader, stamp_ns
from prime_estimation.io.sensor_messages import foot_forces, imu, joint_state, pose_stamped
from prime_estimation.io.typestore import typestore

STAMP = 1_700_000_000_123_456_789


def make(name: str) -> type:
    return typestore().types[name]


@pytest.fixture
def reader() -> MessageReader:
    return MessageReader(["a", "b"])


def test_joint_states(reader):
    message = joint_state(make, STAMP, ["b", "a"], position=[1.0, 2.0], effort=[3.0, 4.0])
    sample = reader.sample("joint_states", message)
    assert sample.stamp_ns == STAMP and sample.position.tolist() == [2.0, 1.0]
    assert sample.velocity is None and sample.effort.tolist() == [4.0, 3.0]


def test_imu(reader):
    rate, force = np.array([0.1, 0.2, 0.3]), np.array([0.0, 0.1, 9.81])
    bare = reader.sample("imu", imu(make, STAMP, "imu", rate, force))
    assert bare.quat_world_imu is None
    quat = np.array([0.5, 0.5, -0.5, 0.5])
    sample = reader.sample("imu", imu(make, STAMP, "imu", rate, force, quat))
    assert np.array_equal(sample.angular_velocity, rate)
    assert np.array_equal(sample.linear_acceleration, force)
    assert sample.quat_world_imu == pytest.approx(quat)


def test_pose(reader):
    quat = np.array([0.0, 0.6, 0.0, 0.8])
    message = pose_stamped(make, STAMP, "world", np.array([1.0, 2.0, 3.0]), quat)
    sample = reader.sample("mocap", message)
    assert sample.position_world.tolist() == [1.0, 2.0, 3.0]
    assert sample.quat_world_body == pytest.approx(quat)


def test_foot_forces():
    store = typestore()
    message = foot_forces(make, STAMP, ["FL_foot", "FR_foot"], np.array([20, 130]))
    kind = "prime_estimation_msgs/msg/FootForces"
    back = store.deserialize_cdr(store.serialize_cdr(message, kind), kind)
    assert stamp_ns(back.header) == STAMP and back.name == ["FL_foot", "FR_foot"]
    assert back.force.tolist() == [20.0, 130.0]
