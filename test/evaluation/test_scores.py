# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Scores of an estimate whose errors are known."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.estimates import make_estimate
from scipy.spatial.transform import Rotation

from prime_estimation.config.parameters import EstimatorConfig
from prime_estimation.errors import DataError
from prime_estimation.evaluation.inertia import true_parameters
from prime_estimation.evaluation.joints import joint_figures
from prime_estimation.evaluation.motion import odometry_figures
from prime_estimation.evaluation.scores import _knows_the_world, evaluate, speed_figures
from prime_estimation.evaluation.truth import load_truth
from prime_estimation.io import to_messages as outbound
from prime_estimation.io.bag import BagWriter, named
from prime_estimation.io.typestore import typestore
from prime_estimation.output_messages import Outputs
from prime_estimation.robot import Robot
from prime_estimation.types import BodyInertia, ContactEstimate, ContactState, SensorHealth

START = 1_700_000_000_000_000_000
SECONDS, SWITCH = 8.0, 4.0
OFFSET, VELOCITY_ERROR, JOINT_ERROR, FORCE_SCALE, MASS_ERROR = (
    np.array([3.0, -2.0, 0.02]),
    0.03,
    0.004,
    1.1,
    0.05,
)


@pytest.fixture(scope="module")
def robot():
    return Robot.load("go2")


def true_pose(t: float) -> tuple[np.ndarray, Rotation]:
    """Straight on at 0.5 m/s, turning at 0.1 rad/s about the vertical."""
    return np.array([0.5 * t, 0.0, 0.3]), Rotation.from_euler("z", 0.1 * t)


def true_force(t: float) -> np.ndarray:
    """A foot that stands every other second."""
    return np.array([2.0, 1.0, 80.0]) if int(t) % 2 == 0 else np.zeros(3)


def joints(robot: Robot, t: float) -> np.ndarray:
    return np.sin(2 * t + np.arange(robot.nj))


@pytest.fixture(scope="module")
def reference(tmp_path_factory, robot):
    """A recording with ground truth, its JSON beside it."""
    path = tmp_path_factory.mktemp("run") / "run.mcap"
    with BagWriter(path) as bag:
        for k in range(int(SECONDS * 250)):
            t, stamp = k / 250, START + k * 4_000_000
            position, rotation = true_pose(t)
            q = joints(robot, t)
            estimate = make_estimate(
                robot,
                stamp,
                position_world=position,
                quat_world_base=rotation.as_quat(),
                linear_velocity_base=rotation.inv().apply([0.5, 0.0, 0.0]),
                angular_velocity_base=np.array([0.0, 0.0, 0.1]),
                joint_position=q,
                joint_velocity=np.zeros(robot.nj),
            )
            bag.write(
                "/ground_truth/odom",
                stamp,
                outbound.odometry(bag.message_class, estimate, "world", "base"),
            )
            truth = outbound.joint_states(bag.message_class, estimate, robot.joint_names)
            bag.write("/ground_truth/joint_states", stamp, truth)
            bag.write("/joint_states", stamp, truth)
            force = outbound._wrench(bag.message_class, true_force(t), np.zeros(3))
            wrench = bag.message_class("geometry_msgs/msg/WrenchStamped")(
                outbound.header(bag.message_class, stamp, "world"), force
            )
            bag.write("/ground_truth/contacts/FL_foot", stamp, wrench)
    light = robot.model.inertias[1].toDynamicParameters()
    heavy = light * 1.4
    truth = {
        "total_mass_true": 16.0,
        "bodies_before": {"base": {"pin_dynamic_parameters": list(light)}},
        "payload": {"t_on": SWITCH},
    }
    truth["bodies_true"] = {"base": {"pin_dynamic_parameters": list(heavy)}}
    path.with_suffix(".json").write_text(json.dumps(truth))
    return path


