# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""A load on the pelvis is not on the torso: the waist does not feel it."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from helpers.windows import GivenWindow

from prime_estimation.config.parameters import Config
from prime_estimation.config.policies import LIMB_LOAD
from prime_estimation.inertia import to_theta
from prime_estimation.mhe.joint_parameters import OFFSETS
from prime_estimation.mhe.problem import Problem
from prime_estimation.mhe.situation import ON_ITS_FEET
from prime_estimation.monitors.load_place import LoadPlace
from prime_estimation.monitors.unfelt_load import UnfeltLoad
from prime_estimation.robot import GRAVITY, Robot

LOAD, PLACE = 4.0, [0.06, -0.03, 0.1]
WAIST = ["waist_yaw_joint", "waist_roll_joint", "waist_pitch_joint"]


@pytest.fixture
def problem() -> Problem:
    config = Config.load("g1")
    return Problem(Robot(config.robot), config, holds=True)


def let_go(problem: Problem) -> None:
    (hold,) = (h for h in problem.joint_holds if OFFSETS in h.names)
    hold.held = False


def leaning(problem: Problem) -> np.ndarray:
    """A state that leans to front and side, at the pelvis and at the waist."""
    x, robot = problem.first.neutral(), problem.robot
    q = problem.layout.q(x)
    q[3:7] = pin.Quaternion(pin.rpy.rpyToMatrix(0.1, 0.2, 0.5)).coeffs()
    q[7:] = robot.coordinates(np.linspace(-0.2, 0.2, robot.nj))
    x[: len(q)] = q
    return x


def torque_of_load(problem: Problem, x: np.ndarray) -> np.ndarray:
    """What joints need more with the load than without (nj,), of two models at rest."""
    robot, torques = problem.robot, []
    for load in (0.0, LOAD):
        model = robot.model.copy()
        joint = robot.link_joint("torso_link")
        added = pin.Inertia(load, np.array(PLACE), np.zeros((3, 3)))
        model.inertias[joint] = model.inertias[joint] + added
        full = pin.computeGeneralizedGravity(model, model.createData(), problem.layout.q(x))
        torques.append(full[-robot.nj :])
    return torques[1] - torques[0]


def state_with(problem: Problem, offsets: np.ndarray) -> np.ndarray:
    """The leaning state with these offsets of the torque readings (nj,)."""
    x = leaning(problem)
    block = next(b for b in problem.joints if b.name == OFFSETS)
    for joint, group in enumerate(block.group):
        if group >= 0:
            problem.parameter(x, OFFSETS)[group] = offsets[joint]
    return x


def judged(problem: Problem, offsets: np.ndarray, nodes: int = LIMB_LOAD.nodes) -> UnfeltLoad:
    """After so many nodes with these offsets of the torque readings (nj,)."""
    x, load = state_with(problem, offsets), UnfeltLoad(problem, "torso_link")
    for _ in range(nodes):
        load.judge(x, LOAD, PLACE)
    return load


def test_torque_that_a_load_needs_is_that_of_the_model(problem):
    x = leaning(problem)
    needed = torque_of_load(problem, x)
    waist = [problem.robot.joint_names.index(n) for n in WAIST]
    assert np.abs(needed[waist]).max() > 1.0  # Nm
    let_go(problem)
    load = judged(problem, -0.7 * needed)
    assert load.needed == pytest.approx(np.linalg.norm(needed[waist]), rel=1e-9)
    assert load.share == pytest.approx(0.7, rel=1e-9) and load.told


@pytest.mark.parametrize("share", [-1.0, 0.0, 0.3])
def test_offsets_that_are_not_of_the_load_say_nothing(problem, share):
    """A motor that reads wrong may read too much as well."""
    let_go(problem)
    load = judged(problem, -share * torque_of_load(problem, leaning(problem)))
    assert load.share == pytest.approx(share, abs=1e-9) and not load.told


def test_it_must_last_and_offsets_must_be_let_go(problem):
    missing = -torque_of_load(problem, leaning(problem))
    assert not judged(problem, missing).told  # they are held at those of the YAML
    let_go(problem)
    assert not judged(problem, missing, LIMB_LOAD.nodes - 1).told
    load = judged(problem, missing)
    assert load.told
    load.reset()
    assert not load.told and load.share == 0.0


def test_little_torque_says_nothing(problem):
    let_go(problem)
    x, load = problem.first.neutral(), UnfeltLoad(problem, "torso_link")
    problem.parameter(x, OFFSETS)[:] = 5.0
    for _ in range(LIMB_LOAD.nodes):
        load.judge(x, LIMB_LOAD.torque / GRAVITY, [0.1, 0.0, 0.0])
    assert load.needed < LIMB_LOAD.torque and not load.told


def test_what_the_base_itself_carries_has_no_joint_before_it():
    config = Config.load("go2")
    problem = Problem(Robot(config.robot), config, holds=True)
    let_go(problem)
    load = UnfeltLoad(problem, problem.robot.estimated_links[0])
    for _ in range(LIMB_LOAD.nodes):
        load.judge(problem.first.neutral(), LOAD, PLACE)
    assert not load.told and load.needed == 0.0


def test_the_torso_is_doubted_until_its_load_is_gone(problem):
    let_go(problem)
    robot, monitor = problem.robot, LoadPlace(problem)
    x = state_with(problem, -0.9 * torque_of_load(problem, leaning(problem)))
    inertia = robot.model.inertias[robot.link_joint("torso_link")]
    for mass, doubted in ((LOAD, {0}), (0.01, set())):
        body = inertia + pin.Inertia(mass, np.array(PLACE), 1e-3 * mass * np.eye(3))
        theta = to_theta(body.toDynamicParameters(), problem.config.estimator.manifold)
        problem.parameter(x, "theta")[:10] = theta
        for _ in range(LIMB_LOAD.nodes):
            assert monitor.judge(GivenWindow(problem, [x]), ON_ITS_FEET) == ""
        assert monitor.doubted == doubted
        said = [s.message for s in monitor.health(ON_ITS_FEET)]
        assert len(said) == len(doubted)
        assert not said or said[0].startswith("90 % of the") and "4.0 kg on torso_link" in said[0]
