# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Losses of the YAML are kept where they are right, and estimated where they are wrong."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from prime_estimation.config.parameters import Config
from prime_estimation.estimator import Estimator
from prime_estimation.mhe.joint_belief import JointBelief
from prime_estimation.recordings.samples import measurements
from prime_estimation.robot import Robot
from prime_estimation.types import JointParameter

RUN, SECONDS = "go2_trot2_nominal", 6.0


def estimates(folder, spoil=lambda m, before: m, run=RUN, **changes):
    """Estimator and its estimates, of spoilt readings, with other values of the robot's YAML."""
    config = Config.load("go2").updated({"robot": changes})
    robot = Robot(config.robot)
    estimator = Estimator(robot, config)
    nodes = int(SECONDS / config.estimator.step)
    samples = measurements(folder / run, robot, config.estimator.step)[:nodes]
    samples = [spoil(m, before) for before, m in pairwise(samples)]
    return estimator, [e for e in map(estimator.update, samples) if e is not None]


def test_right_losses_are_kept(recorded_runs):
    estimator, found = estimates(recorded_runs)
    assert all(hold.held for hold in estimator.problem.joint_holds)
    assert not found[-1].joint_parameters
    assert "joints" not in {s.name for s in found[-1].status.sensors}


@pytest.mark.parametrize("scale", [0.0, 2.0])
def test_wrong_losses_are_said_and_corrected(recorded_runs, scale):
    wrong = {"armature": 0.01, "joint_friction": 0.2, "joint_damping": 0.1}
    estimator, found = estimates(recorded_runs, **{k: scale * v for k, v in wrong.items()})
    said = {s.name: s.message for s in found[-1].status.sensors}
    assert "do not fit the torques" in said["joints"]
    armature = [p.value for p in found[-1].joint_parameters if p.kind == "armature"]
    assert armature == pytest.approx([0.01] * 3, rel=0.1)
    true = json.loads((recorded_runs / f"{RUN}.json").read_text())["total_mass_true"]
    # three seconds after the release; held losses of nothing cost this run 0.2 kg
    assert abs(np.mean([e.total_mass for e in found[-100:]]) - true) < 0.1


@pytest.mark.parametrize("scale, held", [(0.5, False), (0.87, True)])
def test_commanded_torques_contradict_losses_less(recorded_runs, scale, held):
    """Losses that are 13 % off are let go with measured torques only, those of half a size with
    commanded ones, too."""
    wrong = {"armature": 0.01, "joint_friction": 0.2, "joint_damping": 0.1}
    wrong = {name: scale * value for name, value in wrong.items()}

    def commanded(m, before):
        return replace(m, torque_commanded=True)

    measured, _ = estimates(recorded_runs, **wrong)
    told, _ = estimates(recorded_runs, commanded, **wrong)
    assert not measured.problem.joint_holds[0].held
    assert told.problem.joint_holds[0].held == held


def test_torques_that_are_read_seldom_tell_no_losses(recorded_runs):
    """As at 100 Hz."""

    def seldom(m, before):
        return replace(m, joint_interval=0.01)

    none = dict.fromkeys(("armature", "joint_friction", "joint_damping"), 0.0)
    estimator, found = estimates(recorded_runs, seldom, **none)
    assert estimator.problem.joint_holds[0].held
    assert not any(p.kind == "armature" for p in found[-1].joint_parameters)


def test_torques_that_come_late_are_said_and_taken_back(recorded_runs):
    """By a node: ground that is not where it is thought, and a load that is not there, before."""

    def spoil(m, before):
        return replace(m, torque=before.torque)

    estimator, found = estimates(recorded_runs, spoil)
    said = {s.name: s for s in found[-1].status.sensors}
    assert "torque delay of all joints" in said["joints"].message
    assert estimator.problem.torques_late == pytest.approx(1.0, abs=0.05)
    assert estimator.window.told == -2
    assert "contacts" not in said  # the forces of the feet agree with torques taken back
    true = json.loads((recorded_runs / f"{RUN}.json").read_text())["total_mass_true"]
    assert abs(np.mean([e.total_mass for e in found[-100:]]) - true) < 0.1


def test_an_encoder_that_has_slipped_is_said_and_estimated(recorded_runs):
    """By 3 degrees: feet that stand would move and the ground would not be level."""
    slipped = np.zeros(12)
    slipped[4] = 0.05

    def spoil(m, before):
        carried = m.position_carried + slipped
        return replace(m, position=m.position + slipped, position_carried=carried)

    estimator, found = estimates(recorded_runs, spoil, "go2_payload3")
    robot = estimator.robot
    said = {s.name: s.message for s in found[-1].status.sensors}
    name = robot.joint_names[4]
    assert f"do not fit the feet that stand (encoder zero of {name}" in said["joints"]
    zeros = {p.name: p.value for p in found[-1].joint_parameters if p.kind == "encoder_zero"}
    assert zeros[name] == max(zeros.values()) > 0.01


def test_what_was_learned_before_is_not_held(recorded_runs):
    config = Config.load("go2")
    estimator = Estimator(Robot(config.robot), config)
    told = JointParameter("armature", "calf_joint", 0.02, 1e-3, True)
    assert estimator.problem.joint_holds[0].held
    estimator.resume(JointBelief((told,)))
    assert not estimator.problem.joint_holds[0].held
    estimator.reset()
    assert estimator.problem.joint_holds[0].held
