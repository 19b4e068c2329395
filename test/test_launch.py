# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Launch files: what they declare, read from the sources."""

import ast
import re
from pathlib import Path

import pytest
from helpers.launch_files import EXPECTED, FILES, LAUNCH, stem

from prime_estimation.config.parameters import Config
from prime_estimation.errors import ConfigError
from prime_estimation.nodes.launch_arguments import (
    VIEWERS,
    RobotChoices,
    check_bag,
    check_packages,
    check_robot,
)
from prime_estimation.nodes.run_node import NODES
from prime_estimation.robot import urdf_text

SWITCHES = {
    "mocap",
    "use_sim_time",
    "rviz",
    "rqt",
    "loop",
    "autostart",
    "respawn",
    "mpc",
    "commands",
    "browser",
}
CHOSEN = SWITCHES | {"robot", "input", "gait"}


def declarations(path: Path) -> dict[str, dict[str, ast.expr]]:
    """Keyword arguments of every DeclareLaunchArgument, by the argument's name."""
    calls = [
        n
        for n in ast.walk(ast.parse(path.read_text()))
        if isinstance(n, ast.Call) and getattr(n.func, "id", "") == "DeclareLaunchArgument"
    ]
    return {call.args[0].value: {k.arg: k.value for k in call.keywords} for call in calls}


@pytest.mark.parametrize("path", FILES, ids=stem)
def test_every_argument_says_what_it_is(path):
    found = declarations(path)
    assert set(found) == EXPECTED[stem(path)]
    for name, keywords in found.items():
        assert len(keywords["description"].value) > 8, name
        assert ("choices" in keywords) == (name in CHOSEN), name
        required = (stem(path), name) == ("replay", "bag")
        assert ("default_value" in keywords) != required, name


@pytest.mark.parametrize("path", FILES, ids=stem)
def test_the_documentation_has_every_argument(path, repository):
    rows = (repository / "docs" / "ros2.md").read_text().splitlines()
    row = next(row for row in rows if row.startswith(f"| `{path.name}` |"))
    told = set(re.findall(r"`(\w+)`", row.split("|")[3])) | {"robot", "config"}
    assert told == set(declarations(path))


def test_robots_to_choose_from():
    choices = RobotChoices()
    assert {"go1", "go2", "g1"} < set(choices)
    assert "go2" in choices and "~/robots/a1.yaml" in choices and "go3" not in choices


@pytest.mark.parametrize("path", FILES, ids=stem)
def test_every_value_that_is_used_is_declared(path):
    used = {
        n.args[0].value
        for n in ast.walk(ast.parse(path.read_text()))
        if isinstance(n, ast.Call)
        and getattr(n.func, "id", "") in ("value", "LaunchConfiguration")
        and n.args
        and isinstance(n.args[0], ast.Constant)
    }
    assert used <= set(declarations(path))


@pytest.fixture
def ament(tmp_path, monkeypatch):
    """An installation prefix that has the packages that a test gives it."""
    index = pytest.importorskip("ament_index_python")
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    folder = tmp_path / "share" / "ament_index" / "resource_index" / "packages"
    folder.mkdir(parents=True)
    assert index is not None
    return lambda *packages: [(folder / package).touch() for package in packages]


def test_viewers_that_are_missing_are_named_before_anything_starts(ament, monkeypatch):
    monkeypatch.setenv("ROS_DISTRO", "humble")
    ament("robot_state_publisher")
    check_packages({"rviz": False, "rqt": False})
    with pytest.raises(ConfigError) as caught:
        check_packages({"rviz": True, "rqt": False})
    assert str(caught.value).startswith(
        "rviz:=true needs rviz2: sudo apt install ros-humble-rviz2,"
    )
    ament("rviz2")
    check_packages({"rviz": True, "rqt": False})
    with pytest.raises(ConfigError, match="ros-humble-rqt-gui ros-humble-rqt-plot"):
        check_packages({"rviz": True, "rqt": True})
    ament(*VIEWERS["rqt"])
    check_packages({"rviz": True, "rqt": True})


def test_a_recording_or_a_robot_that_is_missing_is_named_before_anything_starts(tmp_path):
    check_bag(""), check_bag(str(tmp_path)), check_robot("go2", "")
    with pytest.raises(ConfigError, match="no such bag: /nowhere"):
        check_bag("/nowhere")
    with pytest.raises(ConfigError, match="unknown robot 'spot'"):
        check_robot("spot", "")


