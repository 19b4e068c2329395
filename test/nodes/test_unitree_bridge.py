# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The bridge from Unitree's LowState to standard topics, on a bus inside the process."""

import numpy as np
import pytest
from helpers.messages import random_message
from helpers.waiting import wait

from prime_estimation.io.messages import stamp_ns
from prime_estimation.io.unitree import TickClock, family_of
from prime_estimation.nodes.unitree_bridge import UnitreeBridgeNode
from prime_estimation.robot import Robot
from prime_estimation.transport.inprocess import Bus, InProcessTransport


@pytest.mark.parametrize("robot", ["go1", "go2", "g1"])
def test_joints_and_imu_as_the_model_names_them(robot):
    bus, heard, family, now = Bus(), {}, family_of(robot), [1_700_000_000_000_000_000]
    me = InProcessTransport(bus, "me")
    mine = InProcessTransport(bus, "unitree_bridge", clock=lambda: now[0])
    node = UnitreeBridgeNode(mine, robot)
    for topic in [
        t for t in ("/joint_states", "/imu", "/imu_torso", "/diagnostics") if t in bus.types
    ]:
        me.subscribe(
            topic, bus.types[topic], lambda m, _, kept=heard.setdefault(topic, []): kept.append(m)
        )
    send = me.publish("lowstate", family.type)
    low = random_message(family.type, np.random.default_rng(0))
    low.mode_pr = 0
    for k in range(10):
        low.tick, now[0] = 1000 + 2 * k, now[0] + 2_000_000
        send(low)
    model = Robot.load(robot)
    assert set(heard["/joint_states"][0].name) == set(model.joint_names)
    assert (
        model.model.existFrame(heard["/imu"][0].header.frame_id)
        and heard["/imu"][0].header.frame_id == model.config.imu_frame
    )
    assert np.diff([stamp_ns(m.header) for m in heard["/imu"]]).tolist() == [2_000_000] * 9
    if robot == "g1":
        torso = "unitree_hg/msg/IMUState"
        me.publish("secondary_imu", torso)(random_message(torso, np.random.default_rng(1)))
        assert model.model.existFrame(heard["/imu_torso"][0].header.frame_id)
    node.start()
    assert wait(lambda: heard["/diagnostics"])
    node.stop()
    assert heard["/diagnostics"][0].status[0].message == "10 Hz"


def test_the_tick_counter_tells_what_was_lost():
    clock, arrival = TickClock(), 1_700_000_000_000_000_000
    for k in range(1000):
        if (k < 20 or k % 10 != 3) and not 500 <= k < 520:
            clock.stamp(2 * k, arrival + 2_000_000 * k)
    assert clock.skipped == 96 + 20


def test_a_tick_that_jitters_is_no_loss():
    clock, tick = TickClock(), 0
    for step in [2, 1, 3, 2, 2, 1, 3, 2, 2, 2] * 50:
        tick += step
        clock.stamp(tick, 1_700_000_000_000_000_000 + tick * 1_000_000)
    assert clock.skipped < 5