@pytest.fixture(scope="module")
def scores(tmp_path_factory, robot, reference):
    """Scores of an estimate that is shifted, turned and scaled by known amounts.

    The payload is noticed 0.5 s late.
    """
    out = tmp_path_factory.mktemp("out") / "out.mcap"
    turn = Rotation.from_euler("z", 0.3)
    truth = json.loads(reference.with_suffix(".json").read_text())
    with BagWriter(out) as bag:
        outputs = Outputs(robot, EstimatorConfig(), bag.message_class)
        for k in range(1, int(SECONDS * 100)):
            t, stamp = k / 100, START + k * 10_000_000
            position, rotation = true_pose(t)
            parameters = true_parameters(truth, "base", t - 0.5)
            scaled = parameters * (1 + MASS_ERROR / parameters[0])
            foot = ContactEstimate(
                "FL_foot",
                np.zeros(3),
                FORCE_SCALE * true_force(t - 0.01),
                np.eye(3),
                1.0,
                ContactState.STICKING,
            )
            estimate = make_estimate(
                robot,
                stamp,
                position_world=turn.apply(position) + OFFSET,
                quat_world_base=(turn * rotation).as_quat(),
                linear_velocity_base=rotation.inv().apply([0.5, 0.0, 0.0])
                + [0.0, 0.0, VELOCITY_ERROR],
                angular_velocity_base=np.array([0.0, 0.0, 0.1]),
                pose_covariance=np.diag([1.0, 1.0, 1e-6, 1e-4, 1e-4, 0.3**2]),
                twist_covariance=np.eye(6) * VELOCITY_ERROR**2 / 3,
                joint_position=joints(robot, t) + JOINT_ERROR,
                joint_velocity=(joints(robot, t) - joints(robot, t - 0.01)) / 0.01,
                contacts=(foot,),
                bodies=(BodyInertia("base", scaled, np.eye(10), 0.1, np.full(3, 0.01), True),),
            )
            for topic, message in outputs.messages(estimate):
                bag.write(topic if topic.startswith("/") else f"/prime/{topic}", stamp, message)
    return evaluate(out, reference)


@pytest.mark.slow
def test_odometry(scores):
    o = scores["odometry"]
    assert o["path_m"] == pytest.approx(0.5 * 6.0, abs=0.02)
    # the horizontal offset and yaw are removed, the height is not
    assert o["position_rmse_m"] == pytest.approx(OFFSET[2], abs=1e-4)
    assert o["z_rmse_m"] == pytest.approx(OFFSET[2])
    assert o["drift_percent"] < 1e-3
    assert o["velocity_rmse_mps"] == pytest.approx(VELOCITY_ERROR, rel=1e-4)
    assert o["nees_velocity"] == pytest.approx(3.0, rel=1e-3)
    assert o["yaw_rmse_rad"] < 1e-6 and o["rollpitch_rmse_rad"] < 1e-6
    assert o["rate_hz"] == pytest.approx(100.0)


def test_stated_covariances(scores):
    o = scores["odometry"]
    assert o["nees_orientation"] == pytest.approx(1.0) and o["nees_yaw"] == pytest.approx(1.0)
    assert o["coverage95_rollpitch"] == 1.0
    # the height is wrong by 20 mm and said to be known to 1 mm; the place by 3 m, and to 1 m
    assert o["coverage95_position"] < 0.4
    # all of the error is in one component of three
    assert o["coverage95_velocity"] == pytest.approx(1.0)
    assert o["worst_second_velocity_mps"] == pytest.approx(VELOCITY_ERROR, rel=1e-4)
    # 8 N in z are missed by a standard deviation of 1 N, 0.2 and 0.1 N are not
    assert scores["contacts"]["FL_foot"]["coverage95"] == pytest.approx(2 / 3, abs=0.05)


