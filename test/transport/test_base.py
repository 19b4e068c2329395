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


@pytest.mark.parametrize("name", ["", "1st", "a-b", "a/b", "a b", "müller"])
def test_bad_node_name(name):
    with pytest.raises(ConfigError, match="no name for a node"):
        Names(name)


@pytest.mark.parametrize(
    "names",
    [
        {"namespace": "a b"},
        {"namespace": "/1st"},
        {"remap": {"imu": "my imu"}},
        {"remap": {"i-mu": "x"}},
        {"remap": {"imu": ""}},
        {"remap": {"": "imu"}},
    ],
)
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


def test_senders_do_not_wait_for_each_others_locks():
    """A callback needs a lock that another thread holds, which sends meanwhile.

    What that sends is delivered after all.
    """
    bus, lock, got = Bus(), threading.Lock(), []
    transport = InProcessTransport(bus, "a")
    x, y, inside = transport.publish("x", UINT), transport.publish("y", UINT), threading.Event()

    def needs_the_lock(message, _):
        inside.set()
        with lock:
            got.append(message.data)

    transport.subscribe("x", UINT, needs_the_lock)
    transport.subscribe("y", UINT, lambda message, _: got.append(message.data))
    with lock:
        other = threading.Thread(target=x, args=(transport.make(UINT)(data=1),), daemon=True)
        other.start()
        assert inside.wait(5.0)
        mine = threading.Thread(target=y, args=(transport.make(UINT)(data=2),), daemon=True)
        mine.start()
        mine.join(5.0)
        assert not mine.is_alive()
    other.join(5.0)
    assert got == [1, 2]


def test_what_a_callback_sends_comes_after_what_it_heard():
    bus, got = Bus(), []
    transport = InProcessTransport(bus, "a")
    x, y = transport.publish("x", UINT), transport.publish("y", UINT)
    transport.subscribe("x", UINT, lambda message, _: y(message))
    transport.subscribe("x", UINT, lambda message, _: got.append(("x", message.data)))
    transport.subscribe("y", UINT, lambda message, _: got.append(("y", message.data)))
    x(transport.make(UINT)(data=3))
    assert got == [("x", 3), ("y", 3)]


def test_one_topic_has_one_type():
    transport = InProcessTransport(Bus(), "a")
    transport.publish("x", UINT)
    with pytest.raises(DataError, match="has type std_msgs/msg/UInt64, not std_msgs/msg/String"):
        transport.subscribe("x", "std_msgs/msg/String", lambda *_: None)


def test_service():
    transport = InProcessTransport(Bus(), "a")
    transport.serve(
        "~/set",
        "std_srvs/srv/SetBool",
        lambda request: {"success": bool(request.data), "message": "done"},
    )
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
    local = domain_config(
        {"ROS_AUTOMATIC_DISCOVERY_RANGE": "localhost", "ROS_STATIC_PEERS": "10.0.0.7;host"}
    )
    assert all(f'address="{p}"' for p in ("10.0.0.7", "host", "127.0.0.1"))
    assert local.count("<Peer ") == 3 and "<AllowMulticast>false" in local
    off = domain_config({"ROS_AUTOMATIC_DISCOVERY_RANGE": "OFF", "ROS_STATIC_PEERS": "10.0.0.7"})
    assert "Peers" not in off and "<AllowMulticast>false" in off
    assert domain_config({"CYCLONEDDS_URI": "file:///x.xml"}).startswith(
        "file:///x.xml,<CycloneDDS>"
    )
