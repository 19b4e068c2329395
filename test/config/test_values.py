# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Configuration files as people write them: what is refused in one line, what is understood."""

import numpy as np
import pytest

from prime_estimation.config.parameters import Config
from prime_estimation.errors import PrimeError
from prime_estimation.robot import Robot, urdf_path

FOOT = "{name: FL_foot, frame: FL_foot, radius: 0.02}"
ROBOT = "robot: {name: a1, urdf: 'example-robot-data:a1', imu_frame: imu_link, CHANGE}"


def refused(tmp_path, content: str | bytes) -> str:
    path = tmp_path / "robot.yaml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(PrimeError) as error:
        Robot.load(str(path))
    return str(error.value)


@pytest.mark.parametrize("content", ["robot: 5", "robot: [1]"])
def test_a_section_is_a_mapping(content, tmp_path):
    assert "'robot' must be a mapping" in refused(tmp_path, content)


def test_no_text(tmp_path):
    assert "is not a text file" in refused(tmp_path, b"robot: {name: \xff\xfe}")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("contacts: null", "must be a list of mappings"),
        ("contacts: [FL_foot]", "must be a list of mappings"),
        (
            "contacts: [{name: a, frame: FL_foot, position: [1, 2]}]",
            "contacts[0].position' must be three numbers",
        ),
        ("contacts: [{name: a, frame: FL_foot, position: [.nan, 0, 0]}]", "must be three numbers"),
        (f"contacts: [{FOOT}, {FOOT}]", "has FL_foot twice"),
        ("contacts: [{frame: FL_foot}]", "'' is no name of a contact"),
        ("contacts: [{name: FL foot, frame: FL_foot}]", "'FL foot' is no name of a contact"),
        ("armature: .inf", "inf is outside [0.0, None]"),
        ("locked_joints: {FL_hip_joint: .inf}", "is outside"),
        ("locked_joints: {root_joint: 0}", "unknown joints root_joint"),
        ("locked_joints: {universe: 0}", "unknown joints universe"),
        ("joint_offsets: {FL_calf_joint: 0.01}", "FL_calf_joint, must be three numbers [m]"),
        ("joint_offsets: {FL_calf: [0, 0, 0]}", "no joint of the URDF; there are FL_calf_joint"),
        ("imu_rotation: [180, 0, 0]", "imu_rotation' = 180.0 is outside [-6.2832, 6.2832] rad"),
        ("mocap_rotation: [0, 90, 0]", "mocap_rotation' = 90.0 is outside [-6.2832, 6.2832] rad"),
        ("joint_zeros: {FL_hip_joint: 5}", "joint_zeros' = 5 is outside [-3.1416, 3.1416] rad"),
        ("locked_joints: {FL_calf_joint: -90}", "locked_joints' = -90 is outside"),
        ("mocap_position: [0, 0, 120]", "mocap_position' = 120.0 is outside [-5.0, 5.0] m"),
        ("joint_offsets: {FL_calf_joint: [0, 0, 12]}", "FL_calf_joint, = 12.0 is outside"),
        ("base_frame: FL_foot", "base_frame FL_foot is not at the root of the URDF, which is base"),
    ],
)
def test_robots_that_make_no_sense(change, words, tmp_path):
    assert words in refused(tmp_path, ROBOT.replace("CHANGE", change))


def test_a_name_is_that_of_files(tmp_path):
    content = ROBOT.replace("CHANGE", "kappa: 900").replace("name: a1", "name: 'my robot/1'")
    assert "becomes the name of files" in refused(tmp_path, content)


@pytest.mark.parametrize(
    "content", ["noise: {gyro: 0.1}\nnoise: {encoder: 0.003}\n", "noise: {gyro: 0.1, gyro: 0.2}"]
)
def test_a_key_that_is_there_twice(content, tmp_path):
    assert "is there twice" in refused(tmp_path, content)


def test_numbers_as_people_write_them(tmp_path):
    path = tmp_path / "changes.yaml"
    path.write_text("noise: {gyro: 1e-3}\nestimator:\n  # window: 20\n")
    assert Config.load("go2", path).noise.gyro == 1e-3


@pytest.mark.parametrize("robot", ["go2", "g1"])
def test_one_joint_changed_leaves_the_others(robot):
    before = Config.load(robot)
    joint = Robot(before.robot).joint_names[3]
    after = Robot(before.updated({"robot": {"armature": {joint: 0.5}}}).robot).model.armature[6:]
    expected = Robot(before.robot).model.armature[6:].copy()
    expected[3] = 0.5
    assert np.array_equal(after, expected)


def test_a_urdf_beside_its_yaml_is_found_from_anywhere(tmp_path, monkeypatch):
    (tmp_path / "robots").mkdir()
    (tmp_path / "robots" / "mine.urdf").write_text(urdf_path(Config.load("go2").robot).read_text())
    robot = tmp_path / "robots" / "mine.yaml"
    robot.write_text("robot: {name: mine, urdf: mine.urdf}")
    monkeypatch.chdir(tmp_path)
    assert Robot.load(str(robot)).nj == Robot.load("robots/mine.yaml").nj == 12
    robot.write_text("robot: {name: mine, urdf: robots/mine.urdf}")
    assert Robot.load(str(robot)).nj == 12
    changes = tmp_path / "robots" / "changes.yaml"
    changes.write_text("robot: {urdf: mine.urdf}")
    assert Config.load("go2", changes).robot.urdf == str(tmp_path / "robots" / "mine.urdf")


def test_a_path_from_home(tmp_path, monkeypatch):
    """A shell does not expand the one of `robot:=~/mine.yaml`."""
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "mine.yaml").write_text("robot: {urdf: 'example-robot-data:a1'}")
    (tmp_path / "changes.yaml").write_text("noise: {gyro: 0.01}")
    config = Config.load("~/mine.yaml", "~/changes.yaml")
    assert (config.robot.name, config.noise.gyro) == ("mine", 0.01)


def test_a_robot_without_a_name_has_that_of_its_file(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("robot: {urdf: 'example-robot-data:a1'}")
    assert Robot.load(str(path)).name == "mine"
    with pytest.raises(PrimeError, match=f"cannot read {tmp_path}/theirs.yaml: No such file"):
        Robot.load(str(tmp_path / "theirs.yaml"))
