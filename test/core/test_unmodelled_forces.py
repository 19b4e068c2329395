# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Forces at the feet that no contact law explains: against the readable twin, and in a node."""

import numpy as np
import pytest
from helpers.models import problem, random_point
from reference.unmodelled_forces import expect

from prime_estimation.config.policies import UNMODELLED
from prime_estimation.contact.points import leg_joints
from prime_estimation.robot import GRAVITY

FORCE_DOF, CONTACT_DOF = 4.0, 2.0
STDDEV = 0.3  # Nm, of all joints


class Node:
    """A node at a random state of a robot that stands, with torques that its legs lack."""

    def __init__(self, form: str, lacks: dict[int, list[float]], seed: int = 3):
        self.problem = of = problem("go2", form)
        rng = np.random.default_rng(seed)
        point = random_point(of, rng, "stance")
        self.x = np.concatenate([point.q, point.v, np.zeros(of.np)])
        of.layout.p(self.x)[: len(point.parameters)] = point.parameters
        self.model = of.node()
        self.given, self.data = self.model.input, self.model.createData()
        of.process.unmeasured(self.given)
        self.given.weighed = True
        stddev = np.concatenate([[2.0] * 3, [0.5] * 3, [STDDEV] * of.nj])
        self.given.nominal_force = self.given.weight_force = 1.0 / stddev
        self.w = 0.1 * stddev
        for column, value in lacks.items():
            self.w[column : column + len(value)] = value
        self.u = np.concatenate([self.w, point.xi])
        if form == "inverse":  # the motion of the forward form, up to what Newton leaves
            v = point.v + rng.normal(0.0, 0.05, of.nv)
            self.u = np.concatenate([v, point.xi])
            self.model.calc(self.data, self.x, self.u)
            lack = np.array(self.data.r[: of.nv]) / self.given.weight_force
            self.given.torque = (lack - self.w)[6:]
            self.given.base_wrench = (lack - self.w)[:6]
        self.model.calc(self.data, self.x, self.u)

    def twin(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Generalized force (nv,), forces (nc, 3), covariances (nc, 3, 3)."""
        robot, J = self.problem.robot, self.model.contact_kinematics(self.data)["jacobian"]
        share = UNMODELLED.share * GRAVITY * robot.total_mass
        outer, forces, covariances = np.zeros(self.problem.nv), [], []
        for i, joints in enumerate(leg_joints(robot)):
            columns = [robot.model.joints[j].idx_v for j in joints]
            force, covariance = np.zeros(3), np.zeros((3, 3))
            if (np.abs(self.w[columns]) >= UNMODELLED.least * STDDEV).any():
                own = J[3 * i : 3 * i + 3, columns]
                deviations = np.full(3, STDDEV)
                force, covariance, _ = expect(
                    own, self.w[columns], deviations, share, UNMODELLED.odds
                )
            outer += J[3 * i : 3 * i + 3].T @ force
            forces.append(force)
            covariances.append(covariance)
        return outer, np.array(forces), np.array(covariances)


def lacking(form: str) -> Node:
    return Node(form, {6: [4.0, -9.0, 12.0], 12: [0.0, 1.5, 0.0]})


@pytest.mark.parametrize("form", ["forward", "inverse"])
def test_against_the_twin(form):
    node = lacking(form)
    law = node.model.contact_force(node.data)
    outer, forces, covariances = node.twin()
    assert np.linalg.norm(forces[0]) > 10.0 and not forces[1].any()
    node.model.reweight(node.data, node.u, CONTACT_DOF, FORCE_DOF)
    np.testing.assert_allclose(node.given.outer_force, outer, rtol=1e-7, atol=1e-7)
    found = node.model.unmodelled_force(node.data)
    np.testing.assert_allclose(found.reshape(-1, 3), forces, rtol=1e-7, atol=1e-7)
    covariance = node.model.unmodelled_covariance(node.data)
    for i, expected in enumerate(covariances):
        block = covariance[3 * i : 3 * i + 3, 3 * i : 3 * i + 3]
        np.testing.assert_allclose(block, expected, rtol=1e-6, atol=1e-7)
    np.testing.assert_array_equal(node.model.contact_force(node.data), law)


@pytest.mark.parametrize("form", ["forward", "inverse"])
def test_the_motion_stays_and_what_it_lacks_is_the_rest(form):
    node = lacking(form)
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
    node = lacking("forward")
    _, _, covariances = node.twin()
    J = node.model.contact_kinematics(node.data)["jacobian"]
    node.model.reweight(node.data, node.u, CONTACT_DOF, FORCE_DOF)
    brought = sum(
        np.diag(J[3 * i : 3 * i + 3, :6].T @ covariance @ J[3 * i : 3 * i + 3, :6])
        for i, covariance in enumerate(covariances)
    )
    weight, nominal = np.array(node.given.weight_force[:6]), node.given.nominal_force[:6]
    assert (brought > 0.0).all()
    assert (weight <= 1.0 / np.sqrt(nominal**-2 + brought) * (1.0 + 1e-6)).all()


def test_torques_that_noise_explains_and_gaussian_tails_tell_no_force():
    for lacks, dof in (({6: [0.9, -1.0, 1.1]}, FORCE_DOF), ({6: [4.0, -9.0, 12.0]}, np.inf)):
        node = Node("forward", lacks)
        u = node.model.reweight(node.data, node.u, CONTACT_DOF, dof)
        assert not node.given.outer_force.any()
        np.testing.assert_array_equal(u, node.u)


def test_a_joint_at_its_stop_tells_no_force():
    node = lacking("forward")
    limits = node.problem.robot.model.upperPositionLimit
    node.x[7 + 2] = limits[7 + 2] - 0.5 * UNMODELLED.stop
    node.model.calc(node.data, node.x, node.u)
    node.model.reweight(node.data, node.u, CONTACT_DOF, FORCE_DOF)
    assert not node.given.outer_force.any()


def test_torques_that_are_not_measured_tell_no_force():
    node = lacking("forward")
    node.given.weighed = False
    node.model.reweight(node.data, node.u, CONTACT_DOF, FORCE_DOF)
    assert not node.given.outer_force.any()


def test_wrong_joints_are_refused():
    core = problem("go2").measurements.core
    numbers = dict(stddev=50.0, odds=0.0, least=4.0, stretched=0.03, stop=0.03)
    with pytest.raises(ValueError, match="three joints"):
        core.look_for_forces([[2, 3], [], [], []], **numbers)
    with pytest.raises(ValueError, match="every contact"):
        core.look_for_forces([[2, 3, 4]], **numbers)
    with pytest.raises(ValueError, match="no joint with limits"):
        core.look_for_forces([[1, 2, 3], [], [], []], **numbers)
