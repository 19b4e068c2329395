# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Taking over inertia: what is refused, how fast the model follows, what the MPC makes of it."""

import dataclasses
import time

import numpy as np
import pinocchio as pin
import pytest
from helpers.estimates import make_estimate
from helpers.waiting import wait
from prime_estimation.control.problem import GAITS, CentroidalAction, MpcProblem

from prime_estimation.errors import ConfigError
from prime_estimation.inertia_gate import Bounds, InertiaGate
from prime_estimation.io import to_messages as outbound
from prime_estimation.io.typestore import typestore
from prime_estimation.nodes.inertia_listener import InertiaListenerNode
from prime_estimation.nodes.mpc import MpcNode
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
    out = outbound.inertial_parameters(
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
    estimator, listener = (
        InProcessTransport(bus, "prime"),
        InProcessTransport(bus, "inertia_listener"),
    )
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


# --- MPC
# --------------------------------------------------------------------------------------------------


def standing(robot: Robot) -> np.ndarray:
    """A posture with all feet on the ground."""
    q = pin.neutral(robot.model)
    q[7:] = np.tile([0.0, 0.8, -1.6], 4)
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, q)
    q[2] -= min(
        data.oMf[robot.model.getFrameId(c.frame)].translation[2] - c.radius for c in robot.contacts
    )
    return q


def test_derivatives_of_the_mpc_node():
    import crocoddyl

    rng = np.random.default_rng(0)
    node = CentroidalAction(
        16.0,
        np.diag([0.1, 0.3, 0.3]),
        rng.normal(size=(4, 3)),
        np.array([True, False, True, True]),
        rng.normal(size=12),
    )
    numeric, x, u = (
        crocoddyl.ActionModelNumDiff(node, True),
        0.1 * rng.normal(size=12),
        30.0 * rng.normal(size=12),
    )
    data, reference = node.createData(), numeric.createData()
    for model, d in ((node, data), (numeric, reference)):
        model.calc(d, x, u)
        model.calcDiff(d, x, u)
    for name in ("Fx", "Fu", "Lx", "Lu"):
        assert np.abs(getattr(data, name) - getattr(reference, name)).max() < 1e-4


@pytest.mark.parametrize("gait", GAITS)
def test_planned_force_changes_by_the_payloads_weight(robot, gait):
    q, v = standing(robot), np.zeros(robot.model.nv)
    problem, gate = MpcProblem(robot, q, gait), InertiaGate(robot)
    problem.solve(q, v, 0.0)
    before = problem.forces[:, 2].sum()
    assert before == pytest.approx(9.81 * 16.085, rel=5e-3)
    gate.offer(message(robot))
    gate.apply(robot.model, 10.0)
    problem.solve(q, v, 0.0)
    assert problem.forces[:, 2].sum() - before == pytest.approx(3.0 * 9.81, rel=0.01)
    assert (problem.forces[:, 2] > 0).sum() == (4 if gait == "stand" else 2)


def test_torques_hold_the_weight(robot):
    """Forward dynamics under planned forces and torques: the robot stays where it is."""
    q, v = standing(robot), np.zeros(robot.model.nv)
    problem = MpcProblem(robot, q)
    tau = problem.solve(q, v, 0.0)
    _, jacobians, *_ = problem._kinematics(q, v)
    a = pin.aba(
        robot.model,
        robot.model.createData(),
        q,
        v,
        np.concatenate([np.zeros(6), tau]) + jacobians.T @ problem.forces.ravel(),
    )
    assert np.abs(a[:6]).max() < 0.2


def test_mpc_node_commands_torque_for_the_newest_state(robot):
    bus, commands, wrenches = Bus(), [], []
    estimator, transport = InProcessTransport(bus, "prime"), InProcessTransport(bus, "mpc")
    node = MpcNode(transport, robot, rate=50.0)
    estimator.subscribe(
        "/mpc/joint_commands",
        "sensor_msgs/msg/JointState",
        lambda m, _: commands.append(m),
        Qos.STATE,
    )
    estimator.subscribe(
        "/mpc/contact_wrenches",
        "prime_estimation_msgs/msg/ContactWrenches",
        lambda m, _: wrenches.append(m),
        Qos.STATE,
    )
    q = standing(robot)
    rest = dict(
        linear_velocity_base=np.zeros(3),
        angular_velocity_base=np.zeros(3),
        joint_velocity=np.zeros(12),
    )
    estimate = make_estimate(
        robot, position_world=q[:3], quat_world_base=q[3:7], joint_position=q[7:], **rest
    )
    send_odometry = estimator.publish("~/odometry", "nav_msgs/msg/Odometry")
    send_joints = estimator.publish("~/joint_states", "sensor_msgs/msg/JointState")
    node.start()
    time.sleep(0.1)
    assert not commands  # nothing is commanded before the state is known

    def tell(what) -> None:
        send_joints(outbound.joint_states(make, what, robot.joint_names))
        send_odometry(outbound.odometry(make, what, "odom", "base"))

    assert wait(lambda: tell(estimate) or len(commands) > 2, 20.0)
    time.sleep(0.5)
    silent, until = len(commands), time.monotonic() + 0.3
    lost = make_estimate(
        robot,
        position_world=np.full(3, np.nan),
        quat_world_base=q[3:7],
        joint_position=q[7:],
        **rest,
    )
    wait(lambda: tell(lost) or time.monotonic() > until)
    assert len(commands) == silent  # what is no state is not acted upon
    node.stop()
    assert wrenches[-1].header.frame_id == "odom" and all(
        abs(c.position.z) < 0.02 for c in wrenches[-1].contacts
    )
    assert wrenches[-1].contacts[0].position.x > 0.1
    assert commands[0].name == robot.joint_names and np.isfinite(commands[0].effort).all()
    assert sum(c.wrench.force.z for c in wrenches[-1].contacts) == pytest.approx(
        9.81 * 16.085, rel=0.02
    )


def test_controllers_that_make_no_sense_are_refused_at_once(robot):
    transport = InProcessTransport(Bus(), "mpc")
    with pytest.raises(ConfigError, match="gait must be one of"):
        MpcNode(transport, robot, gait="gallop")
    for node in (MpcNode, InertiaListenerNode):
        for rate in (0.0, -1.0, float("nan"), float("inf")):
            with pytest.raises(ConfigError, match="a rate must be between"):
                node(transport, robot, rate=rate)
