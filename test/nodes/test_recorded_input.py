# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""An estimator node that reads a recording as fast as it estimates, against `prime replay`."""

import threading

import pytest
from helpers.short_bags import beginning

from prime_estimation.config.parameters import Config
from prime_estimation.io.bag import BagReader, BagWriter
from prime_estimation.io.typestore import typestore
from prime_estimation.nodes.estimator import EstimatorNode
from prime_estimation.nodes.recorded_input import RecordedInput
from prime_estimation.recordings.replay import replay
from prime_estimation.robot import Robot
from prime_estimation.transport.base import Qos
from prime_estimation.transport.inprocess import Bus, InProcessTransport

COMPARED = ("inertial_parameters", "contact_wrenches", "joint_states")


@pytest.fixture(scope="module")
def bag(go2_payload3, tmp_path_factory):
    return beginning(go2_payload3, tmp_path_factory.mktemp("bag") / "short.mcap", 2.5)


def said_by_the_node(bag, namespace: str = "") -> dict[str, list]:
    """Everything that the node says about the recording, by topic."""
    bus, config = Bus(), Config.load("go2").updated({"node": {"inertia_rate": 100.0}})
    outer = InProcessTransport(bus, "prime", namespace)
    given = RecordedInput(outer, bag)
    node = EstimatorNode(given, Robot(config.robot), config)
    me, heard = InProcessTransport(bus, "me"), {}
    for topic, kind in bus.types.items():
        me.subscribe(
            topic, kind, lambda m, _, kept=heard.setdefault(topic, []): kept.append(m), Qos.STATE
        )
    ended = threading.Event()
    node.start()
    given.play(node, ended.set, threading.Event())
    assert ended.wait(120.0)
    node.stop()
    assert node.solver.overruns == node.solver.dropped == node.dropped_samples() == 0
    return heard


def bits(messages: list) -> list[bytes]:
    return [bytes(typestore().serialize_cdr(m, m.__msgtype__)) for m in messages]


def test_every_node_is_estimated_with_the_figures_of_a_replay(bag, tmp_path):
    heard, robot = said_by_the_node(bag), Robot.load("go2")
    summary = replay(bag, robot, Config.load("go2"), tmp_path / "out.mcap")
    by_topic: dict[str, list] = {name: [] for name in COMPARED}
    with BagReader(tmp_path / "out.mcap") as out:
        for topic, _, message in out.messages([f"/prime/{name}" for name in COMPARED]):
            by_topic[topic.removeprefix("/prime/")].append(message)
    assert len(heard["/prime/contact_wrenches"]) == summary.nodes > 150
    for name, messages in by_topic.items():
        assert bits(heard[f"/prime/{name}"]) == bits(messages), name
    assert heard["/clock"]


def test_names_of_the_graph_do_not_matter_to_the_recording(bag):
    heard = said_by_the_node(bag, "robot1")
    assert len(heard["/robot1/prime/contact_wrenches"]) > 150


def test_a_recording_that_cannot_be_read_is_an_end_too(tmp_path):
    with BagWriter(tmp_path / "cut.mcap") as writer:
        for topic, kind in (("/joint_states", "JointState"), ("/imu", "Imu")):
            writer.add_topic(topic, f"sensor_msgs/msg/{kind}")
            writer._writer.write(writer._connections[topic], 10**18, b"\0\1\0\0" + 3 * b"\xff")
    config, ended = Config.load("go2"), threading.Event()
    given = RecordedInput(InProcessTransport(Bus(), "prime"), tmp_path / "cut.mcap")
    node = EstimatorNode(given, Robot(config.robot), config)
    node.start()
    given.play(node, ended.set, threading.Event())
    assert ended.wait(20.0)
    node.stop()
    assert "none of 2 messages on /joint_states, /imu can be decoded" in str(given.failure)
