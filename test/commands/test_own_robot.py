# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""What the verbs say of a robot that is none of the built-in ones."""

import json

import pytest

from prime_estimation import cli

SOLO = """
robot:
  name: solo
  urdf: example-robot-data:solo12
  {imu}
  contacts:
    - {{name: FL, frame: FL_FOOT}}
    - {{name: FR, frame: FR_FOOT}}
    - {{name: HL, frame: HL_FOOT}}
    - {{name: HR, frame: HR_FOOT}}
"""


@pytest.mark.parametrize("robot", ["go1", "go2", "g1"])
def test_doctor_has_no_hints_for_the_robots_that_defaults_are_made_for(robot, capsys):
    assert cli.main(["doctor", "--robot", robot, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["hints"] == []


def test_doctor_knows_what_does_not_suit_a_light_robot(tmp_path, capsys):
    path = tmp_path / "solo.yaml"
    path.write_text(SOLO.format(imu=""))
    assert cli.main(["doctor", "--robot", str(path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["robot"]["base"] == "base_link, floating" and found["robot"]["IMU"] == "none"
    hints = "\n".join(found["hints"])
    for words in (
        "armature",
        "imu_frame",
        "base_force: 0.33",
        "kappa: 9000",
        "joint_torque",
        "mass_stddev: 0.46",
    ):
        assert words in hints
    path.write_text(
        SOLO.format(imu="imu_frame: base_link\n  armature: 4e-4\n  kappa: 9000")
        + "noise: {joint_torque: 0.03, base_force: 0.33, base_moment: 0.083, joint_model: 0.025}\n"
        + "estimator: {mass_stddev: 0.46}"
    )
    assert cli.main(["doctor", "--robot", str(path)]) == 0
    assert "its settings are of the right size" in capsys.readouterr().out


def test_doctor_refuses_what_the_estimator_cannot_use(tmp_path, capsys):
    path = tmp_path / "solo.yaml"
    path.write_text(SOLO.format(imu="imu_frame: imu"))
    assert cli.main(["doctor", "--robot", str(path)]) == 2
    assert "no frame 'imu' for the IMU" in capsys.readouterr().err
    path.write_text("robot: {urdf: 'example-robot-data:solo12'}")
    assert cli.main(["doctor", "--robot", str(path)]) == 2
    assert "needs contacts" in capsys.readouterr().err


def test_a_demo_that_is_refused_leaves_nothing(tmp_path, capsys):
    pytest.importorskip("mujoco")
    path = tmp_path / "arm.yaml"
    path.write_text("robot: {name: arm, urdf: 'example-robot-data:panda', floating_base: false}")
    assert cli.main(["demo", "--robot", str(path), "--out", str(tmp_path / "runs")]) == 2
    assert "only robots with a floating base" in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


def test_doctor_asks_about_units(tmp_path, capsys):
    """Of what may be meant, but hardly is."""
    path = tmp_path / "solo.yaml"
    text = SOLO.format(imu="imu_rotation: [4.7, 0, 0]\n  joint_zeros: {FL_HFE: 1.5}")
    path.write_text(text.replace("frame: FL_FOOT", "frame: FL_FOOT, radius: 0.9"))
    assert cli.main(["doctor", "--robot", str(path), "--json"]) == 0
    hints = "\n".join(json.loads(capsys.readouterr().out)["hints"])
    for words in ("FL_HFE: 1.5 rad is 86 degrees", "robot.imu_rotation is", "radius 0.9 m reaches"):
        assert words in hints
    assert hints.count("beyond its joint") == 1


def test_doctor_names_feet_that_are_on_one_leg(tmp_path, capsys):
    path = tmp_path / "solo.yaml"
    knee = "contacts:\n    - {name: knee, frame: FL_UPPER_LEG, position: [0, 0, -0.16]}"
    path.write_text(SOLO.format(imu="").replace("contacts:", knee))
    assert cli.main(["doctor", "--robot", str(path), "--json"]) == 0
    hints = "\n".join(json.loads(capsys.readouterr().out)["hints"])
    assert hints.count("on one leg") == 1
    assert "the feet FL_UPPER_LEG and FL_FOOT are on one leg" in hints
