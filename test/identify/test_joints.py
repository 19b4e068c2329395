# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Joint parameters beside the inertia: found where losses of the YAML are wrong, tared, fused."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from identify.conftest import CONFIG

from prime_estimation import cli
from prime_estimation.config.parameters import Config
from prime_estimation.errors import ConfigError, DataError, RobotError
from prime_estimation.estimator import Estimator
from prime_estimation.identify import identify_run
from prime_estimation.identify.joint_notices import joint_notices
from prime_estimation.identify.joint_yaml import noise_changes, robot_changes
from prime_estimation.identify.joints import JointPosterior, fuse_joints
from prime_estimation.identify.posterior import to_psi
from prime_estimation.identify.tare import tare_joints
from prime_estimation.mhe.joint_parameters import (
    MODEL_ERROR,
    chosen,
    joint_blocks,
    joint_types,
)
from prime_estimation.recordings.samples import measurements
from prime_estimation.robot import Robot

TWICE = {"robot": {"armature": 0.02, "joint_friction": 0.4, "joint_damping": 0.2}}


@pytest.fixture(scope="module")
def wrong(recording):
    """The identification by a robot whose YAML has twice the losses."""
    config = CONFIG.updated(TWICE).updated({"estimator": {"joint_parameters": "losses"}})
    return identify_run(recording, Robot(config.robot), config, budget=False)


@pytest.mark.slow
def test_wrong_losses_are_corrected_and_do_not_pull_the_mass(wrong, truth):
    assert abs(wrong.posterior.quantities("base")[0].value - to_psi(truth)[0]) < 0.1
    true = {"armature": 0.01, "damping": 0.1, "dry_friction": 0.2, "gear_loss": 0.0}
    found = {kind: [] for kind in true}
    for q in wrong.joints.quantities():
        assert q.interval[0] - 0.15 * q.prior <= true[q.kind] <= q.interval[1] + 0.15 * q.prior, q
        found[q.kind].append(abs(q.value - true[q.kind]) < 0.5 * abs(q.prior - true[q.kind]))
    assert np.mean(found["armature"]) > 0.6 and np.mean(found["dry_friction"]) > 0.6, found


@pytest.mark.slow
def test_the_sliding_window_corrects_wrong_losses(recording, truth):
    """Losses of nothing in the YAML: the mass comes out right, and the values are told."""
    nothing = {"robot": {"armature": 0.0, "joint_friction": 0.0, "joint_damping": 0.0}}
    errors, told = {}, ()
    for joints in ("", "losses"):
        config = Config.load("go2").updated(nothing)
        options = {"joint_parameters": joints, "adapt_joints": False}
        config = config.updated({"estimator": options})
        robot = Robot(config.robot)
        estimator = Estimator(robot, config, True)
        for m in measurements(recording, robot, config.estimator.step):
            told = estimator.update(m) or told
        errors[joints] = abs(told.bodies[0].parameters[0] - truth[0])
        assert bool(told.joint_parameters) == bool(joints)
    assert errors["losses"] < 0.1 and errors["losses"] < errors[""], errors
    armature = [p for p in told.joint_parameters if p.kind == "armature"]
    assert {p.name for p in armature} == {"hip_joint", "thigh_joint", "calf_joint"}
    for p in armature:
        assert p.observable and abs(p.value - 0.01) < 3.0 * p.stddev < 0.01, p


def posterior(gains: float = 0.0, stddev: float = 0.01) -> JointPosterior:
    """Of the gains of a Go2 and 16 kg, whose estimate falls as the mean of the gains grows."""
    robot = Robot(CONFIG.robot)
    blocks = tuple(joint_blocks(robot, "gains"))
    n = len(blocks[0].labels)
    apart = np.eye(n) - 1.0 / n
    covariance = np.zeros((n + 1, n + 1))
    covariance[0, 0] = 1e-4
    covariance[1:, 1:] = stddev**2 * apart + 1e-8 / n
    mean = np.concatenate([[7.0], gains * np.cos(np.arange(n))])
    by_gain = np.concatenate([[-16.0], np.ones(n)])
    return JointPosterior(blocks, mean, covariance, np.eye(n + 1)[0], 16.0, by_gain, 0.01, 0.01)


def test_a_known_mass_tells_the_mean_of_the_gains():
    before = posterior()
    tared = before.of_mass(16.0 * 1.02)
    gains, stddev = tared.parameters(tared.blocks[0])
    assert gains.mean() == pytest.approx(-0.02, abs=0.001) and tared.mass == pytest.approx(16.32)
    together = [np.sqrt(p.total_covariance[1:, 1:].mean()) for p in (before, tared)]
    assert together[0] == pytest.approx(0.01, rel=0.01) and together[1] < 0.001
    assert tared.scale_stddev == pytest.approx(np.hypot(0.01, 0.005) / 16.0, rel=0.01)
    assert tared.by_mass @ tared.total_covariance @ tared.by_mass < 0.006**2


