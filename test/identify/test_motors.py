# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Motors whose readings are off: offsets and a delay of a walk, losses of a robot that hangs."""

from __future__ import annotations

import json

import numpy as np
import pinocchio as pin
import pytest
import yaml
from helpers.choreography import POSTURE, perform, standing_pose
from identify.conftest import CONFIG

from prime_estimation import cli
from prime_estimation.config.parameters import Config
from prime_estimation.estimator import Estimator
from prime_estimation.identify.full_information import smooth_forward
from prime_estimation.identify.joints import JointPosterior
from prime_estimation.identify.posterior import Posterior
from prime_estimation.identify.solution import solve
from prime_estimation.recordings.samples import measurements
from prime_estimation.robot import Robot

LEGS, DELAY = ("FL", "FR", "RL", "RR"), 0.003  # s
OFFSETS = {
    f"{leg}_{joint}_joint": 0.3 * (-1) ** (i + k // 2)
    for i, leg in enumerate(LEGS)
    for k, joint in enumerate(("hip", "thigh", "calf"))
}  # Nm


@pytest.fixture(scope="module")
def offset_walk(tmp_path_factory):
    """Recording of a Go2 whose motors read beside their torque, and late."""
    pytest.importorskip("mujoco")
    from prime_estimation import simulate

    folder = tmp_path_factory.mktemp("motors")
    changes = {"robot": {"torque_offset": OFFSETS, "torque_delay": DELAY}}
    machine = folder / "machine.yaml"
    robot = Config.load("go2").updated(changes).to_dict()["robot"]
    machine.write_text(yaml.safe_dump({"robot": robot}))
    return simulate.run(str(machine), "trot", 4.0, folder / "trot", start=1.0, seed=6)


@pytest.mark.slow
def test_offsets_and_delay_are_found(offset_walk, tmp_path, capsys):
    command = ["identify", str(offset_walk), "--robot", "go2", "--out", str(tmp_path), "--json"]
    assert cli.main([*command, "--joints", "offsets,delay"]) == 0
    said = json.loads(capsys.readouterr().out)
    for q in said["joints"]:
        true = DELAY if q["kind"] == "torque_delay" else OFFSETS[q["label"]]
        assert q["observable"] and abs(q["value"] - true) < 3.0 * q["stddev"], q
        assert abs(q["value"] - true) < (0.0005 if q["kind"] == "torque_delay" else 0.1), q
    found = Config.load(said["files"]["yaml"]).robot
    assert found.torque_delay == pytest.approx(DELAY, abs=0.0005)
    assert {n: np.sign(v) for n, v in found.torque_offset.items()} == {
        n: np.sign(v) for n, v in OFFSETS.items()
    }


@pytest.mark.slow
def test_the_sliding_window_finds_offsets(offset_walk):
    """By default, once torques contradict the YAML, and says so; then forces are right."""
    config = Config.load("go2")
    robot, last = Robot(config.robot), None
    estimator = Estimator(robot, config, True)
    for m in measurements(offset_walk, robot, config.estimator.step):
        last = estimator.update(m) or last
    (said,) = [s.message for s in last.status.sensors if s.name == "joints"]
    assert "the joints of the YAML do not fit the torques" in said
    found = {p.name: p for p in last.joint_parameters if p.kind == "torque_offset"}
    assert max(abs(found[n].value - v) for n, v in OFFSETS.items()) < 0.1
    assert all(found[n].observable for n in OFFSETS)
    assert abs(last.total_mass - robot.total_mass) < 0.15


def swinging(robot: Robot):
    """A robot that hangs and moves its legs."""
    standing = standing_pose(robot, POSTURE)
    rng = np.random.default_rng(2)
    phase, rate = rng.uniform(0.0, 6.3, robot.nj), rng.uniform(4.0, 9.0, robot.nj)

    def path(t: float) -> np.ndarray:
        q = standing.copy()
        q[2] += 0.5
        q[3:7] = pin.Quaternion(pin.exp3(0.03 * np.sin([3.0 * t, 2.0 * t, 0.0]))).coeffs()
        q[7:] += 0.4 * np.sin(rate * t + phase)
        return q

    return path


def test_a_robot_that_hangs_tells_its_joints_and_not_its_mass():
    config = CONFIG.updated({"estimator": {"step": 0.01}})
    ms = perform(config, swinging(Robot(config.robot)), lambda t: 0.0, 4.0)
    wrong = {"armature": 0.02, "joint_friction": 0.05, "joint_damping": 0.0}
    changes = {"robot": wrong, "estimator": {"joint_parameters": "armature,damping,dry_friction"}}
    config = config.updated(changes)
    robot = Robot(config.robot)
    passage = smooth_forward(Estimator(robot, config, False), ms)
    assert passage.situation.hanging
    window = solve(passage.window()).window
    true = {"armature": 0.01, "damping": 0.1, "dry_friction": 0.2}
    found = JointPosterior.of_window(window).quantities()
    for q in (q for q in found if q.kind != "damping"):  # four seconds tell too little of it
        assert q.observable and q.interval[0] < true[q.kind] < q.interval[1], q
        assert abs(q.value - true[q.kind]) < 0.25 * true[q.kind], q
    theta = window.problem.columns("theta")
    covariance = window.solver.posterior(1)[theta, theta]
    told = Posterior.of_problem(
        window.problem, window.problem.parameter(window.xs[-1], "theta").copy(), covariance
    )
    assert not told.quantities("base")[0].observable
