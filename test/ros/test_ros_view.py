# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Source of the browser view under real rclpy: it hears a node that speaks Cyclone DDS or rclpy."""

import time

import pytest

rclpy = pytest.importorskip("rclpy")

from helpers.motions import START_NS, gliding, messages  # noqa: E402
from helpers.waiting import wait  # noqa: E402

from prime_estimation.nodes.viewer import NodeSource  # noqa: E402
from prime_estimation.output_messages import TOPICS  # noqa: E402
from prime_estimation.robot import Robot  # noqa: E402
from prime_estimation.transport.dds import DdsTransport  # noqa: E402
from prime_estimation.transport.ros import RosTransport  # noqa: E402


def test_a_view_through_rclpy(tester, domain):
    robot = Robot.load("go2")
    node, view = DdsTransport("prime", domain=domain), RosTransport(tester)
    view.pause_s = 0.05
    try:
        send = {name: node.publish(f"/prime/{name}", kind) for name, kind in TOPICS.items()}
        source = NodeSource(view, robot, "/prime")
        source.start()
        assert wait(lambda: view.publishers("/prime/odometry") > 0)
        for k in range(100):
            for topic, message in messages(robot, gliding(robot, k)).items():
                if topic in send:
                    send[topic](message)
            time.sleep(0.01)
        assert wait(lambda: len(source.track.series["joint_states"]) > 80)
        moment = source.track.at(source.track.span_ns[1])
        assert moment.stamp_ns > START_NS and moment.inertia["total_mass"] > robot.total_mass
        assert moment.contacts["force"][:, 2].sum() == 160.0 and source.error is None
    finally:
        view.close()
        node.close()