def test_a_mass_that_no_gains_explain():
    run = SimpleNamespace(name="run", joints=posterior(), friction=(0.6, 0.02))
    for known in (16.0 / 0.71, 16.0 / 1.29):
        assert tare_joints(run, known).joints.mass == known
    for known in (16.0 / 0.69, 16.0 / 1.31):
        with pytest.raises(DataError, match="16.000 kg were identified .* no joint parameters"):
            tare_joints(run, known)


def test_changes_of_the_yaml_go_on_from_what_it_has():
    robot = Robot(CONFIG.updated({"robot": {"torque_scale": 1.1}}).robot)
    changes = robot_changes(posterior(0.02), robot)
    assert changes["torque_scale"]["FL_hip_joint"] == pytest.approx(1.1 * np.exp(0.02), rel=1e-5)
    again = Robot(CONFIG.updated({"robot": changes}).robot)
    block = joint_blocks(again, "gains")[0]
    np.testing.assert_allclose(block.stddev, np.hypot(0.01 * np.sqrt(11 / 12), 0.01), rtol=0.01)
    np.testing.assert_allclose(again.torque_scale[0], 1.1 * np.exp(0.02), rtol=1e-5)
    assert noise_changes(posterior())["torque_scale"] == pytest.approx(0.01, rel=0.01)
    # what was not told stays as it was
    wide = robot_changes(posterior(0.02, stddev=0.03), robot)
    assert set(wide["torque_scale"].values()) == {1.1}


def test_several_recordings_add_up_and_contradictions_are_refused():
    both = fuse_joints([posterior(0.011), posterior(0.015)], ["a", "b"])
    gains, _ = both.parameters(both.blocks[0])
    information = 2.0 * 0.01**-2 - (0.03 * MODEL_ERROR) ** -2  # the prior counts once
    apart = np.trace(both.covariance) / 11.0
    assert apart == pytest.approx(1.0 / information, rel=0.01)
    pattern = np.cos(np.arange(12)) - np.cos(np.arange(12)).mean()
    expected = (0.011 + 0.015) * 0.01**-2 / information * pattern
    np.testing.assert_allclose(gains - gains.mean(), expected, rtol=0.01)
    stddev = np.sqrt(2.0 * posterior().covariance[1, 1])
    fuse_joints([posterior(0.0), posterior(3.95 * stddev)], ["a", "b"])
    with pytest.raises(DataError, match="a and b contradict each other in the torque gain"):
        fuse_joints([posterior(0.0), posterior(4.05 * stddev)], ["a", "b"])


@pytest.mark.parametrize("times", [2, 20])
def test_what_no_recording_told_keeps_its_prior(times):
    """As wide as where the data told nothing, in every recording."""
    nothing = posterior(stddev=0.03 * MODEL_ERROR)
    fused = fuse_joints(times * [nothing], [str(i) for i in range(times)])
    quantities = fused.quantities()
    assert not any(q.observable for q in quantities)
    spread = np.sqrt(np.diag(fused.covariance))
    np.testing.assert_allclose(spread, 0.03 * MODEL_ERROR * np.sqrt(11 / 12), rtol=0.01)
    scale = robot_changes(fused, Robot(CONFIG.robot))["torque_scale"]
    assert set(scale.values()) == {1.0}


def test_what_the_motion_does_not_tell_is_said_in_one_line():
    wide, line = posterior(stddev=0.03), "the motion tells no more of the torque gain (log)"
    wide, known = replace(wide, gain_stddev=0.001), replace(posterior(), gain_stddev=0.001)
    assert joint_notices(wide) == [f"{line} than was known: it is kept"]
    assert not any(q.observable for q in wide.quantities()) and not joint_notices(known)
    one = replace(wide, covariance=np.diag([1.0, 0.03**2, *[1e-6] * 11]))
    assert joint_notices(one) == [f"{line} of FL_hip_joint than was known: it is kept"]


def test_gains_and_mass_without_a_tare_are_said_in_one_line():
    (line,) = joint_notices(posterior())
    assert line.startswith("no motion tells a common torque gain from mass (0.16 kg")
    assert not joint_notices(posterior().of_mass(16.0))


def test_gains_that_no_motor_has_are_said_in_one_line():
    """And kept: a third of the torque is missing somewhere."""
    third = np.log(1.0 - 0.33)
    tared = posterior().of_mass(16.0)
    assert not joint_notices(replace(tared, mean=np.concatenate([[7.0], np.full(12, -0.3)])))
    for value, told in ((third, "-33 %"), (-third, r"\+49 %")):
        mean = np.concatenate([[7.0], [0.0, value], np.zeros(10)])
        (line,) = joint_notices(wrong := replace(tared, mean=mean))
        assert re.match(rf"torque gain of FL_thigh_joint \({told}\) is beyond what motors", line)
        assert "(-27 to +37 %)" in line
        assert [q.value for q in wrong.quantities()][1] == value
    (line,) = joint_notices(replace(tared, mean=np.concatenate([[7.0], np.full(12, third)])))
    assert line.count("(-33 %)") == 12
    # the prior's value stands where the motion tells none
    unseen = replace(tared, mean=mean, still=("FL_thigh_joint",))
    assert all("beyond what motors" not in line for line in joint_notices(unseen))


