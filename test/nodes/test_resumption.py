# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""An estimator that is started anew goes on with what the one before it had learned."""

import copy

import numpy as np
import pytest

from prime_estimation.config.parameters import Config
from prime_estimation.estimator import Estimator
from prime_estimation.inertia import InertiaBelief, from_theta
from prime_estimation.io.messages import stamp_ns
from prime_estimation.io.topics import ROLES
from prime_estimation.mhe.problem import Problem
from prime_estimation.nodes.estimator import EstimatorNode
from prime_estimation.nodes.inertia_keeper import InertiaKeeperNode
from prime_estimation.nodes.resumption import belief_of, joints_of
from prime_estimation.robot import Robot
from prime_estimation.transport.base import Qos
from prime_estimation.transport.inprocess import Bus, InProcessTransport

TRUE_MASS = 16.085 + 3.0


class Successive:
    """Estimators on one bus, one after the other, and a keeper beside them."""

    def __init__(self, robot: Robot, config: Config):
        self.bus, self.robot, self.config, self.now_ns = Bus(), robot, config, 0
        self.me = InProcessTransport(self.bus, "me")
        InertiaKeeperNode(InProcessTransport(self.bus, "inertia_keeper"))
        self.send = {
            role: self.me.publish(ROLES[role].names[0], ROLES[role].types[0])
            for role in ("joint_states", "imu", "mocap")
        }

    def estimate(self, messages, timeless: bool = False) -> list:
        """A new estimator's InertialParameters of these (role, message).

        `timeless`: it is made before /clock has come.
        """
        self.bus.publishers.clear()
        kept = "/prime/inertial_parameters", "/prime/joint_parameters"
        for topic in [t for t in self.bus.subscribers if t not in kept]:
            self.bus.subscribers[topic].clear()
        transport = InProcessTransport(self.bus, "prime", clock=lambda: self.now_ns)
        self.now_ns = 0 if timeless else stamp_ns(messages[0][1].header)
        node, heard = EstimatorNode(transport, self.robot, self.config), []
        topic = "/prime/inertial_parameters"
        self.me.subscribe(topic, self.bus.types[topic], lambda m, _: heard.append(m))
        node.start()
        for role, message in messages:
            self.now_ns = stamp_ns(message.header)
            self.send[role](message)
            node.solver.drain()
        node.stop()
        return heard


@pytest.fixture(scope="module")
def go2():
    config = Config.load("go2")
    return Robot(config.robot), config


def test_inertia_is_valid_at_once_after_a_restart(go2, messages):
    graph, half = Successive(*go2), len(messages) * 2 // 3
    first = graph.estimate(messages[:half])
    assert first[-1].valid
    second = graph.estimate(messages[half:])
    assert second[0].valid and second[0].total_mass == pytest.approx(TRUE_MASS, abs=0.3)
    assert np.abs([m.total_mass - TRUE_MASS for m in second]).max() < 0.3
    # without: the same data begin with nothing known
    alone = Successive(*go2).estimate(messages[half:])
    variance = alone[0].bodies[0].covariance[0], second[0].bodies[0].covariance[0]
    assert variance[0] > 4.0 * variance[1]


def test_inertia_is_not_lost_where_time_jumps_before_the_first_estimate(go2, messages):
    graph, half = Successive(*go2), len(messages) * 2 // 3
    graph.estimate(messages[:half])
    later = len(messages) * 5 // 6
    second = graph.estimate([*messages[later : later + 100], *messages[half:]])
    alone = Successive(*go2).estimate(messages[half:])
    assert second[0].valid
    assert alone[0].bodies[0].covariance[0] > 4.0 * second[0].bodies[0].covariance[0]


def test_inertia_is_not_lost_where_the_first_update_fails(go2, messages, monkeypatch):
    graph, half = Successive(*go2), len(messages) * 2 // 3
    graph.estimate(messages[:half])
    update, failed = Estimator.update, []

    def fails_once(self, m, iterations=None):
        if not failed:
            failed.append(m)
            raise FloatingPointError("a bug")
        return update(self, m, iterations)

    monkeypatch.setattr(Estimator, "update", fails_once)
    second = graph.estimate(messages[half:])
    alone = Successive(*go2).estimate(messages[half:])
    assert failed and second[0].valid
    assert alone[0].bodies[0].covariance[0] > 4.0 * second[0].bodies[0].covariance[0]


