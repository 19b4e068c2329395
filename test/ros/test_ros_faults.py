# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Under real rclpy: what users and networks do to the nodes, and what must not end them."""

import sys
import threading
import types

import numpy as np
import pytest

rclpy = pytest.importorskip("rclpy")

from helpers.ros_calls import call, executable  # noqa: E402
from helpers.short_bags import beginning  # noqa: E402
from helpers.waiting import wait  # noqa: E402

from prime_estimation.io.bag import BagWriter  # noqa: E402
from prime_estimation.transport import ros_entities  # noqa: E402
from prime_estimation.transport.ros import RosTransport  # noqa: E402
from prime_estimation.transport.ros_entities import interface  # noqa: E402


@pytest.fixture
def estimator(domain):
    program = executable("estimator", "--ros-args", "-p", "robot:=go2")
    yield program
    code, _, err = program.stop()
    assert code == 0 and "Traceback" not in err


# --- what must not end the node -------------------------------------------------------------------


def test_a_transition_that_makes_no_sense_does_not_end_the_node(tester, estimator):
    from lifecycle_msgs.msg import Transition
    from lifecycle_msgs.srv import ChangeState, GetState

    client = tester.create_client(ChangeState, "/prime/change_state")
    assert client.wait_for_service(10.0)
    # it is active
    future = client.call_async(
        ChangeState.Request(transition=Transition(id=Transition.TRANSITION_ACTIVATE))
    )
    rclpy.spin_until_future_complete(tester, future, timeout_sec=1.0)
    tester.destroy_client(client)
    assert (
        call(tester, GetState, "/prime/get_state", GetState.Request()).current_state.label
        == "active"
    )


def test_a_transition_that_fails_says_why_and_takes_back_what_it_began(domain, tmp_path):
    changes = tmp_path / "changes.yaml"
    changes.write_text(
        "robot:\n  contacts:\n    - {name: 'not a topic', frame: FL_foot, radius: 0.02}\n"
    )
    code, _, err = executable("estimator", "--ros-args", "-p", f"config:={changes}").wait(30.0)
    assert code == 2 and "not a topic" in err and "Traceback" not in err


def test_log_lines_of_every_severity_from_one_place(tester):
    import logging

    from prime_estimation.nodes.ros.rosout import log_to_rosout

    log_to_rosout(tester)
    log = logging.getLogger("prime.test")
    try:
        for level in (logging.WARNING, logging.INFO, logging.ERROR, logging.WARNING):
            log.log(level, "said with level %d", level)
    finally:
        logging.getLogger("prime").handlers.pop()


def test_misspelt_parameters_are_refused(domain, tmp_path):
    path = tmp_path / "parameters.yaml"
    path.write_text(
        "prime:\n  ros__parameters:\n    robot: go2\n    noise.gyroo: 0.006\n    "
        "qos_overrides./imu.subscription.depth: 7\n"
    )
    code, _, err = executable("estimator", "--ros-args", "--params-file", path).wait(30.0)
    assert (
        code == 2
        and "unknown key 'noise.gyroo'; did you mean 'gyro'?" in err
        and "Traceback" not in err
    )


def test_simple_nodes_take_whole_numbers_and_refuse_words(domain):
    bag = ("-p", "bag:=/no/such/bag")
    code, _, err = executable("replay", "--ros-args", *bag, "-p", "rate:=2").wait(30.0)
    assert code == 2 and "no such bag" in err
    code, _, err = executable("replay", "--ros-args", *bag, "-p", "rate:=fast").wait(30.0)
    assert (
        code == 2
        and "parameter rate must be of type float, got 'fast'" in err
        and "Traceback" not in err
    )


@pytest.mark.parametrize("given", ["autostart:=0", "bag:=20240101", "robot:=2"])
def test_own_parameters_of_another_type_are_refused_in_one_line(domain, given):
    code, _, err = executable("estimator", "--ros-args", "-p", given).wait(30.0)
    assert code == 2 and f"parameter {given.split(':=')[0]}: " in err and "Traceback" not in err


def test_parameters_that_no_node_has_are_named(domain):
    given = ("-p", "robt:=g1", "-p", "qos_overrides./imu.subscription.depth:=7")
    bag = ("-p", "bag:=/no/such/bag")
    for name in ("estimator", "replay"):
        _, _, err = executable(name, "--ros-args", *given, *bag).wait(30.0)
        assert "this node has no parameter robt: not used" in err


@pytest.mark.parametrize("given", ["reliability:=sometimes", "depth:=many", "depth:=-1"])
def test_a_quality_of_service_that_is_none_is_one_line(domain, given):
    for name, topic in (("markers", "/prime/inertial_parameters"), ("estimator", "/imu")):
        override = f"qos_overrides.{topic}.subscription.{given}"
        code, _, err = executable(name, "--ros-args", "-p", override).wait(30.0)
        assert code == 2 and f"qos_overrides.{topic}: " in err
        assert "Traceback" not in err and "a bug" not in err


def test_a_recording_that_cannot_be_read_is_a_failure(domain, tmp_path):
    with BagWriter(tmp_path / "cut.mcap") as writer:
        writer.add_topic("/imu", "sensor_msgs/msg/Imu")
        writer._writer.write(writer._connections["/imu"], 10**18, b"\0\1\0\0" + 3 * b"\xff")
    given = ("-p", f"bag:={tmp_path / 'cut.mcap'}")
    code, _, err = executable("estimator", "--ros-args", *given).wait(60.0)
    assert code == 2 and "none of 1 messages on /imu can be decoded" in err
    assert "Traceback" not in err


