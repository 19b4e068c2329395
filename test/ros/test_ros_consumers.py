# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The nodes that follow the estimate, each as an executable under real rclpy, beside an estimator
of a recorded robot that sways with a payload."""

import time

import numpy as np
import pytest

rclpy = pytest.importorskip("rclpy")

from helpers.processes import node  # noqa: E402
from helpers.ros_calls import executable  # noqa: E402
from helpers.waiting import wait  # noqa: E402
from rclpy.qos import DurabilityPolicy, QoSProfile  # noqa: E402

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
WEIGHT = (16.085 + 3.0) * 9.81  # N, with the payload
PLANS = 50  # a second of them
RATE = 0.4  # of time
LOWER = -0.075  # m: the recorded trunk, from where the controller would have it


@pytest.fixture
def heard(tester):
    """What the consumers say, by topic."""
    from sensor_msgs.msg import JointState
    from std_msgs.msg import UInt64
    from visualization_msgs.msg import MarkerArray

    from prime_estimation_msgs.msg import ContactWrenches, InertialParameters

    kinds = {
        "/prime/inertial_parameters": (InertialParameters, LATCHED),
        "/inertia_listener/applied": (UInt64, LATCHED),
        "/markers/inertia": (MarkerArray, LATCHED),
        "/mpc/joint_commands": (JointState, 10),
        "/mpc/contact_wrenches": (ContactWrenches, 10),
    }
    messages = {topic: [] for topic in kinds}
    subscriptions = [
        tester.create_subscription(kind, topic, messages[topic].append, qos)
        for topic, (kind, qos) in kinds.items()
    ]
    yield messages
    for subscription in subscriptions:
        tester.destroy_subscription(subscription)


def test_consumers_follow_the_estimate(tester, domain, heard, recorded_runs):
    from geometry_msgs.msg import Vector3

    # light work, and time that passes slowly: six programs share what may be two cores, and states
    # that are late by the clock are not obeyed
    slow = ["-p", "use_sim_time:=true"]
    light = [*slow, "-p", "estimator.iterations:=1", "-p", "node.odometry_rate:=100.0"]
    programs = [
        executable("inertia_listener"),
        executable("markers"),
        executable("mpc", "--ros-args", "-p", "rate:=100.0", *slow),
        executable("estimator", "--ros-args", "-p", "robot:=go2", *light),
    ]
    posture = tester.create_publisher(Vector3, "/mpc/posture", LATCHED)
    try:
        assert wait(
            lambda: (
                tester.count_subscribers("/imu")
                and tester.count_subscribers("/prime/odometry")
                and posture.get_subscription_count()
            ),
            30.0,
        )
        posture.publish(Vector3(z=LOWER))
        player = node(
            "replay",
            "--bag",
            recorded_runs / "go2_sway_payload3",
            "--duration",
            11.0,
            "--clock",
            "--rate",
            RATE,
            domain=domain,
        )
        end = time.monotonic() + 60.0
        while time.monotonic() < end and not (
            all(heard.values())
            and heard["/prime/inertial_parameters"][-1].valid
            and (len(heard["/mpc/contact_wrenches"]) >= PLANS or not player.running())
        ):
            rclpy.spin_once(tester, timeout_sec=0.1)
        assert player.wait(30.0)[0] == 0
    finally:
        ends = [program.stop() for program in programs]
        tester.destroy_publisher(posture)
    assert all(code == 0 and "Traceback" not in err for code, _, err in ends), ends
    assert all(heard.values()), {topic: len(messages) for topic, messages in heard.items()}
    (marker,) = heard["/markers/inertia"][-1].markers
    assert (
        marker.header.frame_id == "base"
        and min(marker.scale.x, marker.scale.y, marker.scale.z) > 0.05
    )
    assert (
        np.isfinite(heard["/mpc/joint_commands"][-1].effort).all()
        and len(heard["/mpc/joint_commands"][-1].effort) == 12
    )
    planned = [
        sum(contact.wrench.force.z for contact in message.contacts)
        for message in heard["/mpc/contact_wrenches"]
    ]
    # all feet stand, and the motion goes on whatever the controller wants
    assert np.median(planned) == pytest.approx(WEIGHT, rel=0.5)