def test_every_launch_file_of_the_estimator_checks_first():
    """The check stands in front of every node and of every file that is included."""
    for name in ("estimator", "replay"):
        source = (LAUNCH / f"{name}.launch.py").read_text()
        assert "LaunchDescription([*ARGUMENTS, check, " in source
        assert "check = OpaqueFunction(function=check_before_anything_starts)" in source
    for name in ("robot", "simulate"):
        source = (LAUNCH / f"{name}.launch.py").read_text()
        assert "return LaunchDescription([*ARGUMENTS, estimator, " in source, name
    source = (LAUNCH / "view.launch.py").read_text()
    first = source.index("OpaqueFunction(")
    assert source[first:].startswith("OpaqueFunction(function=check_before_anything_starts)")
    assert first < source.index(" Node(")


def test_launched_executables_are_installed():
    """Every executable of this package that a launch file names is one that setup.py installs."""
    for path in FILES:
        for call in (
            n
            for n in ast.walk(ast.parse(path.read_text()))
            if isinstance(n, ast.Call) and getattr(n.func, "id", "") == "Node"
        ):
            keywords = {k.arg: k.value for k in call.keywords}
            if keywords["package"].value == "prime_estimation":
                assert keywords["executable"].value in NODES


def passed_on(path: Path, file: str) -> set[str]:
    """Arguments that a launch file hands to one that it includes.

    Constants at the head of the module are looked up.
    """
    tree = ast.parse(path.read_text())
    constants = {n.targets[0].id: n.value for n in tree.body if isinstance(n, ast.Assign)}
    for call in (
        n
        for n in ast.walk(tree)
        if isinstance(n, ast.Call) and getattr(n.func, "id", "") == "IncludeLaunchDescription"
    ):
        if file in ast.unparse(call):
            given = next(k.value for k in call.keywords if k.arg == "launch_arguments")
            named = [
                constants[n.id]
                for n in ast.walk(given)
                if isinstance(n, ast.Name) and n.id in constants
            ]
            return {
                n.value
                for part in (given, *named)
                for n in ast.walk(part)
                if isinstance(n, ast.Constant) and isinstance(n.value, str)
            }
    raise AssertionError(f"{path.name} does not include {file}")


def test_what_is_shown_is_what_is_estimated():
    shared = EXPECTED["estimator"] & EXPECTED["view"]
    assert shared <= passed_on(LAUNCH / "estimator.launch.py", "view.launch.py")
    assert EXPECTED["estimator"] & EXPECTED["replay"] <= passed_on(
        LAUNCH / "replay.launch.py", "estimator.launch.py"
    )


@pytest.mark.parametrize("name", ["robot", "simulate"])
def test_what_is_included_is_told(name):
    for included in ("estimator", "mpc"):
        shared = EXPECTED[name] & EXPECTED[included]
        assert shared <= passed_on(LAUNCH / f"{name}.launch.py", f"{included}.launch.py")


@pytest.mark.parametrize("file", ["robot", "replay", "estimator", "mpc"])
def test_changes_to_the_robot_are_those_of_every_node_that_knows_it(file):
    """A bridge or controller of another robot than the estimator's has another IMU, or model."""
    for call in ast.walk(ast.parse((LAUNCH / f"{file}.launch.py").read_text())):
        if isinstance(call, ast.Dict):
            keys = {k.value for k in call.keys if isinstance(k, ast.Constant)}
            assert "robot" not in keys or "config" in keys, ast.unparse(call)


@pytest.mark.parametrize("included", ["estimator", "mpc"])
def test_time_that_the_simulation_gives_is_taken(included):
    assert "use_sim_time" in passed_on(LAUNCH / "simulate.launch.py", f"{included}.launch.py")


@pytest.mark.parametrize("robot", ["go1", "go2", "g1"])
def test_viewers_find_the_meshes(robot):
    """Without a ROS package named example-robot-data, which `pip install` does not make."""
    text = urdf_text(Config.load(robot).robot)
    meshes = re.findall(r'mesh filename="([^"]+)"', text)
    assert meshes and all(
        m.startswith("file:///") and Path(m.removeprefix("file://")).is_file() for m in meshes
    )
