# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""`prime calibrate` on the recorded walk of a bent machine, whose truth is known."""

import json

import numpy as np
import pytest
import yaml

from prime_estimation.cli import main
from prime_estimation.config.parameters import Config
from prime_estimation.robot import Robot


@pytest.fixture(scope="module")
def calibrated(recorded_runs, tmp_path_factory):
    out = tmp_path_factory.mktemp("calibrated")
    bag = str(recorded_runs / "go2_bent_walk")
    assert main(["calibrate", bag, "--robot", "go2", "--out", str(out), "--no-progress"]) == 0
    machine = json.loads((recorded_runs / "go2_bent_walk.json").read_text())["machine"]
    rows = json.loads((out / "calibration.json").read_text())["offsets"]
    return out, machine, {r["name"]: r for r in rows}


def values(rows, prefix):
    return np.array([rows[f"{prefix} {axis}"]["value"] for axis in "xyz"])


def test_offsets_are_those_of_the_machine(calibrated):
    _, machine, rows = calibrated
    for foot, offset in machine["foot_offset"].items():
        np.testing.assert_allclose(values(rows, foot), offset, atol=1.5e-3)
    np.testing.assert_allclose(values(rows, "mocap position"), machine["mocap_offset"], atol=1.5e-3)
    np.testing.assert_allclose(values(rows, "imu position"), machine["imu_lever"], atol=2e-3)
    for body in ("imu", "mocap"):
        rotation = values(rows, f"{body} rotation")
        np.testing.assert_allclose(rotation, machine[f"{body}_rotation_vector"], atol=2.5e-3)


def test_intervals_hold(calibrated):
    _, machine, rows = calibrated
    truth = {**machine["foot_offset"], "imu position": machine["imu_lever"]}
    truth |= {"mocap position": machine["mocap_offset"]}
    for body in ("imu", "mocap"):
        truth[f"{body} rotation"] = machine[f"{body}_rotation_vector"]
    found = [rows[f"{name} {axis}"] for name in truth for axis in "xyz"]
    expected = np.concatenate(list(truth.values()))
    z = (np.array([r["value"] for r in found]) - expected) / [r["stddev"] for r in found]
    assert np.abs(z).max() < 2.0 and all(r["observable"] for r in found)


def test_the_yaml_is_the_calibrated_robot(calibrated):
    out, _, rows = calibrated
    robot, urdf = Robot.load(str(out / "go2.yaml")), Robot.load("go2")
    lever = robot.imu_placement.translation - urdf.imu_placement.translation
    np.testing.assert_allclose(lever, values(rows, "imu position"), atol=1e-6)
    np.testing.assert_allclose(
        robot.mocap_placement.translation, values(rows, "mocap position"), atol=1e-6
    )
    contacts = yaml.safe_load((out / "go2.yaml").read_text())["robot"]["contacts"]
    np.testing.assert_allclose(contacts[0]["position"], values(rows, "FL_foot"), atol=1e-6)
    assert "FL_foot x" in (out / "report.html").read_text()


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--robot", "go2", "--what", "legs"], "--what is a list of feet, joints, imu, mocap"),
        (["--robot", "go2", "--to", "0.5"], "calibration needs 100 at least"),
        (["--robot", "go2", "--from", "5", "--to", "1"], "nothing lies between"),
    ],
)
def test_bad_input_is_one_line(recorded_runs, tmp_path, capfd, arguments, message):
    bag = str(recorded_runs / "go2_bent_walk")
    assert main(["calibrate", bag, "--out", str(tmp_path), *arguments]) == 2
    told = capfd.readouterr().err
    assert message in told and told.count("\n") == 1


@pytest.fixture(scope="module")
def on_soles(recorded_runs, tmp_path_factory):
    """A G1 with other shanks and markers than it is told, 12 s of a dance; what it is told."""
    folder = tmp_path_factory.mktemp("soles")
    ankles = {
        "left_ankle_pitch_joint": [0.012, -0.010, -0.020],
        "right_ankle_pitch_joint": [-0.015, 0.014, 0.028],
    }
    told = {"joint_offsets": ankles, "mocap_position": [0.020, -0.015, 0.030]}
    content = Config.load("g1").updated({"robot": told}).to_dict()
    content = {"robot": content["robot"], "noise": content["noise"]}
    (folder / "g1.yaml").write_text(yaml.safe_dump(content))
    command = ["calibrate", str(recorded_runs / "g1_dance102_nominal"), "--to", "12"]
    command += ["--robot", str(folder / "g1.yaml"), "--what", "feet,mocap"]
    assert main([*command, "--out", str(folder / "out"), "--no-progress"]) == 0
    rows = json.loads((folder / "out" / "calibration.json").read_text())["offsets"]
    return folder / "out" / "g1.yaml", told, {r["name"]: r for r in rows}


def test_ankles_over_soles_come_back(on_soles):
    """Across the shank they are told by what it tilts sideways: less well, which intervals say."""
    path, told, rows = on_soles
    expected = {**told["joint_offsets"], "mocap position": told["mocap_position"]}
    z = []
    for name, offset in expected.items():
        error = values(rows, name) + np.array(offset)
        stddev = np.array([rows[f"{name} {axis}"]["stddev"] for axis in "xyz"])
        assert np.all(np.abs(error) < [3e-3, 6e-3, 4e-3])
        z.append(error / stddev)
    assert np.abs(z).max() < 2.0
    left = [rows[f"left_ankle_pitch_joint {axis}"]["statistical"] for axis in "xyz"]
    assert left[1] > 2.0 * max(left[0], left[2])


def test_the_yaml_has_the_ankles(on_soles):
    """Of the machine, which has none of what it was told; the spheres of its soles stay."""
    path, told, rows = on_soles
    robot, urdf = Robot.load(str(path)), Robot.load("g1")
    for name, before in told["joint_offsets"].items():
        found = robot.config.joint_offsets[name]
        np.testing.assert_allclose(found, values(rows, name) + before, atol=1e-6)
        joint = urdf.model.getJointId(name)
        places = [r.model.jointPlacements[joint].translation for r in (robot, urdf)]
        np.testing.assert_allclose(places[0] - places[1], found, atol=1e-9)
    assert robot.contacts == urdf.contacts


def test_noise_from_a_short_part(recorded_runs, tmp_path):
    bag = str(recorded_runs / "go2_bent_walk")
    options = ["--what", "mocap,noise", "--oracle", "cholesky", "--iterations", "2", "--to", "3"]
    assert main(["calibrate", bag, "--robot", "go2", "--out", str(tmp_path), *options]) == 0
    noise = json.loads((tmp_path / "calibration.json").read_text())["noise"]
    assert noise["loss"]["after"] < noise["loss"]["before"]
    assert [len(b["covariance"]) for b in noise["blocks"]] == [3] * 9
    assert all(isinstance(b["observable"], bool) for b in noise["blocks"])
    assert "leg_velocity" in (tmp_path / "report.html").read_text()
