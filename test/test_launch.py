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

LAUNCH = Path(__file__).resolve().parents[1] / "launch"
FILES = sorted(LAUNCH.glob("*.launch.py"))
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
EXPECTED = {
    "estimator": {
        "robot",
        "config",
        "mocap",
        "input",
        "bag",
        "namespace",
        "frame_prefix",
        "use_sim_time",
        "autostart",
        "respawn",
        "rviz",
        "rqt",
    },
    "replay": {
        *("bag", "robot", "config", "mocap", "namespace", "frame_prefix"),
        *("rate", "loop", "rviz", "rqt"),
    },
    "mpc": {"robot", "namespace", "gait", "rate", "use_sim_time"},
    "robot": {
        *("robot", "config", "namespace", "mocap", "mpc", "gait", "commands"),
        *("browser", "rviz", "rqt"),
    },
    "simulate": {
        *("robot", "config", "gait", "payload", "payload_at", "speed"),
        *("mpc", "browser", "rviz", "rqt"),
    },
    "view": {
        "robot",
        "config",
        "namespace",
        "frame_prefix",
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
        required = (stem(path), name) == ("replay", "bag")
        assert ("default_value" in keywords) != required, name


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


# --- with ROS 2's launch --------------------------------------------------------------------------


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


def launched(launch, file: str, **arguments):
    """A launch file in a launch service of its own."""
    from launch.actions import IncludeLaunchDescription
    from launch.launch_description_sources import PythonLaunchDescriptionSource

    service = launch.LaunchService()
    included = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(LAUNCH / f"{file}.launch.py")),
        launch_arguments=arguments.items(),
    )
    service.include_launch_description(launch.LaunchDescription([included]))
    return service


@pytest.mark.parametrize(
    "file, arguments",
    [
        ("replay", {"bag": "/nowhere"}),
        ("replay", {"bag": str(LAUNCH), "robot": "/nowhere.yaml"}),
        ("replay", {"bag": str(LAUNCH), "config": "/nowhere.yaml"}),
        ("estimator", {"robot": "/nowhere.yaml"}),
        ("estimator", {"config": "/nowhere.yaml"}),
        ("view", {"config": "/nowhere.yaml"}),
        ("mpc", {"robot": "/nowhere.yaml"}),
        ("robot", {"config": "/nowhere.yaml"}),
        ("simulate", {"config": "/nowhere.yaml"}),
    ],
)
def test_a_launch_that_cannot_work_ends_with_an_error_and_starts_nothing(launch, file, arguments):
    started = []
    service = launched(launch, file, **arguments)
    service.context.register_event_handler(
        launch.event_handlers.OnProcessStart(on_start=lambda event, _: started.append(event))
    )
    assert service.run() == 1 and not started


def test_what_view_launch_cannot_tie_is_named_before_a_viewer_starts(launch):
    """The check alone: here there are no viewers that could be left running."""
    from launch.actions import OpaqueFunction

    entities = description(LAUNCH / "view.launch.py").entities
    check = next(e for e in entities if isinstance(e, OpaqueFunction))
    given = {"rviz": "false", "rqt": "false", "mocap_frame": "mocap", "mocap_origin": "0 0 0"}
    context = launch.LaunchContext()
    context.launch_configurations.update({"robot": "go2", "config": "", **given})
    with pytest.raises(ConfigError, match="mocap_origin wants six numbers"):
        check.execute(context)


@pytest.mark.parametrize(
    "file, arguments, starts",
    [
        # a robot that the bridge does not know
        ("robot", {"robot": "mini_cheetah"}, {"estimator", "unitree_bridge"}),
        (
            "simulate",
            {"payload": "much", "mpc": "false", "browser": "false"},
            {"estimator", "python"},
        ),
        # what cannot work is not tried again
        (
            "estimator",
            {"robot": "mini_cheetah", "input": "lowstate", "respawn": "true"},
            {"estimator", "inertia_keeper"},
        ),
    ],
)
def test_a_launch_ends_with_what_it_cannot_do_without(launch, file, arguments, starts):
    started = []
    service = launched(launch, file, **arguments)
    service.context.register_event_handler(
        launch.event_handlers.OnProcessStart(
            on_start=lambda event, _: started.append(event.process_name.partition("-")[0])
        )
    )
    assert service.run() == 1
    assert set(started) == starts and len(started) == len(starts)


def test_an_estimator_that_is_killed_comes_back(launch, recorded_runs):
    import os
    import signal
    import threading

    import rclpy
    from helpers.processes import overloaded
    from launch.actions import RegisterEventHandler
    from launch.event_handlers import OnProcessStart
    from launch_ros.actions import Node
    from nav_msgs.msg import Odometry

    from prime_estimation_msgs.msg import InertialParameters

    service, processes = launched(launch, "estimator", robot="go2", respawn="true"), []
    handler = OnProcessStart(on_start=lambda event, _: processes.append(event))
    player = Node(
        package="prime_estimation",
        executable="replay",
        parameters=[{"bag": str(recorded_runs / "go2_payload3"), "loop": True}],
    )
    begun = [RegisterEventHandler(handler), player]
    service.include_launch_description(launch.LaunchDescription(begun))
    odometry, valid, times = [], [], {}

    def watch() -> None:
        rclpy.init()
        node = rclpy.create_node("test_launch")
        node.create_subscription(Odometry, "/prime/odometry", odometry.append, 10)
        node.create_subscription(
            InertialParameters,
            "/prime/inertial_parameters",
            lambda m: valid.append(m) if m.valid else None,
            10,
        )

        def listen(until, seconds: float = 60.0) -> float:
            began = time.monotonic()
            while not until() and time.monotonic() < began + seconds:
                rclpy.spin_once(node, timeout_sec=0.05)
            return time.monotonic() - began

        listen(lambda: valid)
        listen(lambda: False, 3.0)
        os.kill(next(p for p in processes if "estimator" in p.process_name).pid, signal.SIGKILL)
        listen(lambda: False, 0.1)  # to what the dead one had still sent
        odometry.clear(), valid.clear()
        times["odometry"] = 0.1 + listen(lambda: odometry)
        times["inertia"] = listen(lambda: valid)
        node.destroy_node()
        rclpy.shutdown()
        service.shutdown()

    thread = threading.Thread(target=watch)
    thread.start()
    service.run()
    thread.join()
    assert sum("estimator" in p.process_name for p in processes) > 1 and odometry and valid
    print(f"\nodometry is back after {times['odometry']:.1f} s")
    print(f"inertia is valid {times['inertia']:.2f} s later")
    assert (times["odometry"] < 3.0 and times["inertia"] < 1.0) or overloaded()


def test_as_fast_as_possible_is_every_node(launch, recorded_runs):
    import threading

    import rclpy

    from prime_estimation_msgs.msg import EstimatorStatus

    bag = str(recorded_runs / "go2_payload3")
    service = launched(launch, "replay", bag=bag, robot="go2", rate="0")
    heard, ended = set(), threading.Event()

    def listen() -> None:
        rclpy.init()
        node = rclpy.create_node("test_launch")
        node.create_subscription(
            EstimatorStatus,
            "/prime/status",
            lambda m: heard.add((m.header.stamp.sec, m.header.stamp.nanosec, m.iterations > 0)),
            1000,
        )
        while not ended.is_set():
            rclpy.spin_once(node, timeout_sec=0.1)
        node.destroy_node()
        rclpy.shutdown()

    thread = threading.Thread(target=listen)
    thread.start()
    assert service.run() == 0  # it ends with the recording
    ended.set()
    thread.join()
    assert sum(solved for *_, solved in heard) > 1100
