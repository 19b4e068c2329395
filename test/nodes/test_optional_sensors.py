# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Optional sensors in the live node."""

import dataclasses
import heapq

import numpy as np
import pytest
from helpers.added_sensors import ContactSwitches, FootForceSensor, LidarOdometry
from helpers.models import robot
from helpers.waiting import wait

from prime_estimation.config.parameters import Config
from prime_estimation.errors import ConfigError
from prime_estimation.io.messages import stamp_ns
from prime_estimation.io.typestore import typestore
from prime_estimation.nodes.sensors import expected_sensors


def merged(go2_payload3, messages, more: dict):
    """The messages, with those of sensors by role among them, in order of arrival."""
    make = typestore().types.__getitem__
    added = [[(at, role, m) for at, _, m in of(go2_payload3, make)] for role, of in more.items()]
    own = [(stamp_ns(m.header), role, m) for role, m in messages]
    end = max(at for at, *_ in own)
    merged = heapq.merge(own, *added, key=lambda event: event[0])
    return [(role, m) for at, role, m in merged if at <= end]


def are_used(status, names) -> bool:
    """Sensors of these names are well, and what they read is as expected."""
    told = [s for s in status.sensors if s.name in names]
    well = (s.ok and not s.message and 0.0 < s.normalized_innovation < 4.0 for s in told)
    return len(told) == len(names) and all(well)


def test_their_readings_are_used(graph, go2_payload3, messages):
    g = graph(node={"sensors": "foot_force, external_odometry", "mocap": False})
    scales = FootForceSensor.drawn(robot("go2").feet, 1)
    more = {"foot_force": scales, "external_odometry": LidarOdometry(dropouts=0.0)}
    g.play(merged(go2_payload3, messages, more))
    assert wait(lambda: len(g.heard["status"]) > 200)
    # on a computer under load messages come in bursts, between which there are none
    assert any(are_used(status, more) for status in g.heard["status"][-50:])
    assert g.heard["status"][-1].dropped_samples == 0


def test_unknown_sensor_is_named():
    node = Config.load("go2").updated({"node": {"sensors": "foot_force, radar"}}).node
    with pytest.raises(
        ConfigError, match="no optional sensor 'radar'; there are mocap, foot_force"
    ):
        expected_sensors(node)


@pytest.fixture
def with_targets(messages):
    """The messages without torque; what was measured is what the motors are told."""
    kind = typestore().types["prime_estimation_msgs/msg/MotorCommands"]
    out = []
    for role, m in messages:
        if role == "joint_states":
            zero = np.zeros(len(m.name))
            arrays = dict(position=zero, velocity=zero, stiffness=zero, damping=zero)
            out.append(("joint_targets", kind(m.header, list(m.name), effort=m.effort, **arrays)))
            m = dataclasses.replace(m, effort=np.zeros(0))
        out.append((role, m))
    return out


def test_torque_of_joint_targets(graph, with_targets):
    g = graph(node={"sensors": "joint_targets", "mocap": False})
    g.play(with_targets)
    assert wait(lambda: len(g.heard["status"]) > 200)
    status = g.heard["status"][-1]
    health = {s.name: s for s in status.sensors}
    assert health["torque"].ok and status.dropped_samples == 0
    assert health["torque"].message == "made of joint targets, not measured"
    assert g.node.latest.bodies[0].observable


def test_contact_flags_and_an_orientation_that_does_not_come(graph, go2_payload3, messages):
    """Flags agree with the forces of torques; this IMU has no filter of its own, which is said."""
    g = graph(node={"sensors": "contact_flags, imu_orientation", "mocap": False})
    g.play(merged(go2_payload3, messages, {"contact_flags": ContactSwitches(robot("go2").feet)}))
    assert wait(lambda: len(g.heard["status"]) > 200)
    health = {s.name: s for s in g.heard["status"][-1].sensors}
    assert health["contact_flags"].ok and health["contact_flags"].normalized_innovation < 4.0
    assert health["imu_orientation"].message == "no data" and not health["imu_orientation"].ok
    assert g.heard["status"][-1].dropped_samples == 0
