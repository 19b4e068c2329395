# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Names, and the transport inside a process."""

import threading

import pytest

from prime_estimation.errors import ConfigError, DataError
from prime_estimation.transport.base import Names, Qos
from prime_estimation.transport.environment import domain_config, domain_id
from prime_estimation.transport.inprocess import Bus, InProcessTransport

UINT = "std_msgs/msg/UInt64"


def test_names_follow_the_rules_of_ros():
    names = Names("prime", "robot1", {"mocap/pose": "/vrpn/go2/pose", "~/odometry": "odom"})
    assert names.full("imu") == "/robot1/imu"
    assert names.full("~/status") == "/robot1/prime/status"
    assert names.full("/tf") == "/tf"
    assert names.full("mocap/pose") == "/vrpn/go2/pose"
    assert names.full("~/odometry") == "/robot1/odom"
    assert Names("prime").full("imu") == "/imu"


@pytest.mark.parametrize("name", ["", "1st", "a-b", "a/b", "a b"])
def test_bad_node_name(name):
    with pytest.raises(ConfigError, match="no name for a node"):
        Names(name)


@pytest.mark.parametrize("names", [{"namespace": "a b"}, {"namespace": "/1st"}, {"remap": {"imu": "my imu"}}, {"remap": {"i-mu": "x"}}])
def test_bad_names_in_the_graph(names):
    with pytest.raises(ConfigError, match="is no name in a ROS graph"):
        Names("prime", **names)


def test_messages_reach_all_subscribers_and_latched_ones_the_late():
    bus, got = Bus(), []
    a, b = InProcessTransport(bus, "a"), InProcessTransport(bus, "b", clock=lambda: 42)
    send = a.publish("~/x", UINT, Qos.LATCHED)
    send(a.make(UINT)(data=1))
    b.subscribe("/a/x", UINT, lambda m, t: got.append((m.data, t)), Qos.LATCHED)
    b.subscribe("/a/x", UINT, lambda m, t: got.append((-m.data, t)), Qos.STATE)
    send(a.make(UINT)(data=2))
    assert got == [(1, 42), (2, 42), (-2, 42)]
    assert b.publishers("/a/x") == 1 and b.topics_of(UINT) == ["/a/x"] and b.lost("/a/x") == 0


def test_one_topic_has_one_type():
    transport = InProcessTransport(Bus(), "a")
    transport.publish("x", UINT)
    with pytest.raises(DataError, match="has type std_msgs/msg/UInt64, not std_msgs/msg/String"):
        transport.subscribe("x", "std_msgs/msg/String", lambda *_: None)


def test_service():
    transport = InProcessTransport(Bus(), "a")
    transport.serve("~/set", "std_srvs/srv/SetBool", lambda request: {"success": bool(request.data), "message": "done"})
    answer = transport.call("~/set", transport.make("std_srvs/srv/SetBool_Request")(data=True))
    assert answer.success and answer.message == "done"


def test_spin_ends():
    stop = threading.Event()
    threading.Timer(0.05, stop.set).start()
    InProcessTransport(Bus(), "a").spin(stop)


def test_domain(monkeypatch):
    monkeypatch.delenv("ROS_DOMAIN_ID", raising=False)
    assert domain_id() == 0
    monkeypatch.setenv("ROS_DOMAIN_ID", "17")
    assert domain_id() == 17 and domain_id(3) == 3
    for wrong in ("x", "233", "-1"):
        monkeypatch.setenv("ROS_DOMAIN_ID", wrong)
        with pytest.raises(ConfigError, match="0 to 232"):
            domain_id()


def test_network_variables_of_ros():
    plain = domain_config({})
    assert "Peers" not in plain and "IgnoreTypeInformation" in plain and not plain.startswith(",")
    local = domain_config({"ROS_AUTOMATIC_DISCOVERY_RANGE": "localhost", "ROS_STATIC_PEERS": "10.0.0.7;host"})
    assert all(f'address="{p}"' for p in ("10.0.0.7", "host", "127.0.0.1"))
    assert local.count("<Peer ") == 3 and "<AllowMulticast>false" in local
    off = domain_config({"ROS_AUTOMATIC_DISCOVERY_RANGE": "OFF", "ROS_STATIC_PEERS": "10.0.0.7"})
    assert "Peers" not in off and "<AllowMulticast>false" in off
    assert domain_config({"CYCLONEDDS_URI": "file:///x.xml"}).startswith("file:///x.xml,<CycloneDDS>")
