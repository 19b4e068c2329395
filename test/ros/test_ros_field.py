# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Under real rclpy: what users type, several robots in one graph, ends that come early."""

import re
import time
from pathlib import Path

import pytest

rclpy = pytest.importorskip("rclpy")

from helpers.processes import node  # noqa: E402
from helpers.ros_calls import call, executable  # noqa: E402
from helpers.waiting import wait  # noqa: E402

from prime_estimation.transport.ros_entities import interface  # noqa: E402


def test_whole_numbers_are_taken_for_doubles(tester, domain):
    from rcl_interfaces.srv import GetParameters, SetParameters
    from rclpy.parameter import Parameter

    given = ("-p", "robot:=go2", "-p", "noise.joint_torque:=1", "-p", "estimator.window:=12")
    estimator = executable("estimator", "--ros-args", *given)
    try:
        asked = GetParameters.Request(names=["noise.joint_torque", "estimator.window"])
        torque, window = call(tester, GetParameters, "/prime/get_parameters", asked, 60.0).values
        assert torque.double_value == 1.0 and window.integer_value == 12
        change = Parameter("noise.joint_torque", value=2).to_parameter_msg()
        request = SetParameters.Request(parameters=[change])
        (result,) = call(tester, SetParameters, "/prime/set_parameters", request).results
        assert result.successful, result.reason
        values = call(tester, GetParameters, "/prime/get_parameters", asked).values
        assert values[0].double_value == 2.0
    finally:
        code, _, err = estimator.stop()
    assert code == 0 and "Traceback" not in err


def test_scheduling_that_is_not_possible_is_one_line(domain):
    given = ("-p", "robot:=go2", "-p", "node.cpus:='100000'")
    code, _, err = executable("estimator", "--ros-args", *given).wait(60.0)
    assert code == 2 and "node.cpus wants some of" in err and "Traceback" not in err, err


def test_two_robots_in_one_domain(tester, domain, recorded_runs):
    heard = {"/tf": [], "/diagnostics": []}
    kinds = {
        "/tf": "tf2_msgs/msg/TFMessage",
        "/diagnostics": "diagnostic_msgs/msg/DiagnosticArray",
    }
    subscriptions = [
        tester.create_subscription(interface(kinds[t]), t, kept.append, 100)
        for t, kept in heard.items()
    ]
    names = ("robot1", "robot2")
    programs = [
        executable(
            "estimator",
            "--ros-args",
            *("-r", f"__ns:=/{name}", "-p", "robot:=go2", "-p", f"node.frame_prefix:={name}/"),
        )
        for name in names
    ]
    try:
        assert wait(lambda: all(tester.count_subscribers(f"/{n}/imu") for n in names), 60.0)
        bag = ("replay", "--bag", recorded_runs / "go2_payload3", "--duration", 3.0)
        players = [node(*bag, "--namespace", name, domain=domain) for name in names]

        def edges() -> set[tuple[str, str]]:
            found = [t for m in heard["/tf"] for t in m.transforms]
            return {(t.header.frame_id, t.child_frame_id) for t in found}

        def both() -> bool:
            rclpy.spin_once(tester, timeout_sec=0.1)
            said = {a.status[0].name for a in heard["/diagnostics"]}
            return len(edges()) == 2 and len(said) == 2

        assert wait(both, 60.0)
        assert all(player.wait(60.0)[0] == 0 for player in players)
    finally:
        ends = [program.stop() for program in programs]
        for subscription in subscriptions:
            tester.destroy_subscription(subscription)
    assert all(code == 0 and "Traceback" not in err for code, _, err in ends), ends
    assert edges() == {(f"{name}/odom", f"{name}/base") for name in names}
    hardware = {s.hardware_id for a in heard["/diagnostics"] for s in a.status}
    assert hardware == {f"{name}/go2" for name in names}


@pytest.mark.parametrize("name", ["estimator", "replay", "markers"])
def test_an_interruption_at_any_time_is_an_end_like_any_other(domain, name):
    arguments = ["--ros-args", "-p", "bag:=/nowhere"] if name == "replay" else []
    for delay in (0.2, 0.5, 1.0, 2.0):
        program = executable(name, *arguments)
        time.sleep(delay)
        program.interrupt()
        code, _, err = program.wait(30.0)
        if "site-packages" in err or "importlib" in err:  # Python itself was not up yet
            continue
        assert code in (0, 2) and "Traceback" not in err, (delay, code, err)


def test_a_second_interruption_does_not_kill(domain, recorded_runs):
    for delay in (0.0, 0.05, 0.1, 0.2):
        bag = ("-p", f"bag:={recorded_runs / 'go2_payload3'}")
        program = executable("replay", "--ros-args", *bag)
        time.sleep(4.0)
        program.interrupt()
        time.sleep(delay)
        program.interrupt()
        code, _, err = program.wait(30.0)
        assert code == 0 and "Traceback" not in err, (delay, code, err)


