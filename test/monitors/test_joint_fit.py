# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Losses of the YAML are kept where they are right, and estimated where they are wrong."""

from __future__ import annotations

import json

import numpy as np
import pytest

from prime_estimation.config.parameters import Config
from prime_estimation.estimator import Estimator
from prime_estimation.mhe.joint_belief import JointBelief
from prime_estimation.recordings.samples import measurements
from prime_estimation.robot import Robot
from prime_estimation.types import JointParameter

RUN, SECONDS = "go2_trot2_nominal", 5.0


def estimates(folder, **changes):
    """Estimator and its estimates, with other values of the robot's YAML."""
    config = Config.load("go2").updated({"robot": changes})
    robot = Robot(config.robot)
    estimator = Estimator(robot, config)
    nodes = int(SECONDS / config.estimator.step)
    samples = measurements(folder / RUN, robot, config.estimator.step)[:nodes]
    return estimator, [e for e in map(estimator.update, samples) if e is not None]


def test_right_losses_are_kept(recorded_runs):
    estimator, found = estimates(recorded_runs)
    assert estimator.problem.joint_holds[0].held
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


def test_what_was_learned_before_is_not_held(recorded_runs):
    config = Config.load("go2")
    estimator = Estimator(Robot(config.robot), config)
    told = JointParameter("armature", "calf_joint", 0.02, 1e-3, True)
    assert estimator.problem.joint_holds[0].held
    estimator.resume_joints(JointBelief((told,)))
    assert not estimator.problem.joint_holds[0].held
    estimator.reset()
    assert estimator.problem.joint_holds[0].held