def test_drift_over_segments(scores):
    assert (
        scores["odometry"]["segment_error_m"] < 1e-5
        and scores["odometry"]["segment_yaw_rad"] < 1e-6
    )
    t = np.arange(0.0, 12.0, 0.01)
    still = dict(t=t, velocity=np.zeros((len(t), 3)), rate=np.zeros((len(t), 3)))
    covariance = dict(
        position_covariance=np.tile(np.eye(3), (len(t), 1, 1)),
        velocity_covariance=np.tile(np.eye(3), (len(t), 1, 1)),
        rotation_covariance=np.tile(np.eye(3), (len(t), 1, 1)),
    )
    path = np.outer(t, [0.5, 0.0, 0.0])
    truth = SimpleNamespace(
        **still, position=path, rotation=Rotation.from_euler("z", np.zeros((len(t), 1)))
    )
    long = SimpleNamespace(
        **still,
        **covariance,
        position=1.01 * path,
        rotation=Rotation.from_euler("z", 1e-5 * t[:, None]),
    )
    figures = odometry_figures(long, truth, 2.0)
    assert figures["segment_drift_percent"] == pytest.approx(1.0, rel=1e-3) and figures[
        "segment_error_m"
    ] == pytest.approx(0.02, rel=1e-3)
    assert figures["segment_yaw_rad"] == pytest.approx(4e-5, rel=1e-3)
    assert odometry_figures(long, truth, 9.0)["segment_error_m"] is None  # too short


def test_joints(scores):
    j = scores["joints"]
    assert j["joints"] == 12
    assert j["estimate"]["position_rmse_rad"] == pytest.approx(JOINT_ERROR, rel=1e-2)
    assert j["estimate"]["velocity_rmse_radps"] < 5e-3
    assert j["sensor"]["position_rmse_rad"] < 1e-4


def test_contacts(scores):
    foot = scores["contacts"]["FL_foot"]
    assert foot["relative_rmse_40ms"] == pytest.approx(FORCE_SCALE - 1, rel=0.05)
    # the edges fall inside nodes
    assert foot["relative_rmse"] == pytest.approx(FORCE_SCALE - 1, rel=0.25)
    assert foot["contact_f1"] > 0.985
    assert scores["contacts"]["mean_contact_f1"] == foot["contact_f1"]
    # 10 % of 80 N all the time, but for the two nodes in which an edge falls
    assert 7.5 < foot["worst_second_N_40ms"] < 13.0


def test_inertia(scores, robot):
    body = scores["inertia"]["base"]
    assert body["mass_true_kg"] == pytest.approx(1.4 * robot.model.inertias[1].mass)
    assert body["mass_error_final_kg"] == pytest.approx(MASS_ERROR)
    assert body["mass_error_max_after_5s_kg"] == pytest.approx(MASS_ERROR)
    assert body["com_error_final_m"] == pytest.approx(0.0, abs=1e-9)
    assert body["settling_after_payload_s"] == pytest.approx(0.5, abs=0.015)
    assert body["mass_coverage95_after_1s"] == pytest.approx(1 - 0.5 / 7.0, abs=0.005)


def test_speed(scores):
    assert scores["speed"]["solve_ms_p50_p99_max"] == [1.5, 1.5, 1.5]
    assert scores["speed"]["dropped_samples"] == 3
    assert scores["missing"] == []


def test_bags_that_do_not_belong_together(tmp_path, robot, reference):
    out = tmp_path / "out.mcap"
    with BagWriter(out) as bag:
        for k in range(50):
            stamp = START + 3_600_000_000_000 + k * 10_000_000
            bag.write(
                "/prime/odometry",
                stamp,
                outbound.odometry(bag.message_class, make_estimate(robot, stamp), "odom", "base"),
            )
    with pytest.raises(DataError, match="of the same run"):
        evaluate(out, reference)
    with pytest.raises(DataError, match="not the output of this estimator"):
        evaluate(reference, reference)
    with pytest.raises(DataError, match="nothing to compare with"):
        evaluate(out, out)


