# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Mappings: every key is checked, shipped ones fit their robots, documentation fits the code."""

import copy
import re

import pytest
import yaml

from prime_estimation.config.parameters import Config
from prime_estimation.convert.key_table import key_table
from prime_estimation.convert.mapping_file import built_in_mappings, load_mapping, mapping_of
from prime_estimation.convert.robot_names import check_names
from prime_estimation.errors import ConfigError
from prime_estimation.robot import Robot


def changed(mapping: dict, path: str, value) -> dict:
    """A copy with the value at a dotted path; None: the key is taken out."""
    out = copy.deepcopy(mapping)
    *folders, last = path.split(".")
    place = out
    for key in folders:
        place = place[key]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return out


MOCAP = {"position": ["x", "y", "z"], "orientation": {"columns": "q{}"}}


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("jonts", {}, "did you mean 'joints'"),
        ("joints.positions", "q{}", "did you mean 'position'"),
        ("joints.position", None, "'joints.position' is missing"),
        ("joints.position", {"columns": "q{}", "unit": "degree"}, "did you mean 'deg'"),
        ("joints.names", ["left", "left"], "has left twice"),
        ("joints.names", [], "list of names"),
        ("joints.signs", [1, 2], "are 1 or -1"),
        ("joints.offsets", [90, 0], "are in rad, at most a turn"),
        ("imu.rotation", [0, 0, 90], "are in rad, at most a turn"),
        ("imu.orientation", {"columns": "q", "unit": "deg"}, "a quaternion has no unit 'deg'"),
        ("files.log.names", ["t", "q0"], "are of a file without a header"),
        ("files.log", {"time": {"rate": 1}, "header": False, "names": [0, 1]}, "numbers in quotes"),
        ("imu.delay", 12, "is longer than any sensor or drive takes"),
        ("joints.command_delay", 12, "is longer than any sensor or drive takes"),
        ("mocap", {**MOCAP, "delay": -12}, "is longer than any sensor or drive takes"),
        ("contacts", {"names": ["a"], "values": ["f"], "delay": 12}, "'contacts.delay' = 12 s is"),
        ("mocap", {**MOCAP, "position": ["x", "y", "x"]}, "'mocap' has column 'x' for two axes"),
        ("mocap", {**MOCAP, "world_rotation": [90, 0, 0]}, "are in rad, at most a turn"),
        ("imu.gyro", ["wx", "wx", "wz"], "'imu' has column 'wx' for two axes"),
        ("joints.position", {"columns": "q{}", "scale": 0}, "a scale of 0"),
        ("joints.signs", [1], "must be 2 numbers"),
        ("joints.position", ["q0", "q1", "q2"], "has 2 columns per quantity"),
        ("joints.command", "tau{}", None),
        ("imu.orientation", {"columns": ["a", "b", "c"]}, "has 4 columns"),
        ("imu.orientation", {"columns": "q", "order": "zxy"}, "cannot be 'zxy'"),
        ("imu.rotation", [0.0, 1.0], "must be 3 numbers"),
        ("files", {}, "names no file"),
        ("files.log", {"path": "log.csv"}, "lacks 'time'"),
        ("files.log.time.rate", -5.0, "is below 0"),
        ("files.log.time.rate", "fast", "must be float"),
        ("imu.file", "lag", "did you mean 'log'"),
        ("seams", {"rows": [1.5]}, "numbers or names"),
        ("joints", "q", "must be a mapping"),
        ("joints.position", [["q0", "q1"], "q2"], "names or numbers, got ['q0', 'q1']"),
        ("files.log.time.column", [["t"]], "names or numbers"),
        ("files", {1: {"time": {"rate": 1}}}, "must be a mapping of names"),
        ("files.log.time.rate", float("nan"), "must be finite"),
        ("joints.targets", {}, "gives no torque"),
        ("joints.targets", {"kp": 20}, "kp and position belong together"),
        ("joints.targets", {"position": "d{}"}, "kp and position belong together"),
        ("joints.targets", {"velocity": "d{}"}, "velocity needs kd"),
        ("joints.targets", {"effort": {"columns": "d{}", "limit": 3.0}}, "'limit' is of readings"),
    ],
)
def test_keys_and_values_are_checked(mapping, path, value, said):
    content = changed(mapping, path, value)
    if said is None:
        mapping_of(content)
        return
    with pytest.raises(ConfigError, match=re.escape(said)) as error:
        mapping_of(content, "log.yaml")
    assert "\n" not in str(error.value)


def test_command_or_targets(mapping):
    content = changed(mapping, "joints.command", "tau{}")
    content["joints"]["targets"] = {"kp": 20}
    with pytest.raises(ConfigError, match="both command and targets"):
        mapping_of(content)


def test_damping_needs_rates(mapping):
    content = changed(mapping, "joints.velocity", None)
    content["joints"]["targets"] = {"kd": 1.0}
    with pytest.raises(ConfigError, match="kd needs joints.velocity"):
        mapping_of(content)


def test_joints_that_the_robot_locks_may_be_in_a_log(mapping, tmp_path):
    config = Config.load("go2")
    names = Robot(config.robot).joint_names
    locked = config.updated({"robot": {"locked_joints": {"FL_calf_joint": -1.5}}})
    robot = tmp_path / "locked.yaml"
    robot.write_text(yaml.safe_dump({"robot": locked.to_dict()["robot"]}))
    content = changed(mapping, "joints.names", names)
    check_names(mapping_of({**content, "robot": str(robot)}))
    with pytest.raises(ConfigError, match="missing is RR_calf_joint"):
        check_names(mapping_of({**changed(content, "joints.names", names[:-1]), "robot": "go2"}))


def test_several_files_are_named(mapping):
    content = changed(mapping, "files.second", {"time": {"rate": 100}})
    with pytest.raises(ConfigError, match="'joints.file' is missing"):
        mapping_of(content)


@pytest.mark.parametrize("name", built_in_mappings())
def test_shipped_mappings_fit_their_robots(name):
    mapping = load_mapping(name)
    assert mapping.robot
    check_names(mapping)


def test_names_that_the_robot_does_not_have(mapping):
    content = {**mapping, "robot": "go2"}
    with pytest.raises(ConfigError, match="go2 has no joint 'left'"):
        check_names(mapping_of(content))
    content["joints"] = {"names": ["FR_hip_joint"], "position": ["q0"]}
    with pytest.raises(ConfigError, match="has 1 joints, but go2 has 12"):
        check_names(mapping_of(content))


def test_unknown_mapping():
    with pytest.raises(ConfigError, match="no mapping 'go2_csv'; there are .*go2_lowstate_csv"):
        load_mapping("go2_csv")


def test_documentation_is_what_the_code_says(repository):
    written = (repository / "docs" / "convert.md").read_text()
    assert "\n".join(key_table()) in written, (
        "run: prime convert --keys, and put it into docs/convert.md"
    )


def test_example_of_the_documentation(repository):
    written = (repository / "docs" / "convert.md").read_text()
    check_names(mapping_of(yaml.safe_load(re.search(r"```yaml\n(.*?)```", written, re.S)[1])))


def test_a_file_that_is_no_mapping_is_told_what_one_has(tmp_path):
    path = tmp_path / "numbers.yaml"
    path.write_text("[1, 2]")
    with pytest.raises(ConfigError, match="with the sections robot, files, joints, imu, mocap"):
        load_mapping(str(path))
