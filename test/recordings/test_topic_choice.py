# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Topics of a recording that are the sensors of a robot."""

from types import SimpleNamespace

import numpy as np
import pytest
from helpers.messages import random_message

from prime_estimation.config.parameters import Config
from prime_estimation.errors import DataError
from prime_estimation.io.bag import BagReader, BagWriter
from prime_estimation.io.messages import MessageReader
from prime_estimation.io.topics import Topic
from prime_estimation.recordings.samples import sensor_samples
from prime_estimation.recordings.topic_choice import (
    choose_topics,
    lowstate_reader,
    optional_sensors,
)
from prime_estimation.robot import Robot
from prime_estimation.types import ImuSample

GO2 = Robot.load("go2")
JOINTS, IMU = "sensor_msgs/msg/JointState", "sensor_msgs/msg/Imu"
POSE = "geometry_msgs/msg/PoseStamped"
SENSORS = {"/joint_states": JOINTS, "/imu": IMU, "/mocap/pose": POSE}


def a_bag(topics: dict[str, str]):
    """What a recording of these topics says of itself."""
    return SimpleNamespace(
        path="run.mcap", topics={name: Topic(name, kind, 10) for name, kind in topics.items()}
    )


def test_by_name_and_type():
    chosen = {"joint_states": "/joint_states", "imu": "/imu", "mocap": "/mocap/pose"}
    assert choose_topics(a_bag(SENSORS), GO2, mocap=True) == chosen
    chosen.pop("mocap")
    assert choose_topics(a_bag(SENSORS), GO2, mocap=False) == chosen
    assert choose_topics(a_bag(SENSORS), GO2, True, without=["mocap"]) == chosen


def test_what_the_user_names_is_used_or_refused():
    two = {**SENSORS, "/imu_2": IMU}
    given = {"imu": "/imu_2"}
    assert choose_topics(a_bag(two), GO2, False, given)["imu"] == "/imu_2"
    with pytest.raises(DataError, match="given for imu, which is not to be used"):
        choose_topics(a_bag(two), GO2, False, given, without=["imu"])
    with pytest.raises(DataError, match="given for mocap, which is not to be used"):
        choose_topics(a_bag(two), GO2, False, {"mocap": "/mocap/pose"})


def test_what_a_robot_needs_is_missed():
    for lacks in ("joint_states", "imu"):
        rest = {name: kind for name, kind in SENSORS.items() if name != f"/{lacks}"}
        with pytest.raises(DataError, match=f"run.mcap lacks {lacks} .*; it has "):
            choose_topics(a_bag(rest), GO2, mocap=True)


def test_lowstate_stands_in_for_what_is_missing_and_for_nothing_else():
    lowstate = {"/lowstate": "unitree_go/msg/LowState"}
    assert choose_topics(a_bag(lowstate), GO2, False) == {"lowstate": "/lowstate"}
    assert "lowstate" not in choose_topics(a_bag({**SENSORS, **lowstate}), GO2, False)
    wanted = choose_topics(a_bag({**SENSORS, **lowstate}), GO2, False, {"lowstate": "/lowstate"})
    assert wanted == {"lowstate": "/lowstate"}
    bag = a_bag(lowstate)
    reader = lowstate_reader(bag, {"lowstate": "/lowstate"})
    assert lowstate_reader(bag, {"imu": "/imu"}) is None
    assert optional_sensors({"imu": "/imu"}, None) == []
    in_it = optional_sensors({"lowstate": "/lowstate"}, reader)
    assert "foot_force" in in_it
    assert "foot_force" not in optional_sensors({"lowstate": "/lowstate"}, reader, ["foot_force"])


def test_the_imu_of_the_torso_beside_lowstate(tmp_path):
    config = Config.load("g1").updated({"robot": {"imu_frame": "imu_in_torso"}})
    robot, random, states = Robot(config.robot), np.random.default_rng(0), []

    def written(name: str, *topics: str):
        with BagWriter(tmp_path / name) as writer:
            for k in range(5):
                low = random_message("unitree_hg/msg/LowState", random)
                low.mode_pr, low.tick = 0, 1000 + 2 * k
                writer.write("/lowstate", 10**18 + k * 2_000_000, low)
                for topic in topics:
                    states.append(random_message("unitree_hg/msg/IMUState", random))
                    writer.write(topic, 10**18 + k * 2_000_000, states[-1])
        return BagReader(tmp_path / name)

    with written("torso.mcap", "/secondary_imu") as bag:
        topics = choose_topics(bag, robot, mocap=False)
        assert topics["imu"] == "/secondary_imu" and topics["lowstate"] == "/lowstate"
        lowstate = lowstate_reader(bag, topics)
        reader = MessageReader(robot.joint_names, lowstate=lowstate)
        read = [s for _, s in sensor_samples(bag, topics, reader) if isinstance(s, ImuSample)]
        assert len(read) == 5
        for sample, state in zip(read, states, strict=True):
            assert sample.angular_velocity == pytest.approx(state.gyroscope)
    with written("pelvis.mcap") as bag:
        with pytest.raises(DataError, match="lacks the IMU of imu_in_torso .*: secondary_imu"):
            choose_topics(bag, robot, mocap=False)
        pelvis = Robot(Config.load("g1").robot)
        assert choose_topics(bag, pelvis, mocap=False) == {"lowstate": "/lowstate"}
