# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Support: contact forces that do not carry what the robot is said to weigh."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest
from helpers.choreography import perform, standing_pose

from prime_estimation.config.parameters import Config
from prime_estimation.config.policies import SUPPORT
from prime_estimation.estimator import Estimator
from prime_estimation.inertia import to_theta
from prime_estimation.mhe.problem import Problem
from prime_estimation.mhe.situation import Situation
from prime_estimation.monitors.stance_motion import MOTION
from prime_estimation.monitors.support import Support
from prime_estimation.robot import GRAVITY, Robot
from prime_estimation.types import Measurement

POSTURE = {
    f"{leg}_{joint}_joint": value
    for leg in ("FL", "FR", "RL", "RR")
    for joint, value in (("thigh", 0.8), ("calf", -1.6))
}


@pytest.mark.parametrize("share, doubted", [(1.0, False), (0.8, True)])
def test_a_mass_that_is_not_carried_is_not_observable(share, doubted):
    """Standing still with its inertia frozen; a rope takes a fifth of the weight."""
    config = Config.load("go2").updated({"estimator": {"payload_threshold": 50.0}})
    robot = Robot(config.robot)
    pose = standing_pose(robot, POSTURE)
    estimator, last = Estimator(robot, config, mocap=False), None

    def carried(t: float) -> float:
        return 1.0 if t < 0.8 else share

    for k, m in enumerate(perform(config, lambda t: pose, carried, 3.6)):
        last = estimator.update(m) or last
        if k == 70:
            estimator.freeze(True)
    said = [h.message for h in last.status.sensors if h.name == "weight"]
    assert bool(said) == doubted
    assert estimator.monitors.support.unexplained == pytest.approx(1.0 - share, abs=0.05)
    if doubted:
        assert not last.bodies[0].observable


class Watched:
    """The monitor of a Go2 that feels its weight, and nodes as somebody makes them up."""

    def __init__(self):
        config = Config.load("go2")
        self.problem = Problem(Robot(config.robot), config)
        self.weight = GRAVITY * self.problem.robot.total_mass
        self.agreement = SimpleNamespace(carried=math.nan)
        self.support = Support(self.problem, self.agreement)

    def see(self, nodes: int, contacts=1.0, legs=1.0, heavier=0.0) -> str:
        """What is said of an estimate whose contacts carry a share of the robot's own weight.

        Its legs carry the other one by their torques; it is thought heavier [kg] than it is.
        """
        self.agreement.carried = legs * self.weight
        window = SimpleNamespace(
            inputs=[SimpleNamespace(ground_depth=0.0)] * 2,
            xs=[loaded(self.problem, heavier)],
            foot_forces=lambda: np.full(4, 0.25 * contacts * self.weight),
        )
        m = Measurement(0, *np.zeros((2, 12)), np.zeros(3), accelerometer=np.array([0, 0, 9.81]))
        said = ""
        for _ in range(nodes):
            self.support.assess(m, None, Situation())
            said = said or self.support.judge(window, Situation())
        return said


def loaded(problem, mass: float) -> np.ndarray:
    """A state whose first estimated link is heavier by this mass [kg]."""
    state, robot = problem.first.neutral(), problem.robot
    inertia = robot.model.inertias[robot.link_joint(robot.estimated_links[0])].copy()
    inertia += pin.Inertia(mass, inertia.lever, 1e-3 * mass * np.eye(3))
    manifold = problem.config.estimator.manifold
    problem.parameter(state, "theta")[:10] = to_theta(inertia.toDynamicParameters(), manifold)
    return state


def test_it_is_the_estimated_weight_that_must_be_carried():
    """Legs that carry a load of 4 kg do, and legs that carry the robot alone do not."""
    it, share = Watched(), 4.0 / 16.085
    it.see(SUPPORT.nodes, legs=1.0 + share, heavier=4.0)
    assert it.support.unexplained == pytest.approx(0.0, abs=1e-3) and not it.support.doubted
    it = Watched()
    it.see(SUPPORT.nodes - 1, legs=1.0, heavier=4.0)
    assert not it.support.doubted
    it.see(1, legs=1.0, heavier=4.0)
    assert it.support.doubted
    assert it.support.unexplained == pytest.approx(share / (1.0 + share), abs=1e-3)
    (said,) = it.support.health(Situation())
    assert "differ by 20 % of the weight" in said.message


def test_an_impact_counts_no_more_than_the_weight():
    it = Watched()
    it.see(SUPPORT.nodes)
    it.see(10, legs=20.0)
    assert it.support.unexplained >= -10.0 / SUPPORT.nodes and not it.support.doubted


def test_hops_of_a_robot_do_not_add_up_to_a_flight():
    it = Watched()
    for _ in range(3):
        assert not it.see(SUPPORT.flying_nodes - 1, contacts=0.0)
        assert not it.see(1)
    assert it.see(SUPPORT.flying_nodes, contacts=0.0)


@pytest.mark.parametrize("felt, flies", [(9.81, True), (1.0, False)])
def test_an_estimate_that_flies_is_given_up(felt, flies):
    """No contact carries a robot that feels its weight; one in free fall feels none."""
    config = Config.load("go2")
    problem = Problem(Robot(config.robot), config)
    agreement = SimpleNamespace(carried=math.nan)
    support, given = Support(problem, agreement), SimpleNamespace(ground_depth=0.0)
    window = SimpleNamespace(inputs=[given] * 2, foot_forces=lambda: np.zeros(4))
    joints, feels = np.zeros(12), np.array([0.0, 0.0, felt])
    m = Measurement(0, joints, joints, np.zeros(3), accelerometer=feels)
    lost, said = [], []
    for _ in range(SUPPORT.flying_nodes):
        support.assess(m, None, Situation())
        lost.append(support.judge(window, Situation()))
        said += [h.name for h in support.health(Situation())]
    assert not any(lost[:-1]) and lost[-1].startswith("no contact carries") == flies
    assert set(said) == ({MOTION} if flies else set())
    assert len(said) == flies * (SUPPORT.flying_nodes - SUPPORT.said_nodes)
