# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The estimator node on a bus inside the process.

What it publishes, and what it makes of bad input.
"""

import copy
import time
from collections import Counter

import numpy as np
import pytest
from helpers.messages import random_message
from helpers.waiting import wait

from prime_estimation.config.parameters import Config
from prime_estimation.io.messages import stamp_ns
from prime_estimation.io.typestore import typestore
from prime_estimation.io.unitree import FAMILIES
from prime_estimation.nodes.estimator import EstimatorNode
from prime_estimation.robot import Robot
from prime_estimation.transport.inprocess import Bus, InProcessTransport


def all_health(g) -> list:
    """What all statuses so far said of sensors."""
    return [s for m in list(g.heard["status"]) for s in m.sensors]


def test_everything_is_published(graph, messages):
    g = graph()
    g.play(messages)
    assert wait(lambda: len(g.heard["status"]) > 200)
    odometry, status = g.heard["odometry"], g.heard["status"][-1]
    stamps = np.array([stamp_ns(m.header) for m in odometry])
    assert (np.diff(stamps) > 0).all() and len(stamps) > 800  # at IMU rate, and never back in time
    assert odometry[-1].header.frame_id == "odom" and odometry[-1].child_frame_id == "base"
    assert len(g.heard["/tf"]) == len(g.heard["contact_wrenches"]) >= 200
    assert 15 <= len(g.heard["inertial_parameters"]) <= 30  # 10 Hz of data time
    last = g.heard["inertial_parameters"][-1]
    assert last.valid and last.total_mass == pytest.approx(16.085 + 3.0, abs=0.25)
    assert status.dropped_samples == 0 and "imu" in [s.name for s in status.sensors]
    assert all(np.isfinite(s.normalized_innovation) for s in status.sensors)
    assert wait(
        lambda: (
            g.heard["/diagnostics"]
            and any(s.name == "prime: imu" for s in g.heard["/diagnostics"][-1].status)
        )
    )


def test_reset_and_freeze(graph, messages):
    g = graph()
    g.play(messages[:2000])
    assert wait(lambda: len(g.heard["status"]) > 20)
    asked = g.me.make("std_srvs/srv/SetBool_Request")(data=True)
    assert g.me.call("/prime/freeze_inertia", asked).success
    assert wait(lambda: g.node.estimator.monitors.hold.frozen)
    assert g.me.call(
        "/prime/reset",
        g.me.make("std_srvs/srv/Trigger_Request")(structure_needs_at_least_one_member=0),
    ).success
    assert wait(lambda: g.node.estimator.window is None and g.node.latest is None)


def test_silence_is_explained(graph, caplog):
    g = graph()
    g.me.publish("go2/imu", "sensor_msgs/msg/Imu")
    with caplog.at_level("WARNING", "prime.estimator"):
        assert wait(lambda: len(g.heard["status"]) > 3 and caplog.records)
    status = g.heard["status"][-1]
    imu = next(s for s in status.sensors if s.name == "imu")
    assert not imu.ok and imu.message.startswith("nothing came in")
    assert (status.solve_time_ms, status.latency_ms) == (0.0, 0.0)  # which rqt_plot can draw
    line = caplog.records[-1].getMessage()
    assert "expected sensor_msgs/Imu on /imu" in line and "/go2/imu" in line


def test_wrong_robot_is_named(graph, messages):
    g = graph()
    foreign = []
    for role, message in messages[:400]:
        message = copy.deepcopy(message)
        if role == "joint_states":
            message.name = [n.replace("FL_", "left_") for n in message.name]
        foreign.append((role, message))
    g.play(foreign)
    assert wait(lambda: any("FL_hip_joint" in s.message for s in all_health(g)))
    assert wait(
        lambda: (
            g.heard["/diagnostics"]
            and "FL_hip_joint" in g.heard["/diagnostics"][-1].status[0].message
        )
    )
    assert not g.heard["odometry"]
    # a publisher that is put right is accepted at once
    g.play(messages[400:1600])
    assert wait(lambda: len(g.heard["odometry"]) > 10) and g.node.health.refusal == ""


def test_nan_and_jumping_stamps_are_counted_and_survived(graph, messages):
    g, spoilt = graph(), []
    for k, (role, message) in enumerate(messages):
        if role == "imu" and k % 50 == 0:
            message = copy.deepcopy(message)
            message.angular_velocity.x = float("nan")
        if role == "joint_states" and k % 501 == 500:
            message = copy.deepcopy(message)
            message.header.stamp.sec += 2
        spoilt.append((role, message))
    g.play(spoilt)
    assert wait(lambda: len(g.heard["contact_wrenches"]) > 100)
    counts = g.node.counts()
    assert any("NaN" in reason for reason in counts) and counts["joint_jump"] > 0
    assert g.heard["status"][-1].dropped_samples >= 5
    assert all(np.isfinite(m.pose.pose.position.z) for m in g.heard["odometry"])


def test_halved_rate_still_works(graph, messages):
    g, seen = graph(), dict.fromkeys(("joint_states", "imu", "mocap"), 0)
    thinned = []
    for role, message in messages:
        seen[role] += 1
        if seen[role] % 2:
            thinned.append((role, message))
    g.play(thinned)
    assert wait(lambda: len(g.heard["contact_wrenches"]) > 100)
    assert g.heard["inertial_parameters"][-1].total_mass == pytest.approx(16.085 + 3.0, abs=0.4)
    assert g.heard["status"][-1].dropped_samples == 0


def test_swapped_names_are_called_out(graph, messages):
    g, swapped = graph(), []
    for role, message in messages[:1300]:
        if role == "joint_states":
            message = copy.deepcopy(message)
            a, b = message.name.index("FL_calf_joint"), message.name.index("RR_thigh_joint")
            message.name[a], message.name[b] = message.name[b], message.name[a]
        swapped.append((role, message))
    g.play(swapped)
    texts = [s.message for s in all_health(g)] + [g.node.health.failure]
    innovations = [v for s in all_health(g) if (v := s.normalized_innovation) == v]
    assert (
        any("starts anew" in t or "do not carry the robot" in t for t in texts)
        or max(innovations) > 25.0
    )
    assert not any(m.valid for m in g.heard["inertial_parameters"]) or max(innovations) > 25.0


def test_second_publisher_is_reported(graph, messages):
    g = graph()
    g.me.publish("imu", "sensor_msgs/msg/Imu")
    g.play(messages[:100], pace=0.002)
    assert wait(lambda: any("2 publishers" in s.message for s in all_health(g)))


def test_dead_imu_degrades(graph, messages):
    g = graph()
    cut = len(messages) // 2
    g.play(messages[:cut])
    before = len(g.heard["contact_wrenches"])
    g.play([m for m in messages[cut:] if m[0] != "imu"])
    assert wait(lambda: len(g.heard["contact_wrenches"]) > before + 20)
    imu = next(s for s in g.heard["status"][-1].sensors if s.name == "imu")
    assert not imu.ok and imu.message


def test_a_driver_that_repeats_itself_is_called_out(graph, messages):
    """All sensors talk, and nothing of it is used: nothing else says that there is no estimate."""
    g = graph()
    g.play([m for m in messages if m[0] != "mocap"][:2000])
    assert wait(lambda: g.heard["odometry"])
    last = {role: message for role, message in messages[:1500] if role != "mocap"}

    def said() -> bool:
        for role, message in last.items():
            g.send[role](message)
        return any(s.message.startswith("no estimate for") for s in g.heard["status"][-1].sensors)

    assert wait(said)
    assert wait(lambda: said() and "no estimate" in g.heard["/diagnostics"][-1].status[0].message)


def test_solver_that_falls_behind_catches_up(graph, messages):
    g = graph()
    update = g.node.estimator.update
    g.node.estimator.update = lambda m, n=None: (time.sleep(0.0 if n == 0 else 0.03), update(m, n))[
        1
    ]
    g.play(messages, pace=3e-4)
    assert wait(lambda: g.node.solver.pending == 0, 20.0)
    assert wait(lambda: g.heard["status"] and g.heard["status"][-1].overruns > 0)
    assert g.node.solver.dropped == 0


def test_failure_of_the_solver_is_said_and_overcome(graph, messages):
    g = graph()
    update, failures = g.node.estimator.update, [1]

    def fail_once(m, iterations=None):
        if failures:
            failures.pop()
            raise ArithmeticError("made up by this test")
        return update(m, iterations)

    g.node.estimator.update = fail_once
    g.play(messages[:100])
    assert wait(lambda: "made up by this test" in g.node.health.failure)
    g.play(messages[100:1600])
    assert wait(lambda: len(g.heard["odometry"]) > 10) and g.node.health.failure == ""


def test_lowstate_in_place_of_topics(graph, messages):
    tick = 0
    g = graph(
        clock=lambda: 1_700_000_000_000_000_000 + tick * 1_000_000, node={"input": "lowstate"}
    )
    send = g.me.publish("lowstate", "unitree_go/msg/LowState")
    order = FAMILIES["unitree_go"].joints
    state = random_message("unitree_go/msg/LowState", np.random.default_rng(0))
    imus = {stamp_ns(m.header): m for role, m in messages if role == "imu"}
    for role, message in messages[:1800]:
        imu = imus.get(stamp_ns(message.header)) if role == "joint_states" else None
        if imu is None:
            continue
        tick += 2
        for i, name in enumerate(order):
            k, motor = message.name.index(name), state.motor_state[i]
            motor.q = message.position[k]
            motor.dq = message.velocity[k]
            motor.tau_est = message.effort[k]
        w, a = imu.angular_velocity, imu.linear_acceleration
        state.imu_state.gyroscope = np.float32([w.x, w.y, w.z])
        state.imu_state.accelerometer = np.float32([a.x, a.y, a.z])
        state.imu_state.quaternion, state.tick = np.zeros(4, np.float32), tick
        send(copy.deepcopy(state))  # another thread may deliver it, later
        while g.node.solver.pending:
            time.sleep(0.001)
    assert wait(lambda: len(g.heard["odometry"]) > 10)


def test_messages_are_built_once_per_type():
    assert typestore() is typestore()


def test_what_others_count_meanwhile_disturbs_nothing():
    class Counting(Counter):
        """Another thread counts a reason for the first time while somebody goes through it."""

        def items(self):
            for item in super().items():
                self[f"{item[0]}'"] += 1
                yield item

    config = Config.load("go2")
    transport = InProcessTransport(Bus(), "prime")
    transport.rejected = Counting({"/imu": 1})
    node = EstimatorNode(transport, Robot(config.robot), config)
    refused = node.estimator.problem.measurements
    refused._late, refused.not_finite = Counting({"mocap": 2}), Counting({"imu_not_finite": 3})
    counts = node.counts()
    assert counts["/imu: not decodable"] == 1
    assert counts["mocap_late_node"] == 2 and counts["imu_not_finite"] == 3
