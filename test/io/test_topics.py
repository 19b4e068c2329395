# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Sensor topics are found by type and name, and never guessed where several fit."""

from __future__ import annotations

import pytest

from prime_estimation.errors import DataError
from prime_estimation.io.topics import Topic, find_sensor_topics

JOINT = "sensor_msgs/msg/JointState"
IMU = "sensor_msgs/msg/Imu"
POSE = "geometry_msgs/msg/PoseStamped"


def topics(*names_types: tuple[str, str]) -> dict[str, Topic]:
    """Topics with ten messages each."""
    return {name: Topic(name, kind, 10) for name, kind in names_types}


def test_topics_are_found_by_type_and_name():
    bag = topics(
        ("/joint_states", JOINT),
        ("/joint_commands", JOINT),
        ("/ground_truth/joint_states", JOINT),
        ("/prime/joint_states", JOINT),
        ("/imu", IMU),
        ("/camera/imu/raw", IMU),
        ("/goal_pose", POSE),
        ("/vrpn_mocap/go2/pose", POSE),
    )
    expected = {
        "joint_states": "/joint_states",
        "joint_commands": "/joint_commands",
        "imu": "/imu",
        "mocap": "/vrpn_mocap/go2/pose",
    }
    assert find_sensor_topics(bag) == expected


def test_truth_and_goals_are_never_sensors():
    assert (
        find_sensor_topics(
            topics(
                ("/ground_truth/joint_states", JOINT),
                ("/prime/joint_states", JOINT),
                ("/goal_pose", POSE),
            )
        )
        == {}
    )


def test_namespaced_names_count():
    bag = topics(("/go2/joint_states", JOINT), ("/go2/other", JOINT), ("/go2/imu/data", IMU))
    assert find_sensor_topics(bag) == {"joint_states": "/go2/joint_states", "imu": "/go2/imu/data"}


def test_ambiguity_is_an_error_that_lists_the_candidates():
    bag = topics(("/a/imu", IMU), ("/b/imu", IMU))
    with pytest.raises(
        DataError,
        match=(
            r"several topics could be imu: /a/imu \(10\), /b/imu \(10\); choose one with --topic "
            r"imu=NAME"
        ),
    ):
        find_sensor_topics(bag)
    assert find_sensor_topics(bag, {"imu": "/b/imu"}) == {"imu": "/b/imu"}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"imu": "/none"}, "no topic /none"),
        ({"imu": "/j"}, "needs sensor_msgs/msg/Imu"),
        ({"sonar": "/j"}, "unknown sensor"),
    ],
)
def test_wrong_choices(given, words):
    with pytest.raises(DataError, match=words):
        find_sensor_topics(topics(("/j", JOINT)), given)
