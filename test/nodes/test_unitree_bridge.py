# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The bridge from Unitree's LowState to standard topics, on a bus inside the process."""

import numpy as np
import pytest
from helpers.messages import random_message
from helpers.waiting import wait

from prime_estimation.config.files import config_dir
from prime_estimation.errors import ConfigError
from prime_estimation.io.messages import stamp_ns
from prime_estimation.io.unitree import TickClock, family_of
from prime_estimation.nodes.run_node import build
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


def test_a_tick_that_stands_leaves_the_arrival():
    clock, arrival = TickClock(), 1_700_000_000_000_000_000
    stamps = [clock.stamp(0, arrival + 2_000_000 * k) for k in range(1000)]
    assert np.diff(stamps[TickClock.STANDING :]).tolist() == [2_000_000] * (
        999 - TickClock.STANDING
    )
    assert stamps[-1] == arrival + 2_000_000 * 999 and clock.stands and clock.restarts == 0
    stamps = [clock.stamp(1 + 2 * k, arrival + 2_000_000 * (1000 + k)) for k in range(5)]
    assert not clock.stands and np.diff(stamps) == pytest.approx([2_000_000] * 4, abs=1000)


def test_the_robot_of_a_file(tmp_path):
    path = tmp_path / "my go2.yaml"
    text = (config_dir() / "robots" / "go2.yaml").read_text()
    path.write_text(text.replace("imu_frame: imu", "imu_frame: base"))
    bus = Bus()
    node = build("unitree_bridge", InProcessTransport(bus, "unitree_bridge"), str(path))
    assert node.reader.family is family_of("go2") and node.reader._imu_frame == "base"
    path.write_text(text.replace("name: go2", "name: rex"))
    with pytest.raises(ConfigError, match=r"'rex' has no known LowState; .* \(robot.name\)"):
        build("unitree_bridge", InProcessTransport(Bus(), "unitree_bridge"), str(path))


def test_nothing_is_announced_that_never_comes():
    for robot, has_feet in (("go2", True), ("g1", False)):
        bus = Bus()
        UnitreeBridgeNode(InProcessTransport(bus, "unitree_bridge"), robot)
        assert ("/foot_force" in bus.types) == has_feet


def test_a_refusal_is_reported_while_it_lasts():
    bus, said = Bus(), []
    node = UnitreeBridgeNode(InProcessTransport(bus, "unitree_bridge"), "g1")
    me = InProcessTransport(bus, "me")
    me.subscribe("/diagnostics", bus.types["/diagnostics"], lambda m, _: said.append(m.status[0]))
    send = me.publish("lowstate", "unitree_hg/msg/LowState")
    for mode in (1, 0):
        low = random_message("unitree_hg/msg/LowState", np.random.default_rng(0))
        low.mode_pr = mode
        send(low)
        node._work()
    assert [s.level for s in said] == [1, 0] and said[1].message == "1 Hz"
    refusals = {v.key: v.value for v in said[1].values if "mode_pr" in v.key}
    assert list(refusals.values()) == ["1"]


def test_joints_that_brake_for_want_of_commands_are_reported():
    bus, said, names = Bus(), [], list(family_of("go2").joints)
    me = InProcessTransport(bus, "me")
    node = UnitreeBridgeNode(InProcessTransport(bus, "unitree_bridge"), "go2", commands=True)
    me.subscribe("/diagnostics", bus.types["/diagnostics"], lambda m, _: said.append(m.status[0]))
    kind = "prime_estimation_msgs/msg/MotorCommands"
    command = random_message(kind, np.random.default_rng(0))
    command.name = names
    for field in ("position", "velocity", "effort", "stiffness", "damping"):
        setattr(command, field, np.zeros(len(names)))
    node.start()
    assert wait(lambda: said) and "brake" not in said[-1].message  # nothing was commanded yet
    me.publish("mpc/motor_commands", kind)(command)
    assert wait(lambda: said[-1].message == "no lowstate, no motor commands: the joints brake")
    node.stop()


def test_changes_to_the_robot_are_those_of_the_estimator(tmp_path):
    """`config:=` of robot.launch.py: the estimator took the pelvis' IMU for that of the torso."""
    path = tmp_path / "changes.yaml"
    path.write_text("robot: {imu_frame: imu_in_torso}")
    transport = InProcessTransport(Bus(), "unitree_bridge")
    node = build("unitree_bridge", transport, "g1", str(path))
    assert node._wanted == ["joint_states"]  # the imu comes from its own message
    path.write_text("robot: {name: rex}")
    with pytest.raises(ConfigError, match="'rex' has no known LowState"):
        build("unitree_bridge", InProcessTransport(Bus(), "unitree_bridge"), "g1", str(path))
    with pytest.raises(ConfigError):
        build("unitree_bridge", InProcessTransport(Bus(), "unitree_bridge"), "b2", "/nowhere.yaml")


def test_the_imu_of_the_torso_where_the_robot_has_it():
    bus, heard = Bus(), []
    UnitreeBridgeNode(InProcessTransport(bus, "unitree_bridge"), "g1", imu_frame="imu_in_torso")
    me = InProcessTransport(bus, "me")
    me.subscribe("imu", "sensor_msgs/msg/Imu", lambda m, _: heard.append(m))
    low = random_message("unitree_hg/msg/LowState", np.random.default_rng(0))
    low.mode_pr = 0
    me.publish("lowstate", "unitree_hg/msg/LowState")(low)
    torso = random_message("unitree_hg/msg/IMUState", np.random.default_rng(1))
    me.publish("secondary_imu", "unitree_hg/msg/IMUState")(torso)
    (imu,) = heard
    assert imu.header.frame_id == "imu_in_torso"
    assert imu.angular_velocity.x == pytest.approx(torso.gyroscope[0])
