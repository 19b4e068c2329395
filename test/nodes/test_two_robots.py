# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Two robots in one graph: namespaces and frame prefixes keep everything of theirs apart."""

import time

import pytest
from helpers.waiting import wait

from prime_estimation.config.parameters import Config
from prime_estimation.io.topics import ROLES
from prime_estimation.nodes.estimator import EstimatorNode
from prime_estimation.output_messages import Outputs
from prime_estimation.robot import Robot
from prime_estimation.transport.base import Qos, graph_name
from prime_estimation.transport.inprocess import Bus, InProcessTransport

NAMES = ("robot1", "robot2")


@pytest.fixture
def pair():
    bus, nodes = Bus(), {}
    for name in NAMES:
        config = Config.load("go2").updated({"node": {"frame_prefix": f"{name}/"}})
        transport = InProcessTransport(bus, "prime", name)
        nodes[name] = EstimatorNode(transport, Robot(config.robot), config)
        nodes[name].start()
    yield bus, nodes
    for node in nodes.values():
        node.stop()


def play_to_both(bus, nodes, messages):
    send = {
        (name, role): InProcessTransport(bus, "player", name).publish(
            ROLES[role].names[0], ROLES[role].types[0]
        )
        for name in NAMES
        for role in ("joint_states", "imu", "mocap")
    }
    for role, message in messages:
        for name in NAMES:
            send[name, role](message)
        while any(n.solver.pending for n in nodes.values()):
            time.sleep(0.001)


def test_no_topic_frame_or_diagnostic_is_shared(pair, messages):
    bus, nodes = pair
    me, heard = InProcessTransport(bus, "me"), {"/tf": [], "/diagnostics": []}
    odometry = {name: [] for name in NAMES}
    for topic, kept in heard.items():
        me.subscribe(topic, bus.types[topic], lambda m, _, kept=kept: kept.append(m), Qos.STATE)
    for name, kept in odometry.items():
        topic = f"/{name}/prime/odometry"
        me.subscribe(topic, bus.types[topic], lambda m, _, kept=kept: kept.append(m), Qos.STATE)
    play_to_both(bus, nodes, messages[:1300])
    frames = {name: set() for name in NAMES}
    for name, kept in odometry.items():
        assert len(kept) > 20  # both estimate
        frames[name] |= {kept[-1].header.frame_id, kept[-1].child_frame_id}
        assert frames[name] == {f"{name}/odom", f"{name}/base"}
    edges = {(t.header.frame_id, t.child_frame_id) for m in heard["/tf"] for t in m.transforms}
    assert edges == {(f"{name}/odom", f"{name}/base") for name in NAMES}
    assert wait(lambda: len({a.status[0].name for a in list(heard["/diagnostics"])}) == 2)
    entries = {(s.name, s.hardware_id) for a in list(heard["/diagnostics"]) for s in a.status}
    for name in NAMES:
        mine = {entry for entry in entries if entry[1] == f"{name}/go2"}
        assert mine and all(part.startswith(f"{name}/prime: ") for part, _ in mine)
    assert len({name for name, _ in entries}) == len(entries)
    assert {
        t for t in bus.types if "/prime/" in t and not t.startswith(("/robot1/", "/robot2/"))
    } == set()


def test_frames_have_the_prefix_but_for_a_shared_world():
    robot = Robot.load("go2")
    config, make = Config.load("go2").estimator, InProcessTransport(Bus(), "me").make
    alone = Outputs(robot, config, make)
    assert (alone.world_frame, alone.base_frame) == ("odom", "base")
    shared = Outputs(robot, config, make, "/map", "robot1/")
    assert (shared.world_frame, shared.base_frame) == ("map", "robot1/base")
    assert shared._frames["FL_foot"][0] == "robot1/FL_foot"


def test_two_estimators_of_one_name_are_called_out(caplog):
    bus, config = Bus(), Config.load("go2")
    robot, nodes = Robot(config.robot), []
    for _ in range(2):
        nodes.append(EstimatorNode(InProcessTransport(bus, "prime"), robot, config))
    me, heard = InProcessTransport(bus, "me"), []
    me.subscribe("/diagnostics", bus.types["/diagnostics"], lambda m, _: heard.append(m))
    assert graph_name(nodes[0].transport) == "prime"
    with caplog.at_level("WARNING", "prime.estimator"):
        for node in nodes:
            node.start()
        try:
            assert wait(lambda: any("another estimator" in r.getMessage() for r in caplog.records))
            assert wait(lambda: heard and "another estimator" in heard[-1].status[0].message)
        finally:
            for node in nodes:
                node.stop()


def test_an_entry_of_level_error_says_why():
    bus, config = Bus(), Config.load("go2")
    node = EstimatorNode(InProcessTransport(bus, "prime"), Robot(config.robot), config)
    me, heard = InProcessTransport(bus, "me"), []
    me.subscribe("/diagnostics", bus.types["/diagnostics"], lambda m, _: heard.append(m))
    node.start()
    try:
        assert wait(lambda: heard)
    finally:
        node.stop()
    entry = heard[-1].status[0]
    assert entry.level == type(entry).ERROR
    assert "joint_states: nothing came in" in entry.message and "imu: nothing" in entry.message
