# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Sources that robots have: poses in four message types, the second IMU of a humanoid."""

import numpy as np
import pytest
from helpers.messages import random_message

from prime_estimation.config.parameters import Config
from prime_estimation.errors import ConfigError
from prime_estimation.nodes.estimator import EstimatorNode
from prime_estimation.nodes.pose_sources import POSE_SOURCES
from prime_estimation.robot import Robot
from prime_estimation.transport.inprocess import Bus, InProcessTransport
from prime_estimation.types import ImuSample, PoseSample


def converted(make, source: str, message):
    """A PoseStamped as another type holds it, among others where there are names."""
    nested = make("geometry_msgs/msg/PoseWithCovariance")(
        pose=message.pose, covariance=np.zeros(36)
    )
    if source == "pose":
        return message
    if source == "pose_with_covariance":
        return make(POSE_SOURCES[source].type)(header=message.header, pose=nested)
    if source == "odometry":
        zero = random_message("geometry_msgs/msg/TwistWithCovariance", np.random.default_rng(0))
        return make(POSE_SOURCES[source].type)(
            header=message.header, child_frame_id="tracked", pose=nested, twist=zero
        )
    named = make("motion_capture_tracking_interfaces/msg/NamedPose")
    other = random_message("geometry_msgs/msg/Pose", np.random.default_rng(0))
    entries = [named(name="wand", pose=other), named(name="go2", pose=message.pose)]
    return make(POSE_SOURCES[source].type)(header=message.header, poses=entries)


class Listening:
    """A node that does not estimate, and the samples that it makes."""

    def __init__(self, name: str = "go2", **changes):
        self.bus, config = Bus(), Config.load(name).updated(changes)
        self.node = EstimatorNode(
            InProcessTransport(self.bus, "prime"), Robot(config.robot), config
        )
        self.samples = []
        self.node.sensors._push = self.samples.append
        self.me = InProcessTransport(self.bus, "me")

    def send(self, topic: str, message) -> None:
        self.me.publish(topic, self.bus.types[f"/{topic}"])(message)


@pytest.mark.parametrize("source", POSE_SOURCES)
def test_every_source_gives_the_same_samples(messages, source):
    poses = [m for role, m in messages if role == "mocap"][:5]
    wanted, given = Listening(), Listening(node={"mocap_source": source})
    for message in poses:
        wanted.send("mocap/pose", message)
        given.send("mocap/pose", converted(given.me.make, source, message))
    assert len(given.samples) == 5
    for a, b in zip(wanted.samples, given.samples, strict=True):
        assert isinstance(b, PoseSample) and a.stamp_ns == b.stamp_ns
        assert (a.position_world == b.position_world).all()
        assert (a.quat_world_body == b.quat_world_body).all()


def test_a_body_that_is_not_there_is_named(messages):
    listening = Listening(node={"mocap_source": "named_poses", "mocap_body": "spot"})
    pose = next(m for role, m in messages if role == "mocap")
    listening.send("mocap/pose", converted(listening.me.make, "named_poses", pose))
    assert not listening.samples
    reason = "mocap: no body 'spot' (node.mocap_body) among wand, go2"
    assert listening.node.counts()[reason] == 1
    assert listening.node.dropped_samples() == 1
    with pytest.raises(ConfigError, match="must be one of pose, pose_with_covariance"):
        Config.load("go2").updated({"node": {"mocap_source": "tf"}})


@pytest.mark.parametrize("frame, topic", [("imu_in_torso", "secondary_imu"), ("imu_in_pelvis", "")])
def test_the_imu_of_the_torso_beside_lowstate(frame, topic):
    listening = Listening("g1", node={"input": "lowstate"}, robot={"imu_frame": frame})
    low = random_message("unitree_hg/msg/LowState", np.random.default_rng(0))
    low.mode_pr, low.tick = 0, 1000
    listening.send("lowstate", low)
    imus = [s for s in listening.samples if isinstance(s, ImuSample)]
    assert len(imus) == (0 if topic else 1) and ("/secondary_imu" in listening.bus.types) == bool(
        topic
    )
    if topic:
        state = random_message("unitree_hg/msg/IMUState", np.random.default_rng(1))
        listening.send(topic, state)
        (imu,) = [s for s in listening.samples if isinstance(s, ImuSample)]
        assert imu.angular_velocity == pytest.approx(state.gyroscope)
