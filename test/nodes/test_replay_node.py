# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The player on a bus inside the process.

Time, stamps, raw robot messages, recordings that hold nothing to play.
"""

import threading
import time

import numpy as np
import pytest
from helpers.messages import random_message

from prime_estimation.errors import ConfigError, DataError
from prime_estimation.io.bag import BagReader, BagWriter
from prime_estimation.io.messages import stamp_ns
from prime_estimation.io.topics import named_topics
from prime_estimation.io.unitree import FAMILIES
from prime_estimation.io.unitree_commands import LowCmdWriter
from prime_estimation.nodes.replay import Playback, ReplayNode
from prime_estimation.nodes.restamp import restamp
from prime_estimation.transport.inprocess import Bus, InProcessTransport


def test_player_restamps_and_paces(go2_payload3):
    bus, stamps = Bus(), []
    listener = InProcessTransport(bus, "me")
    listener.subscribe(
        "imu", "sensor_msgs/msg/Imu", lambda m, at: stamps.append((stamp_ns(m.header), at))
    )
    player = ReplayNode(
        InProcessTransport(bus, "player"), go2_payload3, Playback(duration=0.5, wait=0.0)
    )
    began = time.monotonic()
    player.run(threading.Event())
    assert time.monotonic() - began > 0.45
    assert player.sent["imu"] == len(stamps) == pytest.approx(250, abs=2)
    ages = np.array([at - stamp for stamp, at in stamps]) * 1e-9
    assert np.median(np.abs(ages)) < 5.0  # those of the recording are much older
    assert np.diff([s for s, _ in stamps]).min() > 1_000_000


def test_player_with_clock_keeps_stamps(go2_payload3):
    bus, clocks, stamps = Bus(), [], []
    listener = InProcessTransport(bus, "me")
    listener.subscribe(
        "/clock",
        "rosgraph_msgs/msg/Clock",
        lambda m, _: clocks.append(m.clock.sec * 10**9 + m.clock.nanosec),
    )
    listener.subscribe("imu", "sensor_msgs/msg/Imu", lambda m, _: stamps.append(stamp_ns(m.header)))
    ReplayNode(
        InProcessTransport(bus, "player"),
        go2_payload3,
        Playback(rate=0.0, clock=True, start=0.2, duration=0.5, wait=0.0),
    ).run(threading.Event())
    with BagReader(go2_payload3) as bag:
        assert clocks[0] == pytest.approx(bag.start_ns + 200_000_000, abs=10_000_000)
    assert np.diff(clocks).min() >= 5_000_000 and abs(stamps[0] - clocks[0]) < 10_000_000


def written(path, topic: str, kind: str, count: int = 20):
    """A bag of one topic with random messages, 2 ms apart."""
    with BagWriter(path) as writer:
        for k in range(count):
            message = random_message(kind, np.random.default_rng(0))
            if hasattr(message, "tick"):
                message.tick = 1000 + 2 * k
            writer.write(topic, 1_700_000_000_000_000_000 + k * 2_000_000, message)
    return path


def test_raw_messages_of_the_robot_are_played_as_what_they_hold(tmp_path):
    bus, joints, imus, feet = Bus(), [], [], []
    listener = InProcessTransport(bus, "me")
    listener.subscribe("joint_states", "sensor_msgs/msg/JointState", lambda m, _: joints.append(m))
    listener.subscribe("imu", "sensor_msgs/msg/Imu", lambda m, _: imus.append(m))
    kind = "prime_estimation_msgs/msg/FootForces"
    listener.subscribe("foot_force", kind, lambda m, _: feet.append(m))
    bag = written(tmp_path / "raw.mcap", "/lowstate", "unitree_go/msg/LowState")
    player = ReplayNode(InProcessTransport(bus, "player"), bag, Playback(rate=0.0, wait=0.0))
    player.run(threading.Event())
    assert player.sent == {"joint_states": 20, "imu": 20, "foot_force": 20}
    assert [len(joints), len(imus), len(feet)] == [20, 20, 20]
    assert joints[0].name[0] == "FR_hip_joint"
    assert np.diff([stamp_ns(m.header) for m in joints]).tolist() == [2_000_000] * 19
    assert abs(stamp_ns(joints[0].header) - time.time_ns()) < 60_000_000_000


def test_a_recording_without_sensors_is_refused(tmp_path):
    bag = written(tmp_path / "other.mcap", "/chatter", "std_msgs/msg/String")
    with pytest.raises(DataError, match="has no topic of a sensor; it has /chatter"):
        ReplayNode(InProcessTransport(Bus(), "player"), bag, Playback())


def test_a_beginning_behind_the_end_is_refused(tmp_path):
    bag = written(tmp_path / "imu.mcap", "/imu", "sensor_msgs/msg/Imu")
    with pytest.raises(ConfigError, match="ends before the 5 s"):
        ReplayNode(InProcessTransport(Bus(), "player"), bag, Playback(start=5.0))


@pytest.mark.parametrize("wrong", [-1.0, float("nan"), float("inf"), 1e12, "1", None, True])
@pytest.mark.parametrize("name", ["rate", "start", "duration", "wait"])
def test_playback_that_makes_no_sense(name, wrong):
    with pytest.raises(ConfigError, match="must not be negative, and finite"):
        Playback(**{name: wrong})


def test_no_stamp_stays_none():
    header = random_message("std_msgs/msg/Header", np.random.default_rng(0))
    header.stamp.sec = header.stamp.nanosec = 0
    restamp(header, 10**18)
    assert stamp_ns(header) == 0


def test_motor_commands_of_the_robot_are_played_as_joint_targets(tmp_path):
    bus, targets, bag = Bus(), [], tmp_path / "raw.mcap"
    names = list(FAMILIES["unitree_go"].joints)
    with BagWriter(bag) as writer:
        commands = LowCmdWriter(FAMILIES["unitree_go"], writer.message_class)
        for k in range(20):
            low = random_message("unitree_go/msg/LowState", np.random.default_rng(0))
            low.tick, arrival = 1000 + 2 * k, 1_700_000_000_000_000_000 + k * 2_000_000
            values = (np.full(12, 0.1 * i) for i in range(1, 6))
            writer.write("/lowstate", arrival, low)
            writer.write("/lowcmd", arrival, commands.write(names, *values))
    kind = "prime_estimation_msgs/msg/MotorCommands"
    InProcessTransport(bus, "me").subscribe("joint_targets", kind, lambda m, _: targets.append(m))
    settings = Playback(rate=0.0, clock=True, wait=0.0)
    player = ReplayNode(InProcessTransport(bus, "player"), bag, settings)
    player.run(threading.Event())
    assert player.sent["joint_targets"] == len(targets) == 20
    assert targets[0].name == names and stamp_ns(targets[0].header) == 1_700_000_000_000_000_000
    for i, field in enumerate(("position", "velocity", "effort", "stiffness", "damping"), 1):
        np.testing.assert_allclose(getattr(targets[0], field), 0.1 * i, rtol=1e-6)


def test_the_imu_of_the_torso_is_played_where_the_robot_has_it(tmp_path):
    random, state_type = np.random.default_rng(0), "unitree_hg/msg/IMUState"
    state = random_message(state_type, random)
    with BagWriter(tmp_path / "torso.mcap") as writer:
        for k in range(3):
            low = random_message("unitree_hg/msg/LowState", random)
            low.mode_pr, low.tick = 0, 1000 + 2 * k
            writer.write("/lowstate", 10**18 + k * 2_000_000, low)
            writer.write("/secondary_imu", 10**18 + k * 2_000_000, state)
    settings = Playback(rate=0.0, wait=0.0)
    for frame, played in (("imu_in_torso", 3), ("imu_in_pelvis", 0)):
        bus, heard = Bus(), []
        kind = "sensor_msgs/msg/Imu"
        InProcessTransport(bus, "me").subscribe("imu", kind, lambda m, _, to=heard: to.append(m))
        transport = InProcessTransport(bus, "player")
        player = ReplayNode(transport, tmp_path / "torso.mcap", settings, imu_frame=frame)
        player.run(threading.Event())
        assert player.sent["imu"] == player.sent["joint_states"] == 3
        torso = [m for m in heard if m.angular_velocity.x == pytest.approx(state.gyroscope[0])]
        assert len(torso) == played
    with BagWriter(tmp_path / "pelvis.mcap") as writer:
        writer.write("/lowstate", 10**18, low)
    with pytest.raises(DataError, match="lacks the IMU of imu_in_torso"):
        bag = tmp_path / "pelvis.mcap"
        ReplayNode(InProcessTransport(Bus(), "player"), bag, settings, imu_frame="imu_in_torso")


def test_what_cannot_be_played_is_said(tmp_path, caplog):
    bag = tmp_path / "motors.mcap"
    with BagWriter(bag) as writer:
        for k in range(3):
            low = random_message("unitree_hg/msg/LowState", np.random.default_rng(0))
            low.mode_pr = 1
            writer.write("/lowstate", 10**18 + k, low)
    settings = Playback(rate=0.0, wait=0.0)
    ReplayNode(InProcessTransport(Bus(), "player"), bag, settings).run(threading.Event())
    assert caplog.text.count("not played: lowstate: ankles and waist in motor coordinates") == 1


def test_a_recording_that_is_cut_off_is_said(go2_payload3, tmp_path, caplog):
    (whole,) = go2_payload3.glob("*.mcap")
    content = whole.read_bytes()
    (tmp_path / "cut.mcap").write_bytes(content[: len(content) // 4])
    ReplayNode(InProcessTransport(Bus(), "player"), tmp_path / "cut.mcap", Playback())
    assert "cut.mcap is damaged (cut.mcap breaks off after" in caplog.text


def test_one_of_several_topics_is_played(tmp_path):
    with BagWriter(tmp_path / "two.mcap") as writer:
        for topic in ("/a/imu", "/b/imu"):
            message = random_message("sensor_msgs/msg/Imu", np.random.default_rng(0))
            message.header.frame_id = topic
            writer.write(topic, 10**18, message)
    with pytest.raises(DataError, match=r"bag_topics:=imu=NAME"):
        ReplayNode(InProcessTransport(Bus(), "player"), tmp_path / "two.mcap", Playback())
    bus, heard, given = Bus(), [], named_topics(["imu=/b/imu"], "bag_topics")
    kind = "sensor_msgs/msg/Imu"
    InProcessTransport(bus, "me").subscribe("imu", kind, lambda m, _: heard.append(m))
    settings = Playback(rate=0.0, wait=0.0)
    transport = InProcessTransport(bus, "player")
    ReplayNode(transport, tmp_path / "two.mcap", settings, given).run(threading.Event())
    assert [m.header.frame_id for m in heard] == ["/b/imu"]