def test_bags_of_different_robots():
    kind = typestore().types["sensor_msgs/msg/JointState"]
    stamp = typestore().types["std_msgs/msg/Header"](
        stamp=typestore().types["builtin_interfaces/msg/Time"](sec=1, nanosec=0), frame_id=""
    )
    one, other = (
        [
            kind(
                header=stamp,
                name=[n],
                position=np.zeros(1),
                velocity=np.zeros(1),
                effort=np.zeros(1),
            )
        ]
        for n in ("a", "b")
    )
    with pytest.raises(DataError, match="no joint in common"):
        joint_figures(one, {"/ground_truth/joint_states": other, "/joint_states": other}, 0, 0.0)


def test_the_truth_of_a_run_whose_name_has_a_dot(tmp_path):
    for name in ("trot_0", "trot_0.5"):
        (tmp_path / name).mkdir()
        (tmp_path / f"{name}.json").write_text(json.dumps({"name": name}))
    assert load_truth(tmp_path / "trot_0.5") == {"name": "trot_0.5"}
    assert load_truth(tmp_path / "trot_0") == {"name": "trot_0"}
    (tmp_path / "trot_0.5" / "run.mcap").touch()
    assert load_truth(tmp_path / "trot_0.5" / "run.mcap") == {"name": "trot_0.5"}


def test_a_run_is_named_from_inside_of_its_folder(tmp_path, monkeypatch):
    (run := tmp_path / "trot").mkdir()
    (tmp_path / "trot.json").write_text(json.dumps({"name": "trot"}))
    monkeypatch.chdir(run)
    assert load_truth(".") == {"name": "trot"}
    (run / "sub").mkdir()
    monkeypatch.chdir(run / "sub")
    assert load_truth("..") == {"name": "trot"}
    assert named("..").name == "trot" and named("run.mcap") == Path("run.mcap")


def test_a_truth_that_is_none(tmp_path):
    path = tmp_path / "truth.json"
    path.write_text("[1, 2]")
    with pytest.raises(DataError, match="must be an object"):
        load_truth(tmp_path, path)
    words = {"base": {"pin_dynamic_parameters": 10 * ["heavy"]}}
    for bodies in ({"base": {}}, {"trunk": {}}, words):
        with pytest.raises(DataError, match="no pin_dynamic_parameters"):
            true_parameters({"bodies_true": bodies}, "base", 0.0)


@pytest.mark.parametrize(
    "truth",
    [
        {},
        {"mass": 3.0},
        {"total_mass_true": None},
        {"total_mass_true": -4.0},
        {"bodies_true": 3},
        {"bodies_true": {"base": 3}},
        {"payload": {"t_on": "late"}},
        {"payload_events": [{"t": 1.0, "bodies": 2}]},
        {"payload_events": [{"t": 1.0, "bodies": None}]},
    ],
)
def test_a_truth_of_another_form(truth, tmp_path):
    path = tmp_path / "truth.json"
    path.write_text(json.dumps(truth))
    with pytest.raises(DataError, match="is not the truth of a run"):
        load_truth(tmp_path, path)


def test_speed_is_that_of_estimates():
    """While there is none, a status has the times 0, and no nodes."""

    def status(nodes: int, ms: float) -> SimpleNamespace:
        times = {"solve_time_ms": ms, "latency_ms": 2.0 * ms}
        return SimpleNamespace(window_nodes=nodes, overruns=1, dropped_samples=3, **times)

    figures = speed_figures([status(0, 0.0), status(0, 0.0), status(10, 4.0), status(10, 4.0)])
    assert figures["solves"] == 2 and figures["overruns"] == 1 and figures["dropped_samples"] == 3
    assert figures["solve_ms_p50_p99_max"] == [4.0] * 3
    assert figures["latency_ms_p50_p99_max"] == [8.0] * 3
    assert np.isnan(speed_figures([status(0, 0.0)])["solve_ms_p50_p99_max"]).all()


