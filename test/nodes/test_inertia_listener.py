# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Taking over inertia: what is refused, how fast the model follows."""

import dataclasses
import time

import numpy as np
import pinocchio as pin
import pytest
from helpers.estimates import make_estimate
from helpers.waiting import wait

from prime_estimation.errors import ConfigError
from prime_estimation.inertia_gate import Bounds, InertiaGate
from prime_estimation.io import inertia_messages
from prime_estimation.io.typestore import typestore
from prime_estimation.nodes.inertia_listener import InertiaListenerNode
from prime_estimation.robot import Robot
from prime_estimation.transport.base import Qos
from prime_estimation.transport.inprocess import Bus, InProcessTransport

PAYLOAD = pin.Inertia(3.0, np.array([0.05, 0.02, 0.1]), np.zeros((3, 3)))
STAMP = 1_700_000_000_000_000_000


def make(name: str) -> type:
    return typestore().types[name]


@pytest.fixture
def robot():
    return Robot.load("go2")


def message(
    robot: Robot, sequence: int = 1, payload: pin.Inertia = PAYLOAD, valid: bool = True, **changes
):
    """InertialParameters of the robot's base with a payload."""
    nominal = Robot.load(robot.name).model.inertias[1]
    estimate = make_estimate(robot, stamp_ns=STAMP + sequence * 10_000_000)
    body = dataclasses.replace(
        estimate.bodies[0], parameters=(nominal + payload).toDynamicParameters()
    )
    out = inertia_messages.inertial_parameters(
        make, dataclasses.replace(estimate, bodies=(body,)), "odom", sequence, valid
    )
    for name, value in changes.items():
        setattr(out.bodies[0], name, value)
    return out


def test_the_model_follows_at_the_allowed_rate(robot):
    gate, before = InertiaGate(robot, Bounds(mass_rate=5.0)), pin.computeTotalMass(robot.model)
    assert gate.offer(message(robot)) == ""
    masses = []
    for _ in range(80):
        gate.apply(robot.model, 0.01)
        masses.append(pin.computeTotalMass(robot.model) - before)
        assert (
            np.linalg.eigvalsh(pin.PseudoInertia.FromInertia(robot.model.inertias[1]).toMatrix())[0]
            > 0.0
        )
    assert np.diff([0.0, *masses]).max() <= 0.05 + 1e-9
    assert masses[-1] == pytest.approx(3.0, abs=1e-9) and gate.applied == 1
    expected = Robot.load("go2").model.inertias[1] + PAYLOAD
    assert robot.model.inertias[1].isApprox(expected, 1e-9)
    assert not gate.apply(robot.model, 0.01)


def _inertia(**changes):
    kind = make("geometry_msgs/msg/Inertia")
    vector = make("geometry_msgs/msg/Vector3")
    good = dict(
        m=8.0,
        com=vector(x=0.02, y=0.0, z=0.0),
        ixx=0.03,
        ixy=0.0,
        ixz=0.0,
        iyy=0.1,
        iyz=0.0,
        izz=0.1,
    )
    return kind(**{**good, **changes})


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"inertia": _inertia(m=float("nan"))}, "not physical"),
        ({"inertia": _inertia(m=-1.0)}, "not physical"),
        ({"inertia": _inertia(ixx=0.5)}, "not physical"),
        ({"inertia": _inertia(ixx=float("nan"))}, "not physical"),
        ({"inertia": _inertia(iyz=float("inf"))}, "not physical"),
        ({"inertia": _inertia(izz=-0.1)}, "not physical"),
        ({"inertia": _inertia(m=40.0)}, "mass out of bounds"),
        ({"inertia": _inertia(m=1.0)}, "mass out of bounds"),
        (
            {"inertia": _inertia(com=make("geometry_msgs/msg/Vector3")(x=0.6, y=0.0, z=0.0))},
            "centre of mass",
        ),
        ({"link": "trunk_of_another_robot"}, "unknown link"),
    ],
)
def test_what_is_refused(robot, changes, reason):
    gate = InertiaGate(robot)
    assert gate.offer(message(robot, **changes)).startswith(reason)
    assert not gate.apply(robot.model, 1.0) and sum(gate.refused.values()) == 1


def test_invalid_old_and_restarted(robot):
    gate = InertiaGate(robot)
    assert gate.offer(message(robot, 5, valid=False)) == "not valid"
    assert gate.offer(message(robot, 5)) == ""
    assert gate.offer(message(robot, 5)) == "old" and gate.offer(message(robot, 4)) == "old"
    again = message(robot, 3)  # a recording played once more, to an estimator started once more
    again.header.stamp.sec -= 10
    assert gate.offer(again) == "" and gate.offer(again) == "old"
    restarted = message(robot, 9)
    restarted.sequence = 1
    assert gate.offer(restarted) == ""


def test_frozen_gate_applies_nothing(robot):
    gate = InertiaGate(robot)
    gate.frozen = True
    gate.offer(message(robot))
    assert not gate.apply(robot.model, 1.0)
    gate.frozen = False
    assert gate.apply(robot.model, 1.0)


def test_listener_reports_what_it_applied(robot):
    bus, heard = Bus(), []
    estimator = InProcessTransport(bus, "prime")
    listener = InProcessTransport(bus, "inertia_listener")
    node = InertiaListenerNode(listener, robot, Bounds(mass_rate=1e3), rate=200.0)
    estimator.subscribe(
        "/inertia_listener/applied",
        "std_msgs/msg/UInt64",
        lambda m, _: heard.append(m.data),
        Qos.LATCHED,
    )
    send = estimator.publish(
        "~/inertial_parameters", "prime_estimation_msgs/msg/InertialParameters", Qos.LATCHED
    )
    node.start()
    send(message(robot, 3))
    assert wait(lambda: heard == [3])
    estimator.call(
        "/inertia_listener/freeze", estimator.make("std_srvs/srv/SetBool_Request")(data=True)
    )
    send(message(robot, 4, pin.Inertia(1.0, np.zeros(3), np.zeros((3, 3)))))
    time.sleep(0.05)
    node.stop()
    assert heard == [3] and pin.computeTotalMass(node.model) == pytest.approx(
        16.085 + 3.0, abs=2e-3
    )


@pytest.mark.parametrize("rate", [0.0, -1.0, float("nan"), float("inf")])
def test_a_rate_that_makes_no_sense(robot, rate):
    with pytest.raises(ConfigError, match="a rate must be between"):
        InertiaListenerNode(InProcessTransport(Bus(), "inertia_listener"), robot, rate=rate)
