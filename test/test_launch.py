# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Launch files: what they declare, read from the sources everywhere.

What they start, where `launch` is installed.
"""

import ast
import importlib.util
import re
import time
from pathlib import Path

import pytest

from prime_estimation.config.parameters import Config
from prime_estimation.nodes.launch_arguments import RobotChoices
from prime_estimation.nodes.run_node import NODES
from prime_estimation.robot import urdf_text

LAUNCH = Path(__file__).resolve().parents[1] / "launch"
FILES = sorted(LAUNCH.glob("*.launch.py"))
SWITCHES = {
    "mocap",
    "use_sim_time",
    "rviz",
    "rqt",
    "loop",
    "autostart",
    "mpc",
    "commands",
    "browser",
}
CHOSEN = SWITCHES | {"robot", "input", "gait"}
EXPECTED = {
    "estimator": {
        "robot",
        "config",
        "mocap",
        "input",
        "namespace",
        "use_sim_time",
        "autostart",
        "rviz",
        "rqt",
    },
    "replay": {"bag", "robot", "config", "mocap", "namespace", "rate", "loop", "rviz", "rqt"},
    "mpc": {"robot", "namespace", "gait", "rate"},
    "robot": {
        *("robot", "config", "namespace", "mocap", "mpc", "gait", "commands"),
        *("browser", "rviz", "rqt"),
    },
    "simulate": {
        *("robot", "config", "gait", "payload", "payload_at", "mpc", "browser", "rviz", "rqt"),
    },
    "view": {
        "robot",
        "config",
        "namespace",
        "use_sim_time",
        "rviz",
        "rqt",
        "mocap_frame",
        "mocap_origin",
    },
}


def stem(path: Path) -> str:
    return path.name.split(".")[0]


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
        assert ("default_value" in keywords) == (name != "bag"), name


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


@pytest.mark.parametrize("robot", ["go1", "go2", "g1"])
def test_viewers_find_the_meshes(robot):
    """Without a ROS package named example-robot-data, which `pip install` does not make."""
    text = urdf_text(Config.load(robot).robot)
    meshes = re.findall(r'mesh filename="([^"]+)"', text)
    assert meshes and all(
        m.startswith("file:///") and Path(m.removeprefix("file://")).is_file() for m in meshes
    )


# --- with ROS 2's launch
# ------------------------------------------------------------------------------------------


@pytest.fixture
def launch():
    """The launch package, not the unrelated one of that name on PyPI."""
    pytest.importorskip("launch_ros")
    return pytest.importorskip("launch")


def description(path: Path):
    spec = importlib.util.spec_from_file_location(stem(path), path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.generate_launch_description()


@pytest.mark.parametrize("path", FILES, ids=stem)
def test_description_can_be_made(launch, path):
    arguments = {a.name: a for a in description(path).get_launch_arguments()}
    assert set(arguments) >= EXPECTED[stem(path)]
    choices = arguments["robot"].choices
    assert "go2" in list(choices) and "own/a1.yaml" in choices and "go3" not in choices


def test_launched_estimator_publishes_odometry(launch, recorded_runs):
    import threading

    import rclpy
    from launch.actions import IncludeLaunchDescription
    from launch.launch_description_sources import PythonLaunchDescriptionSource
    from launch_ros.actions import Node
    from nav_msgs.msg import Odometry

    estimator = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(LAUNCH / "estimator.launch.py")),
        launch_arguments={"robot": "go2"}.items(),
    )
    bag = str(recorded_runs / "go2_payload3")
    player = Node(
        package="prime_estimation",
        executable="replay",
        parameters=[{"bag": bag, "duration": 5.0, "loop": True}],
    )
    service = launch.LaunchService()
    service.include_launch_description(launch.LaunchDescription([estimator, player]))
    heard: list[Odometry] = []

    def listen() -> None:
        rclpy.init()
        node = rclpy.create_node("test_launch")
        node.create_subscription(Odometry, "/prime/odometry", heard.append, 10)
        end = time.monotonic() + 60.0
        while len(heard) < 100 and time.monotonic() < end:
            rclpy.spin_once(node, timeout_sec=0.1)
        node.destroy_node()
        rclpy.shutdown()
        service.shutdown()

    thread = threading.Thread(target=listen)
    thread.start()
    assert service.run() == 0  # it wants the main thread
    thread.join()
    assert len(heard) >= 100 and heard[-1].child_frame_id == "base"