@pytest.mark.parametrize("chosen", [None, "DEFAULT"])
def test_no_memory_is_shared_that_outlives_an_estimator(tester, domain, monkeypatch, chosen):
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "SUBNET")  # local ones share, whatever else
    if chosen is not None:
        monkeypatch.setenv("FASTDDS_BUILTIN_TRANSPORTS", chosen)
    program = executable("estimator")
    try:
        assert wait(lambda: tester.count_subscribers("/imu") > 0, 60.0)
        maps = Path(f"/proc/{program.pid}/maps").read_text()
    finally:
        program.stop()
    assert bool(re.search("/dev/shm/fast(rtps|dds)_port", maps)) == (chosen == "DEFAULT")


def test_a_killed_estimator_goes_on_with_the_inertia_it_had(tester, domain, recorded_runs):
    from nav_msgs.msg import Odometry
    from rclpy.qos import DurabilityPolicy, QoSProfile

    from prime_estimation_msgs.msg import InertialParameters

    odometry, inertia = [], []
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    subscriptions = [
        tester.create_subscription(Odometry, "/prime/odometry", odometry.append, 10),
        tester.create_subscription(
            InertialParameters, "/prime/inertial_parameters", inertia.append, latched
        ),
    ]

    def listen_until(condition) -> bool:
        return wait(lambda: rclpy.spin_once(tester, timeout_sec=0.01) or condition(), 60.0)

    start = ("estimator", "--ros-args", "-p", "robot:=go2")
    keeper, estimator = executable("inertia_keeper"), executable(*start)
    player = None
    try:
        assert wait(lambda: tester.count_subscribers("/imu"), 60.0)
        bag = recorded_runs / "go2_payload3"
        player = node("replay", "--bag", bag, "--loop", domain=domain)
        assert listen_until(lambda: inertia and inertia[-1].valid)
        assert listen_until(lambda: tester.count_subscribers("/prime/inertial_parameters") > 1)
        estimator.kill()
        end = time.monotonic() + 1.0
        listen_until(lambda: time.monotonic() > end)  # to what the dead one had still sent
        odometry.clear(), inertia.clear()
        began, estimator = time.monotonic(), executable(*start)
        assert listen_until(lambda: odometry)
        back = time.monotonic() - began
        assert listen_until(lambda: inertia)
        valid = time.monotonic() - began - back
    finally:
        ends = [program.stop() for program in (estimator, keeper, player) if program is not None]
        for subscription in subscriptions:
            tester.destroy_subscription(subscription)
    assert all("Traceback" not in err for _, _, err in ends), ends
    # how fast: a figure that depends on how busy the machine is
    print(f"\nodometry is back after {back:.1f} s, inertia is valid {valid:.2f} s later")
    assert inertia[0].valid and abs(inertia[0].total_mass - 19.085) < 0.5


def test_a_recording_is_estimated_node_by_node(tester, domain, observer, recorded_runs, tmp_path):
    from helpers.short_bags import beginning

    from prime_estimation.config.parameters import Config
    from prime_estimation.io.bag import BagReader
    from prime_estimation.recordings.replay import replay
    from prime_estimation.robot import Robot

    bag = beginning(recorded_runs / "go2_payload3", tmp_path / "short.mcap", 2.0)
    config = Config.load("go2")
    wanted = replay(bag, Robot(config.robot), config, tmp_path / "out.mcap")
    program = executable("estimator", "--ros-args", "-p", "robot:=go2", "-p", f"bag:={bag}")
    code, _, err = program.wait(90.0)
    assert code == 0 and "Traceback" not in err, err
    assert "the recording has ended" in err
    assert wait(lambda: observer.count("/prime/contact_wrenches") >= wanted.nodes, 10.0)
    assert observer.count("/prime/contact_wrenches") == wanted.nodes
    masses = {m.total_mass for m, _ in observer.heard["/prime/inertial_parameters"]}
    assert masses and wanted.final.total_mass == pytest.approx(max(masses), abs=0.3)
    with BagReader(tmp_path / "out.mcap") as out:
        replayed = [m for _, _, m in out.messages(["/prime/contact_wrenches"])]
    heard = [m for m, _ in observer.heard["/prime/contact_wrenches"]]
    assert list(map(figures, heard)) == list(map(figures, replayed))
    assert observer.last("/prime/status").dropped_samples == 0


def figures(message) -> tuple:
    """All figures of contact wrenches, and their time."""
    from prime_estimation.io.messages import stamp_ns

    def of(contact) -> tuple:
        p, f, covariance = contact.position, contact.wrench.force, contact.force_covariance
        return (contact.name, p.x, p.y, p.z, f.x, f.y, f.z, *covariance, contact.probability)

    return (stamp_ns(message.header), *map(of, message.contacts))