def test_inertia_is_not_lost_where_clock_tells_the_time_later(go2, messages):
    graph, half = Successive(*go2), len(messages) * 2 // 3
    graph.estimate(messages[:half])
    second = graph.estimate(messages[half:], timeless=True)
    alone = Successive(*go2).estimate(messages[half:])
    assert alone[0].bodies[0].covariance[0] > 4.0 * second[0].bodies[0].covariance[0]


def test_what_does_not_apply_is_not_taken_up(go2, messages):
    robot, config = go2
    kept = Successive(robot, config).estimate(messages)[-1]
    now = stamp_ns(kept.header)
    assert belief_of(kept, robot, now + 1_000_000_000, 10.0).age == pytest.approx(1.0)
    assert belief_of(kept, robot, now + 11_000_000_000, 10.0) is None
    assert belief_of(kept, robot, now - 1_000_000_000, 10.0) is None
    assert belief_of(kept, Robot.load("g1"), now, 10.0) is None
    doubtful = copy.deepcopy(kept)
    doubtful.valid = False
    assert belief_of(doubtful, robot, now, 10.0) is None


def test_joint_parameters_go_on_after_a_restart(messages):
    wrong = {"robot": {"joint_friction": 0.0, "joint_damping": 0.0}}
    config = Config.load("go2").updated(wrong)
    config = config.updated({"estimator": {"joint_parameters": "losses"}})
    graph = Successive(Robot(config.robot), config)
    graph.estimate(messages[: len(messages) * 2 // 3])
    kept, transport = [], InProcessTransport(graph.bus, "prime", clock=lambda: graph.now_ns)
    kind = "prime_estimation_msgs/msg/JointParameters"
    topic = "prime/kept_joint_parameters"
    graph.me.subscribe(topic, kind, lambda m, _: kept.append(m), Qos.LATCHED)
    graph.bus.publishers.clear()
    node = EstimatorNode(transport, graph.robot, config)
    node.start()
    node.solver.drain()
    node.stop()
    (message,), problem = kept, node.estimator.problem
    x, said = problem.first.neutral(), dict(zip(zip(message.kinds, message.names), message.values))
    told = dict(zip(zip(message.kinds, message.names), message.observable))
    assert any(told.values()) and not all(told.values())
    for block in problem.joints:
        values = block.values(problem.parameter(x, block.name))[0]
        root = problem.first.root(True)[problem.columns(block.name), problem.columns(block.name)]
        for i, label in enumerate(block.labels):
            before = block.values(block.mean)[0][i]
            expected = said[block.name, label] if told[block.name, label] else before
            least = block.declaration.softness
            assert values[i] == pytest.approx(max(expected, least))
            assert root[i, i] <= block.stddev[i]
            assert (root[i, i] < block.stddev[i]) == told[block.name, label]
    node.estimator.reset()
    x = problem.first.neutral()
    assert all(problem.parameter(x, b.name) == pytest.approx(b.mean) for b in problem.joints)
    too_late = stamp_ns(message.header) + 11_000_000_000
    assert joints_of(message, too_late, 10.0) is None


@pytest.mark.parametrize("manifold", ["log_cholesky", "exponential_eigenvalue"])
def test_a_belief_is_the_prior_of_the_first_state(go2, manifold):
    robot, config = go2
    problem = Problem(robot, config.updated({"estimator": {"manifold": manifold}}))
    pi = 1.2 * robot.model.inertias[robot.link_joint("base")].toDynamicParameters()
    covariance = np.diag(1e-4 * np.arange(1.0, 11.0))
    problem.first.begin_with_inertia(InertiaBelief((pi,), (covariance,)))
    theta, columns = problem.parameter(problem.first.neutral(), "theta"), problem.columns("theta")
    value, jacobian = from_theta(theta, manifold)
    root = jacobian @ problem.first.root(True)[columns, columns]
    assert value == pytest.approx(pi) and root @ root.T == pytest.approx(covariance, abs=1e-9)
    problem.forget()
    theta = problem.parameter(problem.first.neutral(), "theta")
    assert theta == pytest.approx(problem.theta_nominal)