@pytest.mark.parametrize("moved, error", [(0.0, 0.0), (0.0005, 0.0088)])
def test_rates_are_compared_at_stamps_of_the_truth(moved, error):
    """Where there are such: between them the truth may have jumped, and no line says when."""

    def motion(period: float, late: float) -> SimpleNamespace:
        t = np.arange(0.0, 6.0, period) + late
        rate, zero = np.outer(t > 3.001, [0.0, 0.0, 1.0]), np.zeros((len(t), 3))
        still = Rotation.from_euler("z", np.zeros((len(t), 1)))
        stated = np.tile(np.eye(3), (len(t), 1, 1))
        out = SimpleNamespace(t=t, position=zero, velocity=zero, rate=rate, rotation=still)
        out.position_covariance = out.velocity_covariance = out.rotation_covariance = stated
        return out

    figures = odometry_figures(motion(0.002, moved), motion(0.004, 0.0), 2.0)
    assert figures["angular_velocity_rmse_radps"] == pytest.approx(error, rel=0.05, abs=1e-9)


def test_the_world_of_an_estimate_without_motion_capture():
    """Place and heading are told from where it began: a perfect run has no NEES of thousands."""
    t = np.arange(0.0, 6.0, 0.01)
    turn, zero = Rotation.from_euler("z", 2.0), np.zeros((len(t), 3))
    heading = Rotation.from_euler("z", 0.1 * t[:, None])
    path = np.stack([0.5 * t, 0.1 * t, 0.3 + 0.0 * t], axis=1)
    # said to be known well along x of its world, and hardly along y
    covariance = np.tile(np.diag([1e-4, 1.0, 1e-4]), (len(t), 1, 1))
    still = dict(t=t, velocity=zero, rate=zero)
    stated = {f"{name}_covariance": covariance for name in ("position", "velocity", "rotation")}
    truth = SimpleNamespace(**still, position=turn.apply(path) + [3.0, 1.0, 0.0])
    truth.rotation = turn * heading
    aside = np.minimum(t[:, None], 1.0) * [0.0, 0.5, 0.0]
    found = SimpleNamespace(**still, **stated, position=path + aside, rotation=heading)
    figures = odometry_figures(found, truth, 2.0, own_world=True)
    assert figures["nees_position"] == pytest.approx(0.25)
    assert figures["nees_orientation"] == pytest.approx(0.0, abs=1e-12)
    assert odometry_figures(found, truth, 2.0)["nees_position"] > 1e3


@pytest.mark.parametrize("mocap", [True, False])
def test_the_sensors_of_a_bag_that_an_earlier_version_wrote(mocap):
    names = ["joint_states", "mocap: no data for 0.4 s"][: 2 if mocap else 1]
    status = SimpleNamespace(sensors=names)
    assert _knows_the_world({"/prime/status": [status]}) is mocap
    status.sensors = [SensorHealth(name.partition(":")[0]) for name in names]
    assert _knows_the_world({"/prime/status": [status]}) is mocap


def joint_states(robot, shift, seconds=4.0):
    make = typestore().types.__getitem__
    return [
        outbound.joint_states(
            make,
            make_estimate(
                robot,
                START + int(1e9 * t),
                joint_position=joints(robot, t + shift),
                joint_velocity=np.zeros(robot.nj),
            ),
            robot.joint_names,
        )
        for t in np.arange(0.0, seconds, 0.01)
    ]


def test_an_estimate_of_another_recording(robot):
    read, zeros = joint_states(robot, 0.0), joint_states(robot, 0.0)
    ref = {"/ground_truth/joint_states": read, "/joint_states": read}
    for message in zeros:  # which an estimator may find
        message.position = np.asarray(message.position) + 0.3
    assert joint_figures(zeros, ref, START, 0.0)
    assert joint_figures(joint_states(robot, 0.02), ref, START, 0.0)
    with pytest.raises(DataError, match="of another recording"):
        joint_figures(joint_states(robot, 1.0), ref, START, 0.0)


