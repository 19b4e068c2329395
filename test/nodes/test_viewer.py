# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Running node as a source of the view: it is heard, and hears nothing."""

import os
import threading
import time

import pytest
from helpers.motions import START_NS, gliding, messages
from helpers.waiting import wait

from prime_estimation.errors import DataError
from prime_estimation.nodes.viewer import NodeSource
from prime_estimation.output_messages import TOPICS
from prime_estimation.robot import Robot
from prime_estimation.transport.base import Qos
from prime_estimation.transport.inprocess import Bus, InProcessTransport


@pytest.fixture(scope="module")
def robot():
    return Robot.load("go2")


def publishers(transport, node: str = "/prime") -> dict:
    return {name: transport.publish(f"{node}/{name}", kind) for name, kind in TOPICS.items()}


def say(send: dict, robot: Robot, nodes) -> None:
    for k in nodes:
        for topic, message in messages(robot, gliding(robot, k)).items():
            if topic in send:
                send[topic](message)


def test_what_a_node_says_is_kept(robot):
    bus = Bus()
    send = publishers(InProcessTransport(bus, "prime"), "/a/prime")
    source = NodeSource(InProcessTransport(bus, "view"), robot, "/a/prime")
    say(send, robot, range(2))  # before anybody listens
    source.start()
    assert source.live and source.track.span_ns is None
    say(send, robot, range(2, 6))
    assert source.track.span_ns == (START_NS + 20_000_000, START_NS + 50_000_000)
    source.stop()


def test_it_says_nothing_and_offers_nothing(robot):
    bus = Bus()
    publishers(InProcessTransport(bus, "prime"))
    before = dict(bus.publishers)
    NodeSource(InProcessTransport(bus, "view"), robot, "/prime").start()
    assert dict(bus.publishers) == before and bus.services == {}


class Asked:
    """A transport that notes what is asked of it."""

    def __init__(self):
        self.qualities = {}

    def subscribe(self, topic, type_name, callback, qos=Qos.SENSOR):
        self.qualities[topic] = qos


def test_a_writer_never_waits_for_it(robot):
    """Reliable readers that hang make writers wait; best effort ones cannot."""
    transport = Asked()
    NodeSource(transport, robot, "/prime").start()
    assert transport.qualities == {f"/prime/{name}": Qos.SENSOR for name in TOPICS}


def test_another_robot_is_an_error_and_no_end(robot):
    bus = Bus()
    send = publishers(InProcessTransport(bus, "prime"))
    source = NodeSource(InProcessTransport(bus, "view"), Robot.load("g1"), "/prime")
    source.start()
    say(send, robot, range(2))
    assert isinstance(source.error, DataError)


@pytest.fixture
def domain(monkeypatch):
    """A DDS domain of this run, on loopback."""
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    return 102 + os.getpid() % 100


def test_over_dds(robot, domain):
    pytest.importorskip("cyclonedds")
    from prime_estimation.transport.dds import DdsTransport

    node, view = DdsTransport("prime", domain=domain), DdsTransport("view", domain=domain)
    view.pause_s = 0.05
    stop = threading.Event()
    thread = threading.Thread(target=view.spin, args=(stop,))
    send, source = publishers(node), NodeSource(view, robot, "/prime")
    try:
        source.start()
        thread.start()
        assert wait(lambda: view.publishers("/prime/odometry") and view.publishers("/prime/status"))
        for k in range(100):
            say(send, robot, [k])
            time.sleep(0.01)
        assert wait(lambda: len(source.track.series["joint_states"]) > 80)
        assert source.track.at(source.track.span_ns[1]).inertia is not None
    finally:
        stop.set()
        thread.join()
        view.close()
        node.close()
