# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Outlet of motor commands to a Unitree robot: handed on, and braking when they stop."""

import numpy as np
import pytest
from helpers.waiting import wait

from prime_estimation.io.unitree import FAMILIES
from prime_estimation.nodes.lowcmd_outlet import LowCmdOutlet
from prime_estimation.transport.inprocess import Bus, InProcessTransport

NAMES = list(FAMILIES["unitree_go"].joints)


@pytest.fixture
def outlet():
    """A function that commands an effort, and what comes out."""
    bus, heard = Bus(), []
    me = InProcessTransport(bus, "me")
    made = LowCmdOutlet(InProcessTransport(bus, "unitree_bridge"), FAMILIES["unitree_go"])
    me.subscribe("/lowcmd", "unitree_go/msg/LowCmd", lambda m, _: heard.append(m))
    send = me.publish("/mpc/motor_commands", "prime_estimation_msgs/msg/MotorCommands")
    header = me.make("std_msgs/msg/Header")(
        stamp=me.make("builtin_interfaces/msg/Time")(sec=0, nanosec=0), frame_id=""
    )

    def command(effort: float, names: list[str] = NAMES) -> None:
        zero = np.zeros(len(names))
        fields = dict(position=zero, velocity=zero, stiffness=zero, damping=zero)
        kind = me.make("prime_estimation_msgs/msg/MotorCommands")
        send(kind(header=header, name=names, effort=zero + effort, **fields))

    made.start()
    yield command, heard, made.stop
    made.stop()


def test_commands_are_handed_on_and_silence_brakes(outlet):
    command, heard, _ = outlet
    assert not wait(lambda: heard, 0.3)  # nothing before the first command
    command(7.0)
    assert heard[0].motor_cmd[0].tau == 7.0 and heard[0].crc
    assert wait(lambda: heard[-1].motor_cmd[0].kd > 0.0, 2.0)
    motors = heard[-1].motor_cmd[: len(NAMES)]
    assert all(m.kd > 0.0 and not m.tau and not m.kp for m in motors)
    command(5.0)
    assert heard[-1].motor_cmd[0].tau == 5.0


def test_what_makes_no_sense_is_not_handed_on(outlet):
    command, heard, _ = outlet
    command(float("nan"))
    assert not heard


def test_a_command_for_no_joint_lets_no_leg_go_limp(outlet):
    """Motors that are not named get no torque, and once nobody was named nobody braked."""
    command, heard, _ = outlet
    command(7.0)
    command(0.0, [])
    assert len(heard) == 1
    command(5.0, NAMES[:6])
    assert wait(lambda: heard[-1].motor_cmd[0].kd > 0.0, 2.0)
    assert all(m.kd > 0.0 for m in heard[-1].motor_cmd[: len(NAMES)])


def test_the_last_word_brakes(outlet):
    command, heard, stop = outlet
    command(7.0)
    stop()
    assert heard[-1].motor_cmd[0].kd > 0.0 and not heard[-1].motor_cmd[0].tau
    count = len(heard)
    command(5.0)  # of a controller that ends later
    assert len(heard) == count


def test_an_outlet_that_was_never_used_ends_in_silence(outlet):
    _, heard, stop = outlet
    stop()
    assert not heard