def test_a_joint_that_does_not_move_keeps_its_prior():
    still = replace(posterior(), gain_stddev=0.001, still=("FL_hip_joint", "RR_calf_joint"))
    found = {q.label: q for q in still.quantities()}
    assert not found["FL_hip_joint"].observable and found["FR_hip_joint"].observable
    assert found["FL_hip_joint"].value == 0.0
    said, kept = joint_notices(still)
    assert said.startswith("FL_hip_joint, RR_calf_joint do not move")
    assert "of FL_hip_joint, RR_calf_joint than was known" in kept
    other = replace(still, still=("FL_hip_joint", "FR_hip_joint"))
    assert fuse_joints([still, other], ["a", "b"]).still == ("FL_hip_joint",)
    robot = Robot(CONFIG.robot)  # a type is told by those of its joints that move
    block = joint_blocks(robot, "losses")[0]
    hips = tuple(n for n in robot.joint_names if "hip" in n)
    for names, observed in ((hips[:3], True), (hips, False)):
        n = len(block.labels)
        narrow = np.diag([1.0, *[1e-8] * n])
        told = np.concatenate([[7.0], block.mean]), narrow, np.zeros(n + 1), 16.0, np.zeros(n + 1)
        of_type = JointPosterior((block,), *told, 0.01, 0.001, names).quantities()
        assert [q.observable for q in of_type] == [
            q.label != "hip_joint" or observed for q in of_type
        ]


def test_a_lead_of_dry_friction_is_said_where_the_yaml_has_none():
    found = replace(posterior(), gain_stddev=0.001, lead=0.0021)
    (line,) = joint_notices(found)
    assert line.startswith("dry friction turns 2 ms before the joints")
    assert not joint_notices(replace(found, lead=0.0019))
    known = CONFIG.updated({"robot": {"friction_lead": 0.002}})
    assert robot_changes(found, Robot(CONFIG.robot))["friction_lead"] == 0.0021
    assert "friction_lead" not in robot_changes(found, Robot(known.robot))


def test_the_mean_of_all_gains_is_held():
    root = posterior().blocks[0].prior_root
    covariance = root @ root.T
    assert np.sqrt(covariance.mean() * 12) < 2e-4
    np.testing.assert_allclose(np.sqrt(np.diag(covariance)), 0.03 * np.sqrt(11 / 12), rtol=1e-3)


def test_types_of_joints_are_named_without_their_side():
    names = ["FL_hip_joint", "FR_hip_joint", "RL_calf_joint", "left_ankle_roll_joint"]
    assert joint_types(names) == (["hip_joint", "calf_joint", "ankle_roll_joint"], [0, 0, 1, 2])


def test_unknown_kinds_and_labels_are_refused():
    losses = "armature", "damping", "dry_friction", "gear_loss"
    assert chosen("delay,offsets,stribeck") == (
        *("stribeck", "stribeck_velocity"),
        *("torque_offset", "torque_delay"),
    )
    assert chosen("zeros, losses") == (*losses, "encoder_zero") and chosen("") == ()
    assert chosen("dry_friction,armature") == ("armature", "dry_friction")
    with pytest.raises(ConfigError, match="unknown joint parameters tilt; known are losses"):
        chosen("losses,tilt")
    robot = Robot(CONFIG.updated({"robot": {"joint_stddev": {"torque_gain/x": 1.0}}}).robot)
    with pytest.raises(RobotError, match="joint_stddev names 'torque_gain/x'; a key is"):
        joint_blocks(robot, "gains")


def test_a_tare_without_gains_is_refused(recording, tmp_path, capsys):
    command = ["identify", str(recording), "--robot", "go2", "--out", str(tmp_path)]
    assert cli.main([*command, "--tare", "19.1", "--joints", "losses"]) == 2
    assert "--tare tells gains, which --joints losses leaves out" in capsys.readouterr().err


@pytest.mark.slow
def test_the_command_writes_the_joints(recording, tmp_path, capsys):
    """Of a known mass: values by joint in the YAML, from which a robot can be made again."""
    command = ["identify", str(recording), "--robot", "go2", "--out", str(tmp_path)]
    assert cli.main([*command, "--tare", "19.085", "--joints", "gains", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert {q["kind"] for q in said["joints"]} == {"torque_gain"} and len(said["joints"]) == 12
    robot = Robot(Config.load(said["files"]["yaml"]).robot)
    assert abs(np.log(robot.torque_scale).mean()) < 0.02 and robot.torque_scale.std() > 0.0
    assert Config.load(said["files"]["yaml"]).noise.torque_scale < 0.03