def test_what_is_left_out_begins_with_the_estimate(robot, reference, tmp_path):
    """Of one that begins 3 s into the run, and is wrong for a second: in all figures."""
    out = tmp_path / "late.mcap"
    with BagWriter(out) as bag:
        outputs = Outputs(robot, EstimatorConfig(), bag.message_class)
        for k in range(300, 790):
            t, wrong = k / 100, 100.0 * (k < 400)
            position, rotation = true_pose(t)
            force = true_force(t - 0.01) + wrong
            foot = ContactEstimate(
                "FL_foot", np.zeros(3), force, np.eye(3), 1.0, ContactState.STICKING
            )
            estimate = make_estimate(
                robot,
                START + k * 10_000_000,
                position_world=position + wrong,
                quat_world_base=rotation.as_quat(),
                joint_position=joints(robot, t) + 1e-3 * wrong,
                joint_velocity=(joints(robot, t) - joints(robot, t - 0.01)) / 0.01,
                contacts=(foot,),
            )
            for topic, message in outputs.messages(estimate):
                stamp = estimate.stamp_ns
                bag.write(topic if topic.startswith("/") else f"/prime/{topic}", stamp, message)
    found = evaluate(out, reference, settle=1.5)
    assert found["odometry"]["position_rmse_m"] < 1e-3
    assert found["joints"]["estimate"]["position_rmse_rad"] < 1e-3
    assert found["contacts"]["FL_foot"]["force_rmse_N"] < 10.0  # the touch-downs' share


@pytest.mark.parametrize("mocap", [True, False])
def test_forces_in_a_world_without_motion_capture(robot, reference, tmp_path, mocap):
    """They turn with the heading in which the estimate began, and so do their intervals."""
    out, turn = tmp_path / "own.mcap", Rotation.from_euler("z", 0.0 if mocap else 2.0)
    names = ["joint_states", "imu"] + ["mocap"] * mocap
    sensors, A = tuple(SensorHealth(name) for name in names), turn.as_matrix()
    # wrong by 6 N along x of the truth, which is known to 10 N, and y to 0.01
    stated, error = A @ np.diag([100.0, 1e-4, 1.0]) @ A.T, np.array([6.0, 0.0, 0.0])
    with BagWriter(out) as bag:
        outputs = Outputs(robot, EstimatorConfig(), bag.message_class)
        for k in range(1, 790):
            t, stamp = k / 100, START + k * 10_000_000
            position, rotation = true_pose(t)
            force = turn.apply(true_force(t - 0.01) + error)
            foot = ContactEstimate(
                "FL_foot", np.zeros(3), force, stated, 1.0, ContactState.STICKING
            )
            estimate = make_estimate(
                robot,
                stamp,
                position_world=turn.apply(position),
                quat_world_base=(turn * rotation).as_quat(),
                joint_position=joints(robot, t),
                joint_velocity=(joints(robot, t) - joints(robot, t - 0.01)) / 0.01,
                contacts=(foot,),
            )
            status = dataclasses.replace(estimate.status, sensors=sensors)
            for topic, message in outputs.messages(dataclasses.replace(estimate, status=status)):
                bag.write(topic if topic.startswith("/") else f"/prime/{topic}", stamp, message)
    foot = evaluate(out, reference)["contacts"]["FL_foot"]
    assert foot["relative_rmse_40ms"] == pytest.approx(6.0 / 60.0, rel=0.2)
    assert foot["coverage95"] > 0.95


def test_what_is_cut_off_is_said(tmp_path, robot, reference):
    """Of an estimate that ends early, and of a file that does."""
    out = tmp_path / "out.mcap"
    with BagWriter(out) as bag:
        for k in range(500):
            stamp = START + k * 10_000_000
            estimate = make_estimate(robot, stamp)
            message = outbound.odometry(bag.message_class, estimate, "odom", "base")
            bag.write("/prime/odometry", stamp, message)
    assert evaluate(out, reference)["notices"] == ["the estimate breaks off at 4.99 s of 8.00 s"]
    content = reference.read_bytes()
    cut = tmp_path / "cut.mcap"
    cut.write_bytes(content[: len(content) * 4 // 5])
    assert any("breaks off" in notice for notice in evaluate(out, cut)["notices"])


def test_a_folder_is_no_truth(tmp_path):
    with pytest.raises(DataError, match="is a folder"):
        load_truth(tmp_path, tmp_path)