def test_a_recording_is_estimated_whatever_the_input_of_the_node(domain, tmp_path, recorded_runs):
    bag = beginning(recorded_runs / "go2_payload3", tmp_path / "short.mcap", 1.0)
    (tmp_path / "robot.yaml").write_text("node: {input: lowstate}")
    given = ("-p", f"bag:={bag}", "-p", f"config:={tmp_path / 'robot.yaml'}")
    code, _, err = executable("estimator", "--ros-args", *given).wait(60.0)
    assert code == 0 and "waiting: lowstate" not in err


# --- the transport --------------------------------------------------------------------------------


@pytest.fixture
def remapped(tester):
    nodes, stop = [], threading.Event()

    def add(*remaps: str) -> RosTransport:
        node = rclpy.create_node(
            f"remapped_{len(nodes)}",
            cli_args=["--ros-args", *(p for r in remaps for p in ("-r", r))],
        )
        nodes.append((node, RosTransport(node)))
        thread = threading.Thread(target=nodes[-1][1].spin, args=(stop,))
        thread.start()
        threads.append(thread)
        return nodes[-1][1]

    threads: list[threading.Thread] = []
    yield add
    stop.set()
    for thread in threads:
        thread.join()
    for node, transport in nodes:
        transport.close()
        node.destroy_node()


def test_publishers_are_counted_under_remapping(tester, remapped):
    transport = remapped("mocap/pose:=/vrpn/go2/pose")
    transport.subscribe("mocap/pose", "geometry_msgs/msg/PoseStamped", lambda *_: None)
    publisher = tester.create_publisher(
        interface("geometry_msgs/msg/PoseStamped"), "/vrpn/go2/pose", 1
    )
    assert transport.full("mocap/pose") == "/vrpn/go2/pose"
    assert wait(lambda: transport.publishers("mocap/pose") == 1, 10.0)
    tester.destroy_publisher(publisher)


def test_a_message_that_a_callback_stumbles_over_is_counted_and_others_go_on(tester, remapped):
    transport, got = remapped(), []
    transport.subscribe("/numbers", "std_msgs/msg/UInt64", lambda m, _: got.append(10 // m.data))
    kind = interface("std_msgs/msg/UInt64")
    publisher = tester.create_publisher(kind, "/numbers", 10)
    assert wait(lambda: publisher.get_subscription_count() == 1, 10.0)
    for number in (5, 0, 2):
        publisher.publish(kind(data=number))
    assert wait(lambda: got == [2, 5], 10.0) and transport.rejected["/numbers"] == 1
    tester.destroy_publisher(publisher)


def test_lost_messages_are_reported(tester, remapped, monkeypatch):
    transport = remapped()
    transport.subscribe("/numbers", "std_msgs/msg/UInt64", lambda *_: None)
    subscription = transport._subscriptions[0][0]
    now = [1e6]
    monkeypatch.setattr(ros_entities, "time", types.SimpleNamespace(monotonic=lambda: now[0]))
    group, events = subscription.callback_group, subscription.event_handlers

    def looked_at() -> set[bool]:
        assert not group.can_execute(subscription)
        return {group.can_execute(event) for event in events}

    assert events and looked_at() == {True}
    now[0] += 0.5
    assert looked_at() == {False}
    now[0] += 0.6
    assert looked_at() == {True}


def test_an_executor_looks_at_events_once_a_second(monkeypatch):
    """While it does, it wakes up with each message: for a tenth of a second in each, odometry came
    60 ms late for it."""
    now = [100.0]
    monkeypatch.setattr(ros_entities, "time", types.SimpleNamespace(monotonic=lambda: now[0]))
    group, looks = ros_entities.hands_off(), []
    for _ in range(3000):  # messages of three seconds
        asked = {group.can_execute(event) for event in ("of one topic", "of another")}
        looks.append(asked.pop())
        assert not asked
        now[0] += 0.001
    at = np.flatnonzero(looks) * 0.001
    begun = at[np.r_[True, np.diff(at) > 0.5]]
    np.testing.assert_allclose(begun, [0.0, 1.0, 2.0], atol=0.005)
    assert len(at) <= 6


def test_humble_has_its_events_elsewhere(monkeypatch):
    from prime_estimation.transport.ros_entities import event_callbacks

    humble = types.ModuleType("rclpy.qos_event")
    humble.SubscriptionEventCallbacks = type("SubscriptionEventCallbacks", (), {})
    monkeypatch.setitem(sys.modules, "rclpy.event_handler", None)
    monkeypatch.setitem(sys.modules, "rclpy.qos_event", humble)
    assert event_callbacks() is humble.SubscriptionEventCallbacks


def test_messages_that_came_faster_than_they_were_taken_are_counted(tester, remapped):
    transport, got, held = remapped(), [], threading.Event()
    transport.subscribe(
        "/numbers",
        "std_msgs/msg/UInt64",
        lambda m, _: got.append(m.data) or (m.data == 1 and held.wait(10.0)),
    )
    kind = interface("std_msgs/msg/UInt64")
    publisher = tester.create_publisher(kind, "/numbers", 10)
    assert wait(lambda: publisher.get_subscription_count() == 1, 10.0)
    for number in range(1000):
        publisher.publish(kind(data=number))
        assert number > 1 or wait(lambda: len(got) == number + 1, 10.0)
    held.set()
    assert wait(lambda: got and got[-1] == 999, 10.0)
    assert len(got) < 1000 and len(got) + transport.lost("/numbers") == 1000
    tester.destroy_publisher(publisher)
