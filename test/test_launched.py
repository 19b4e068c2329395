# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Launch files: what they start, where ROS 2's `launch` is installed."""

import importlib.util
import time
from pathlib import Path

import pytest
from helpers.launch_files import EXPECTED, FILES, LAUNCH, stem

from prime_estimation.errors import ConfigError


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


def test_rqt_starts_when_there_are_topics(launch):
    """rqt_plot takes only those that are there when it starts."""
    from launch.actions import ExecuteProcess, TimerAction

    entities = description(LAUNCH / "view.launch.py").entities
    (later,) = (e for e in entities if isinstance(e, TimerAction))
    assert later.condition is not None and not any(type(e) is ExecuteProcess for e in entities)
    context = launch.LaunchContext()
    (process,) = later.actions
    words = [launch.utilities.perform_substitutions(context, word) for word in process.cmd]
    assert words[0] == "rqt" and words[-1].endswith("prime.perspective")


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
    started = [name.rstrip("3") for name in started]  # python3 or python, as the tests run
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
