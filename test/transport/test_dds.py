# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The transport over real Cyclone DDS on loopback.

Nodes of one process, found and heard like strangers.
"""

import os
import threading
import time

import numpy as np
import pytest

pytest.importorskip("cyclonedds")

from helpers.waiting import wait  # noqa: E402

from prime_estimation.errors import ConfigError  # noqa: E402
from prime_estimation.io.typestore import typestore  # noqa: E402
from prime_estimation.transport.base import Qos  # noqa: E402
from prime_estimation.transport.dds import DdsTransport  # noqa: E402

UINT = "std_msgs/msg/UInt64"
JOINTS = "sensor_msgs/msg/JointState"


@pytest.fixture
def network(local_domain):
    """Function that adds a node; all of them spin until the test ends."""
    nodes, stop, threads = [], threading.Event(), []

    def add(name: str, **options) -> DdsTransport:
        node = DdsTransport(name, domain=local_domain, **options)
        nodes.append(node)
        return node

    def spin() -> None:
        for node in nodes:
            threads.append(threading.Thread(target=node.spin, args=(stop,)))
            threads[-1].start()

    add.spin = spin
    yield add
    stop.set()
    for thread in threads:
        thread.join()
    for node in nodes:
        node.close()


def test_every_message_of_a_burst_arrives_in_order(network):
    a, b, got = network("a"), network("b"), []
    send = a.publish("joint_states", JOINTS, Qos.STATE)
    b.subscribe(
        "joint_states", JOINTS, lambda m, _: got.append((m.header.stamp.nanosec, m.position.copy()))
    )
    network.spin()
    assert wait(lambda: b.publishers("joint_states") == 1)
    make = a.make
    for k in range(500):
        stamp = make("std_msgs/msg/Header")(
            stamp=make("builtin_interfaces/msg/Time")(sec=0, nanosec=k), frame_id=""
        )
        send(
            make(JOINTS)(
                header=stamp,
                name=["x"] * 12,
                position=np.full(12, float(k)),
                velocity=np.zeros(0),
                effort=np.zeros(0),
            )
        )
        time.sleep(0.0005)
    assert wait(lambda: len(got) == 500)
    assert [k for k, _ in got] == list(range(500)) and b.lost("joint_states") == 0
    assert all((position == k).all() and position.shape == (12,) for k, position in got)


def test_late_subscriber_gets_the_latched_message(network):
    a, got = network("a"), []
    a.publish("~/x", UINT, Qos.LATCHED)(a.make(UINT)(data=7))
    b = network("b")
    b.subscribe("/a/x", UINT, lambda m, _: got.append(m.data), Qos.LATCHED)
    network.spin()
    assert wait(lambda: got == [7])


def test_foreign_layout_under_our_type_name_is_not_heard(network):
    from cyclonedds.idl import make_idl_struct, types
    from cyclonedds.pub import DataWriter
    from cyclonedds.topic import Topic

    from prime_estimation.transport.dds_entities import writer_qos

    a, b, c, got = network("a"), network("b"), network("c"), []
    foreign = make_idl_struct(
        "JointState_", "sensor_msgs::msg::dds_::JointState_", {"junk": types.array[types.uint8, 61]}
    )
    writer = DataWriter(
        a._participant,
        Topic(a._participant, "rt/joint_states", foreign),
        writer_qos(Qos.STATE, JOINTS),
    )
    send = c.publish("joint_states", JOINTS)
    b.subscribe("joint_states", JOINTS, lambda m, _: got.append(m))
    network.spin()
    # Cyclone compares the layouts of its own kind
    assert wait(lambda: b.publishers("joint_states") == 1)
    for fill in (0, 255, 7):
        writer.write(foreign(junk=[fill] * 61))
    send(_empty_joints(c.make))
    assert wait(lambda: len(got) == 1)


def test_undecodable_bytes_are_counted(local_domain):
    node, got = DdsTransport("a", domain=local_domain), []
    node.subscribe("joint_states", JOINTS, lambda m, _: got.append(m))
    deliver = node._subscriptions[-1].callback
    good = bytes(typestore().serialize_cdr(_empty_joints(node.make), JOINTS))
    for raw in (
        b"",
        b"\0\1",
        b"\0\1\0\0" + b"\xff" * 40,
        good[:9],
        good + b"\0" * 64,
        b"\7\7\0\0" + good[4:],
    ):
        deliver(raw)
    deliver(good)
    assert len(got) == 1 and node.rejected["/joint_states"] == 6
    node.close()


def _empty_joints(make):
    stamp = make("std_msgs/msg/Header")(
        stamp=make("builtin_interfaces/msg/Time")(sec=0, nanosec=0), frame_id=""
    )
    return make(JOINTS)(
        header=stamp, name=[], position=np.zeros(0), velocity=np.zeros(0), effort=np.zeros(0)
    )


def test_two_publishers_are_seen_and_topics_are_found_by_type(network):
    a, b, c = network("a"), network("b"), network("c")
    a.publish("x", UINT)
    b.publish("x", UINT)
    b.publish("y", UINT)
    c.subscribe("x", UINT, lambda *_: None)
    assert wait(lambda: c.publishers("x") == 2)
    assert wait(lambda: c.topics_of(UINT) == ["/x", "/y"])
    assert c.topics_of(JOINTS) == []
    # in the graph, whether one listens to them or is one of them
    assert a.announced("x") == 2 and c.announced("y") == 1 and c.announced("z") == 0


def test_sensor_messages_that_nobody_took_in_time_are_counted(network):
    a, b, got = network("a"), network("b"), []
    send, make = a.publish("x", UINT), a.make(UINT)
    b.subscribe("x", UINT, lambda m, _: got.append(m.data))
    assert wait(lambda: b.publishers("x") == 1)
    for k in range(1000):  # nobody spins yet
        send(make(data=k))
    time.sleep(0.2)
    network.spin()
    assert wait(lambda: len(got) + b.lost("x") == 1000) and b.lost("x") > 500


def test_two_domains_share_nothing(network, local_domain):
    a, apart = network("prime"), DdsTransport("prime", domain=local_domain + 100)
    try:
        a.publish("~/status", UINT)
        apart.publish("~/status", UINT)
        assert not wait(lambda: a.announced("~/status") > 1 or apart.announced("~/status") > 1, 1.0)
    finally:
        apart.close()


def test_service_answers_with_the_id_of_the_request(network):
    a, b, got = network("a"), network("b"), []
    a.serve(
        "~/set",
        "std_srvs/srv/SetBool",
        lambda request: {"success": not request.data, "message": "as asked"},
    )
    b._subscribe_raw("rr/a/setReply", "std_srvs/srv/SetBool_Response", got.append, Qos.STATE)
    ask = b._publish_raw("rq/a/setRequest", "std_srvs/srv/SetBool_Request", Qos.STATE)
    network.spin()
    identity = bytes(range(16))
    assert wait(
        lambda: a._subscriptions[-1].reader.get_subscription_matched_status().current_count == 1
    )
    assert wait(
        lambda: b._subscriptions[-1].reader.get_subscription_matched_status().current_count == 1
    )
    ask(b"\0\1\0\0" + identity + b"\1\0\0\0")
    assert wait(lambda: len(got) == 1)
    assert got[0][4:20] == identity
    response = typestore().deserialize_cdr(
        got[0][:4] + got[0][20:], "std_srvs/srv/SetBool_Response"
    )
    assert response.success is False and response.message == "as asked"


def test_a_request_over_which_a_handler_stumbles_ends_nothing(network):
    """It is counted, and what comes next is answered and heard as before."""
    a, b, heard = network("a"), network("b"), []
    a.serve("~/set", "std_srvs/srv/SetBool", lambda request: {"success": 1 / int(request.data)})
    a.subscribe("imu", "std_msgs/msg/String", lambda message, _: heard.append(message.data))
    ask = b._publish_raw("rq/a/setRequest", "std_srvs/srv/SetBool_Request", Qos.STATE)
    say = b.publish("imu", "std_msgs/msg/String", Qos.SENSOR)
    network.spin()
    for s in a._subscriptions[-2:]:
        assert wait(lambda s=s: s.reader.get_subscription_matched_status().current_count == 1)
    for _ in range(2):
        ask(b"\0\1\0\0" + bytes(20))
    assert wait(lambda: a.rejected["/a/set"] == 2)
    say(typestore().types["std_msgs/msg/String"](data="on"))
    assert wait(lambda: heard == ["on"])


def test_the_graph_of_ros_shows_node_and_type_hash(network):
    a, b, seen = network("prime", namespace="robot1"), network("b"), {}
    a.publish("~/status", "prime_estimation_msgs/msg/EstimatorStatus")
    a.subscribe("imu", "sensor_msgs/msg/Imu", lambda *_: None)

    def note(message, _) -> None:
        for node in message.node_entities_info_seq:
            seen[node.node_name] = (
                node.node_namespace,
                len(node.reader_gid_seq),
                len(node.writer_gid_seq),
            )

    b.subscribe(
        "/ros_discovery_info",
        "rmw_dds_common/msg/ParticipantEntitiesInfo",
        note,
        Qos.LATCHED,
        prefix="",
    )
    network.spin()
    assert wait(lambda: seen.get("prime") == ("/robot1", 1, 1))
    from cyclonedds.builtin import BuiltinDataReader, BuiltinTopicDcpsPublication
    from cyclonedds.core import Policy

    def user_data() -> list[bytes]:
        found = BuiltinDataReader(b._participant, BuiltinTopicDcpsPublication).read(N=1000)
        return [
            e.qos[Policy.Userdata].data for e in found if e.topic_name == "rt/robot1/prime/status"
        ]

    expected = (
        f"typehash={typestore().hash_rihs01('prime_estimation_msgs/msg/EstimatorStatus')};".encode()
    )
    assert wait(lambda: user_data() == [expected])


def test_simulated_time(network):
    a, b = network("a"), network("b", use_sim_time=True)
    send = a.publish("/clock", "rosgraph_msgs/msg/Clock", Qos.STATE)
    network.spin()
    assert b.now_ns() == 0 and a.now_ns() > 1e18
    assert wait(lambda: b.publishers("/clock") == 1)
    send(
        a.make("rosgraph_msgs/msg/Clock")(
            clock=a.make("builtin_interfaces/msg/Time")(sec=3, nanosec=4)
        )
    )
    assert wait(lambda: b.now_ns() == 3_000_000_004)


def test_broken_configuration_of_the_user(monkeypatch):
    monkeypatch.setenv(
        "CYCLONEDDS_URI", "<CycloneDDS><Domain><NoSuchThing>1</NoSuchThing></Domain></CycloneDDS>"
    )
    with pytest.raises(ConfigError, match="CYCLONEDDS_URI"):
        DdsTransport("a", domain=231 - os.getpid() % 20)


def test_a_message_that_a_callback_stumbles_over_is_counted_and_others_go_on(network, caplog):
    a, b, got = network("a"), network("b"), []
    send = a.publish("numbers", UINT, Qos.STATE)
    b.subscribe("numbers", UINT, lambda m, _: got.append(10 // m.data), Qos.STATE)
    network.spin()
    assert wait(lambda: b.publishers("numbers") == 1)
    for number in (5, 0, 2):
        send(a.make(UINT)(data=number))
    assert wait(lambda: got == [2, 5]) and b.rejected["/numbers"] == 1
    assert "message 1 on /numbers that cannot be used: ZeroDivisionError" in caplog.text
