# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The colcon-built packages under real rclpy.

Types, parameters, lifecycle, services, and both worlds on one network.
"""

import time

import numpy as np
import pytest

rclpy = pytest.importorskip("rclpy")

from helpers.messages import random_message  # noqa: E402
from helpers.processes import node, overloaded, sent  # noqa: E402
from helpers.ros_calls import call, executable  # noqa: E402
from helpers.waiting import wait  # noqa: E402

from prime_estimation.io.typestore import typestore  # noqa: E402
from prime_estimation.transport.ros import RosTransport  # noqa: E402

SECONDS = 4.0
OURS = [
    f"prime_estimation_msgs/msg/{n}"
    for n in (
        "BodyInertia",
        "ContactWrench",
        "ContactWrenches",
        "EstimatorStatus",
        "InertialParameters",
        "SensorHealth",
    )
]
BUILT = [
    *OURS,
    "std_srvs/srv/Trigger_Response",
    "std_srvs/srv/SetBool_Request",
    "tf2_msgs/msg/TFMessage",
    "nav_msgs/msg/Odometry",
]


# --- types ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BUILT)
def test_rclpy_and_the_store_write_the_same_bytes(name):
    from rclpy.serialization import deserialize_message, serialize_message

    from prime_estimation.transport.ros_entities import interface

    package, kind, stem = name.split("/")
    part = stem.partition("_")
    cls = getattr(interface(f"{package}/{kind}/{part[0]}"), part[2]) if part[2] else interface(name)
    for seed in range(3):
        raw = bytes(
            typestore().serialize_cdr(random_message(name, np.random.default_rng(seed)), name)
        )
        again = serialize_message(deserialize_message(raw, cls))
        assert len(again) - len(raw) < 8  # alignment of what may follow an empty sequence
        # Fast CDR leaves the bytes of alignment as they were in memory
        assert (
            bytes(typestore().serialize_cdr(typestore().deserialize_cdr(again, name), name)) == raw
        )


@pytest.mark.parametrize("name", OURS)
def test_type_hashes_agree(tester, name):
    from prime_estimation.transport.ros_entities import interface

    publisher = tester.create_publisher(interface(name), "hashed", 1)
    (info,) = tester.get_publishers_info_by_topic("/hashed")
    tester.destroy_publisher(publisher)
    assert str(info.topic_type_hash) == typestore().hash_rihs01(name)


def test_messages_of_the_transport_take_numpy(tester):
    make = RosTransport(tester).make
    imu = make("prime_estimation_msgs/msg/SensorHealth")(
        name="imu", ok=True, normalized_innovation=float("nan")
    )
    status = make("prime_estimation_msgs/msg/EstimatorStatus")(sensors=[imu], iterations=3)
    assert status.iterations == 3 and [s.name for s in status.sensors] == ["imu"]
    joints = make("sensor_msgs/msg/JointState")(name=["a", "b"], position=np.array([1.0, np.nan]))
    assert joints.position[0] == 1.0 and len(joints.position) == 2
    assert make("diagnostic_msgs/msg/DiagnosticStatus").WARN == b"\1"


# --- one network ----------------------------------------------------------------------------------


def test_dds_node_is_a_node_for_ros(tester, domain):
    from prime_estimation.transport.dds import DdsTransport

    bare = DdsTransport("bare", namespace="robot1", domain=domain)
    try:
        send = bare.publish("~/status", OURS[3])
        assert wait(lambda: ("bare", "/robot1") in tester.get_node_names_and_namespaces(), 10.0)
        assert wait(lambda: tester.get_publishers_info_by_topic("/robot1/bare/status"), 10.0)
        (info,) = tester.get_publishers_info_by_topic("/robot1/bare/status")
        assert info.topic_type == OURS[3] and str(info.topic_type_hash) == typestore().hash_rihs01(
            OURS[3]
        )
        assert info.node_name == "bare" and info.node_namespace == "/robot1"
        got, ros = [], RosTransport(tester)
        ros.subscribe("/robot1/bare/status", OURS[3], lambda m, _: got.append(m))
        message = random_message(OURS[3], np.random.default_rng(0))
        assert wait(lambda: send(message) or bool(got), 10.0)
        assert got[0].cost == message.cost and len(got[0].sensors) == len(message.sensors)
        for heard, said in zip(got[0].sensors, message.sensors):
            assert (heard.name, heard.ok, heard.message) == (said.name, said.ok, said.message)
            assert heard.normalized_innovation == said.normalized_innovation
        ros.close()
    finally:
        bare.close()


@pytest.fixture
def parameters(tmp_path):
    path = tmp_path / "parameters.yaml"
    path.write_text(
        "prime:\n  ros__parameters:\n    robot: go2\n    noise.gyro: 0.006\n    "
        "estimator.window: 12\n    node.world_frame: map\n"
    )
    return path


def test_estimator_under_rclpy_player_over_dds(observer, domain, parameters, recorded_runs):
    estimator = executable("estimator", "--ros-args", "--params-file", parameters)
    try:
        assert wait(lambda: observer.count("/prime/status") > 2, 30.0), estimator.stop()
        count = sent(
            node(
                "replay",
                "--bag",
                recorded_runs / "go2_payload3",
                "--duration",
                SECONDS,
                "--rate",
                0.4,
                domain=domain,
            ).wait(60.0)
        )
        time.sleep(1.5)
        check(observer, count, "map")
    finally:
        code, _, err = estimator.stop()
    assert code == 0 and "Traceback" not in err


def test_estimator_over_dds_player_under_rclpy(observer, domain, recorded_runs):
    estimator = node("--robot", "go2", domain=domain)
    try:
        assert wait(lambda: observer.count("/prime/status") > 2, 30.0), estimator.stop()
        code, _, err = executable(
            "replay",
            "--ros-args",
            "-p",
            f"bag:={recorded_runs / 'go2_payload3'}",
            "-p",
            f"duration:={SECONDS}",
            "-p",
            "rate:=0.4",
        ).wait(60.0)
        assert code == 0, err
        time.sleep(1.5)
        check(observer, {}, "odom")
    finally:
        code, _, err = estimator.stop()
    assert code == 0 and "Traceback" not in err


def check(observer, count: dict[str, int], frame: str) -> None:
    """What both halves of the two-process test have in common."""
    assert wait(
        lambda: all(observer.accounted(role) == number for role, number in count.items()), 15.0
    )
    assert observer.last("/prime/inertial_parameters").total_mass == pytest.approx(
        16.085 + 3.0, abs=0.25
    )
    nodes = observer.count("/prime/contact_wrenches")
    assert observer.count("/prime/odometry") > (0 if overloaded() else 2 * nodes) and nodes > 0
    assert observer.last("/prime/odometry").header.frame_id == frame
    assert observer.last("/tf").transforms[0].child_frame_id == "base"


# --- parameters, lifecycle, services --------------------------------------------------------------


@pytest.fixture(scope="module")
def estimator(tester, tmp_path_factory):
    path = tmp_path_factory.mktemp("parameters") / "parameters.yaml"
    path.write_text("prime:\n  ros__parameters:\n    robot: go2\n    noise.gyro: 0.006\n")
    program = executable("estimator", "--ros-args", "--params-file", path)
    yield program
    code, _, err = program.stop()
    assert code == 0 and "Traceback" not in err


def test_parameters_are_listed_described_set_and_refused(tester, estimator):
    from rcl_interfaces.srv import DescribeParameters, GetParameters, ListParameters, SetParameters
    from rclpy.parameter import Parameter

    names = call(
        tester, ListParameters, "/prime/list_parameters", ListParameters.Request(), 30.0
    ).result.names
    assert {"robot", "noise.gyro", "estimator.window", "node.mocap"} <= set(names)
    asked = ["noise.gyro", "estimator.window", "estimator.form"]
    gyro, window, form = call(
        tester,
        DescribeParameters,
        "/prime/describe_parameters",
        DescribeParameters.Request(names=asked),
    ).descriptors
    assert (
        gyro.description == "angular rate [rad/s]"
        and gyro.floating_point_range[0].to_value == 1.0
        and not gyro.read_only
    )
    assert (
        window.integer_range[0].to_value == 200
        and window.read_only
        and "forward" in form.additional_constraints
    )
    values = call(
        tester, GetParameters, "/prime/get_parameters", GetParameters.Request(names=["noise.gyro"])
    ).values
    assert values[0].double_value == 0.006

    def change(name, value):
        request = SetParameters.Request(
            parameters=[Parameter(name, value=value).to_parameter_msg()]
        )
        return call(tester, SetParameters, "/prime/set_parameters", request).results[0]

    assert change("noise.gyro", 0.01).successful
    assert not change("noise.gyro", 5.0).successful
    assert not change("noise.gyro", "much").successful
    assert not change("estimator.window", 20).successful
    assert not change("noise.encoder", 0.0).successful
    values = call(
        tester, GetParameters, "/prime/get_parameters", GetParameters.Request(names=["noise.gyro"])
    ).values
    assert values[0].double_value == 0.01


def test_services(tester, estimator):
    from std_srvs.srv import SetBool, Trigger

    assert (
        call(tester, SetBool, "/prime/freeze_inertia", SetBool.Request(data=True)).message
        == "inertia is frozen"
    )
    assert call(tester, SetBool, "/prime/freeze_inertia", SetBool.Request(data=False)).success
    assert call(tester, Trigger, "/prime/reset", Trigger.Request()).success


def test_lifecycle(tester, estimator):
    from lifecycle_msgs.msg import Transition
    from lifecycle_msgs.srv import ChangeState, GetState

    def state() -> str:
        return call(tester, GetState, "/prime/get_state", GetState.Request()).current_state.label

    def change(transition: int) -> bool:
        return call(
            tester,
            ChangeState,
            "/prime/change_state",
            ChangeState.Request(transition=Transition(id=transition)),
            30.0,
        ).success

    assert state() == "active"
    assert change(Transition.TRANSITION_DEACTIVATE) and state() == "inactive"
    assert wait(lambda: tester.count_publishers("/prime/odometry") == 0, 15.0)
    assert change(Transition.TRANSITION_CLEANUP) and state() == "unconfigured"
    assert (
        change(Transition.TRANSITION_CONFIGURE)
        and change(Transition.TRANSITION_ACTIVATE)
        and state() == "active"
    )
    assert wait(lambda: tester.count_publishers("/prime/odometry") == 1, 15.0)


def test_bad_parameters_are_one_line(domain):
    code, _, err = executable("estimator", "--ros-args", "-p", "robot:=spot").wait(30.0)
    assert code == 2 and "unknown robot 'spot'" in err and "Traceback" not in err
    code, _, err = executable("estimator", "--ros-args", "-p", "noise.gyro:=-1.0").wait(30.0)
    assert code == 2 and "noise.gyro" in err and "Traceback" not in err
    code, _, err = executable("replay", "--ros-args", "-p", "bag:=/no/such/bag").wait(30.0)
    assert code == 2 and "no such bag" in err
