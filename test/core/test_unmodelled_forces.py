# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Forces at the feet that no contact law explains: against the readable twin, and in a node."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.models import config, ground_under, problem, random_configuration, random_point
from reference.unmodelled_forces import expect, expect_at_stop

from prime_estimation.config.policies import UNMODELLED
from prime_estimation.contact.points import leg_joints
from prime_estimation.mhe.problem import Problem
from prime_estimation.robot import GRAVITY, Robot

FORCE_DOF, CONTACT_DOF = 4.0, 2.0
STDDEV, BASE_STDDEV = 0.3, np.array([2.0, 2.0, 2.0, 0.5, 0.5, 0.5])  # joints [Nm], base [N, Nm]
POSTURE = [0.1, 0.8, -1.5, -0.1, 0.7, -1.4, 0.1, 0.9, -1.6, -0.1, 0.8, -1.3]
# generalized disturbances [Nm] by their first columns: of a front and of a hind leg
OUTLIERS = {6: [4.0, -9.0, 12.0], 12: [0.0, 1.5, 0.0]}


class Node:
    """A node of a robot that stands and moves, whose legs lack torques.

    Args:
        form: of the problem. lacks: disturbances by columns.
        pushed: the base lacks what the force that the first leg tells brings to it.
        of: problem of another robot than the Go2.
    """

    def __init__(
        self,
        form: str,
        lacks: dict[int, list[float]],
        pushed: bool = True,
        of: Problem | None = None,
    ):
        self.problem = of = of or problem("go2", form)
        rng = np.random.default_rng(3)
        q = random_configuration(of.robot, rng)
        q[7:] = POSTURE
        slope = np.zeros(2 * len(of.robot.feet))
        point = replace(random_point(of, rng, "stance"), q=q, slope=slope)
        point = replace(point, height=ground_under(of, q, slope) + 5e-4)
        self.x = np.concatenate([point.q, point.v, np.zeros(of.np)])
        of.layout.p(self.x)[: len(point.parameters)] = point.parameters
        self.model = of.node()
        self.given, self.data = self.model.input, self.model.createData()
        of.process.unmeasured(self.given)
        self.given.weighed = True
        stddev = np.concatenate([BASE_STDDEV, [STDDEV] * of.nj])
        self.given.nominal_force = self.given.weight_force = 1.0 / stddev
        self.w = 0.1 * stddev
        for column, value in lacks.items():
            self.w[column : column + len(value)] = value
        self.u = np.concatenate([np.zeros(of.nv), point.xi])
        if form == "inverse":
            self.u[: of.nv] = point.v + rng.normal(0.0, 0.05, of.nv)
        self.model.calc(self.data, self.x, self.u)
        self.J = self.model.contact_kinematics(self.data)["jacobian"]
        if pushed:
            force = np.linalg.solve(self.J[:3, 6:9].T, self.w[6:9])
            self.w[:6] += self.J[:3, :6].T @ force
        if form == "inverse":  # what this motion needs, but for w
            need = np.array(self.data.r[: of.nv]) / self.given.weight_force
            self.given.torque = self.given.torque + (need - self.w)[6:]
            self.given.base_wrench = self.given.base_wrench + (need - self.w)[:6]
        else:
            self.u[: of.nv] = self.w
        self.model.calc(self.data, self.x, self.u)

    def twin(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Generalized force (nv,), forces (nc, 3), covariances (nc, 3, 3)."""
        robot = self.problem.robot
        legs, which = [], []
        for i, joints in enumerate(leg_joints(robot)):
            columns = [robot.model.joints[j].idx_v for j in joints]
            if (np.abs(self.w[columns]) >= UNMODELLED.least * STDDEV).any():
                J = self.J[3 * i : 3 * i + 3, [*range(6), *columns]]
                legs.append((J, self.w[columns], np.full(3, STDDEV)))
                which.append(i)
        prior = UNMODELLED.share * GRAVITY * robot.total_mass, UNMODELLED.odds
        found = expect(legs, (self.w[:6], BASE_STDDEV), prior, FORCE_DOF)
        forces, covariances = np.zeros((4, 3)), np.zeros((4, 3, 3))
        for i, (force, covariance) in zip(which, found):
            forces[i], covariances[i] = force, covariance
        return self.J.T @ forces.ravel(), forces, covariances


@pytest.mark.parametrize("form", ["forward", "inverse"])
@pytest.mark.parametrize("pushed", [True, False])
def test_against_the_twin(form, pushed):
    node = Node(form, OUTLIERS, pushed)
    law = node.model.contact_force(node.data)
    outer, forces, covariances = node.twin()
    node.model.reweight(node.data, node.u, CONTACT_DOF, FORCE_DOF)
    np.testing.assert_allclose(node.given.outer_force, outer, rtol=1e-6, atol=1e-6)
    found = node.model.unmodelled_force(node.data)
    np.testing.assert_allclose(found.reshape(-1, 3), forces, rtol=1e-6, atol=1e-6)
    covariance = node.model.unmodelled_covariance(node.data)
    for i, expected in enumerate(covariances):
        block = covariance[3 * i : 3 * i + 3, 3 * i : 3 * i + 3]
        np.testing.assert_allclose(block, expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(node.model.contact_force(node.data), law)


def test_a_force_that_moves_the_base_too_is_found():
    node = Node("forward", OUTLIERS)
    true = np.linalg.solve(node.J[:3, 6:9].T, OUTLIERS[6])
    node.model.reweight(node.data, node.u, CONTACT_DOF, FORCE_DOF)
    found = node.model.unmodelled_force(node.data)[:3]
    assert np.linalg.norm(true) > 20.0 and np.linalg.norm(found - true) < 0.05 * np.linalg.norm(
        true
    )


def test_wrong_torques_that_move_no_base_are_no_force():
    lacks = {6: [1.5, 1.8, -2.1]}  # five to seven deviations each
    pushed, still = (Node("forward", lacks, pushed) for pushed in (True, False))
    for node in (pushed, still):
        node.model.reweight(node.data, node.u, CONTACT_DOF, FORCE_DOF)
    found, none = (np.linalg.norm(n.given.outer_force[:3]) for n in (pushed, still))
    assert found > 5.0 and none < 0.1 * found


@pytest.mark.parametrize("form", ["forward", "inverse"])
def test_the_motion_stays_and_what_it_lacks_is_the_rest(form):
    node = Node(form, OUTLIERS)
    before, nv = np.array(node.data.xnext), node.problem.nv
    u = node.model.reweight(node.data, node.u, CONTACT_DOF, FORCE_DOF)
    told = np.array(node.data.r)
    node.model.calc(node.data, node.x, u)
    np.testing.assert_allclose(node.data.xnext, before, atol=1e-7)
    np.testing.assert_allclose(node.data.r, told, rtol=1e-6, atol=1e-6)
    rest = np.array(node.data.r[:nv]) / node.given.weight_force
    np.testing.assert_allclose(rest, node.w - node.given.outer_force, atol=1e-5)
    again = node.model.reweight(node.data, u, CONTACT_DOF, FORCE_DOF)
    np.testing.assert_allclose(again, u, atol=1e-5)


def test_the_base_knows_the_force_no_better_than_the_leg_does():
    node = Node("forward", OUTLIERS)
    _, _, covariances = node.twin()
    J = node.J
    node.model.reweight(node.data, node.u, CONTACT_DOF, FORCE_DOF)
    brought = sum(
        np.diag(J[3 * i : 3 * i + 3, :6].T @ covariance @ J[3 * i : 3 * i + 3, :6])
        for i, covariance in enumerate(covariances)
    )
    weight, nominal = np.array(node.given.weight_force[:6]), node.given.nominal_force[:6]
    assert (brought > 0.0).all()
    assert (weight <= 1.0 / np.sqrt(nominal**-2 + brought) * (1.0 + 1e-6)).all()


def test_torques_that_noise_explains_and_gaussian_tails_tell_no_force():
    for lacks, dof in (({6: [0.9, -1.0, 1.1]}, FORCE_DOF), (OUTLIERS, np.inf)):
        node = Node("forward", lacks)
        u = node.model.reweight(node.data, node.u, CONTACT_DOF, dof)
        assert not node.given.outer_force.any()
        np.testing.assert_array_equal(u, node.u)


def held(calf: int, side: str, torque: float) -> Node:
    """The first leg's calf at a stop that gives this torque, its foot pushed beside the law."""
    node = Node("forward", {}, pushed=False)
    model = node.problem.robot.model
    at = {"upper": model.upperPositionLimit, "lower": model.lowerPositionLimit}[side][7 + calf]
    node.x[7 + calf] = at + (0.5 if side == "lower" else -0.5) * UNMODELLED.stop
    node.model.calc(node.data, node.x, node.u)
    node.J = node.model.contact_kinematics(node.data)["jacobian"]
    node.w += node.J[:3].T @ PUSH
    node.w[6 + calf] += torque
    node.u[: node.problem.nv] = node.w
    node.model.calc(node.data, node.x, node.u)
    return node


PUSH = np.array([-60.0, 5.0, -45.0])  # N, of a foot that is hooked on a riser


@pytest.mark.parametrize("side, torque", [("upper", -8.0), ("lower", 8.0)])
def test_what_a_stop_hides_of_a_force_the_base_tells(side, torque):
    node = held(2, side, torque)
    robot = node.problem.robot
    prior = UNMODELLED.share * GRAVITY * robot.total_mass, UNMODELLED.odds
    leg = node.J[:3, [*range(6), 6, 7, 8]], node.w[6:9], np.full(3, STDDEV)
    mean, covariance = expect_at_stop(leg, 2, (node.w[:6], BASE_STDDEV), prior, FORCE_DOF)
    node.model.reweight(node.data, node.u, CONTACT_DOF, FORCE_DOF)
    found = node.model.unmodelled_force(node.data)[:3]
    np.testing.assert_allclose(found, mean, rtol=1e-6, atol=1e-6)
    told = node.model.unmodelled_covariance(node.data)[:3, :3]
    np.testing.assert_allclose(told, covariance, rtol=1e-5, atol=1e-6)
    assert np.linalg.norm(found - PUSH) < 0.1 * np.linalg.norm(PUSH)


def test_a_stop_that_would_have_to_pull_tells_no_force():
    node = held(2, "upper", 8.0)
    node.model.reweight(node.data, node.u, CONTACT_DOF, FORCE_DOF)
    assert not node.given.outer_force.any()


def test_a_stop_alone_is_no_force():
    node = Node("forward", {8: [-8.0]}, pushed=False)
    limits = node.problem.robot.model.upperPositionLimit
    node.x[7 + 2] = limits[7 + 2] - 0.5 * UNMODELLED.stop
    node.model.calc(node.data, node.x, node.u)
    node.model.reweight(node.data, node.u, CONTACT_DOF, FORCE_DOF)
    assert not node.given.outer_force.any()


def test_torques_that_are_not_measured_tell_no_force():
    node = Node("forward", OUTLIERS)
    node.given.weighed = False
    node.model.reweight(node.data, node.u, CONTACT_DOF, FORCE_DOF)
    assert not node.given.outer_force.any()


def test_a_joint_without_limits_has_no_stop():
    """A URDF may leave them out: they are 0 and 0 then, and no joint stands at them."""
    robot = Robot(config("go2").robot)
    robot.model.lowerPositionLimit[7:] = robot.model.upperPositionLimit[7:] = 0.0
    of = Problem(robot, config("go2"), ("mocap",))
    nodes = Node("forward", OUTLIERS), Node("forward", OUTLIERS, of=of)
    for node in nodes:
        node.model.reweight(node.data, node.u, CONTACT_DOF, FORCE_DOF)
    limited, free = (node.given.outer_force for node in nodes)
    assert free.any()
    np.testing.assert_allclose(free, limited, rtol=1e-9)


def test_wrong_joints_are_refused():
    core = problem("go2").measurements.core
    numbers = dict(stddev=50.0, odds=0.0, least=4.0, stretched=0.03, stop=0.03)
    with pytest.raises(ValueError, match="three joints"):
        core.look_for_forces([[2, 3], [], [], []], **numbers)
    with pytest.raises(ValueError, match="every contact"):
        core.look_for_forces([[2, 3, 4]], **numbers)
    with pytest.raises(ValueError, match="more than one degree of freedom"):
        core.look_for_forces([[1, 2, 3], [], [], []], **numbers)
