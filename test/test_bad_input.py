# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Bad input that is refused: exit code 2 with one clear line."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest
import yaml
from helpers.spoiling import shifted, trot, write

from prime_estimation import cli
from prime_estimation.io.bag import BagWriter


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    return trot(tmp_path_factory.mktemp("recording"))


def fails(capsys, *arguments: str) -> str:
    """The one line on stderr of a command that must end with exit code 2."""
    code = cli.main(list(arguments))
    captured = capsys.readouterr()
    assert code == 2 and captured.out == ""
    assert captured.err.count("\n") == 1 and "Traceback" not in captured.err
    return captured.err


@pytest.mark.parametrize("change", ["missing", "renamed"])
def test_missing_or_renamed_joint(change, recording, tmp_path, capsys):
    def spoil(topic, t, message):
        if topic != "/joint_states":
            return message
        names = list(message.name)
        gone = names.index("RL_calf_joint")
        if change == "renamed":
            names[gone] = "RL_knee"
            return dataclasses.replace(message, name=names)
        arrays = {
            f: np.delete(getattr(message, f), gone) for f in ("position", "velocity", "effort")
        }
        return dataclasses.replace(message, name=names[:gone] + names[gone + 1 :], **arrays)

    bag = write(tmp_path / "bag.mcap", recording[1], spoil)
    line = fails(capsys, "replay", str(bag), "--robot", "go2", "--out", str(tmp_path / "out.mcap"))
    assert "lacks 1 of 12 joints: RL_calf_joint" in line and ("RL_knee" in line) == (
        change == "renamed"
    )
    assert not (tmp_path / "out.mcap").exists() and not (tmp_path / "prime_runs").exists()


def test_wrong_robot(recording, tmp_path, capsys):
    """A bag whose joints have the names of another machine."""

    def spoil(topic, t, message):
        return (
            dataclasses.replace(message, name=[f"left_{n}" for n in message.name])
            if topic == "/joint_states"
            else message
        )

    bag = write(tmp_path / "bag.mcap", recording[1], spoil)
    line = fails(capsys, "replay", str(bag), "--robot", "go2", "--out", str(tmp_path / "out.mcap"))
    assert "lacks 12 of 12 joints" in line and "Wrong robot" in line


def test_unknown_robot(recording, tmp_path, capsys):
    line = fails(
        capsys, "replay", str(recording[0]), "--robot", "go3", "--out", str(tmp_path / "out.mcap")
    )
    assert "unknown robot 'go3': known are a1, b1, g1, go1, go2" in line


def test_unknown_config_key(recording, tmp_path, capsys):
    changes = tmp_path / "changes.yaml"
    changes.write_text("estimator: {windw: 5}")
    line = fails(
        capsys,
        "replay",
        str(recording[0]),
        "--robot",
        "go2",
        "--config",
        str(changes),
        "--out",
        str(tmp_path / "out.mcap"),
    )
    assert "unknown key 'estimator.windw'; did you mean 'window'?" in line


def test_urdf_without_inertia(recording, tmp_path, capsys):
    urdf = tmp_path / "bare.urdf"
    urdf.write_text(
        '<robot name="bare"><link name="base"/><link name="leg"/><joint name="hip" '
        'type="revolute"><parent link="base"/><child link="leg"/>'
        '<axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>'
    )
    robot = tmp_path / "bare.yaml"
    robot.write_text(yaml.safe_dump({"robot": {"name": "bare", "urdf": str(urdf)}}))
    line = fails(
        capsys,
        "replay",
        str(recording[0]),
        "--robot",
        str(robot),
        "--out",
        str(tmp_path / "out.mcap"),
    )
    assert "has no mass" in line and "<inertial>" in line


@pytest.mark.parametrize("content", [b"", b"\x89MCAP0\r\n", b"not a bag at all"])
def test_broken_bag(content, tmp_path, capsys):
    bag = tmp_path / "bag.mcap"
    bag.write_bytes(content)
    assert "bag.mcap" in fails(
        capsys, "replay", str(bag), "--robot", "go2", "--out", str(tmp_path / "out.mcap")
    )


def test_empty_bag(tmp_path, capsys):
    with BagWriter(tmp_path / "bag.mcap", {"/joint_states": "sensor_msgs/msg/JointState"}):
        pass
    line = fails(
        capsys,
        "replay",
        str(tmp_path / "bag.mcap"),
        "--robot",
        "go2",
        "--out",
        str(tmp_path / "out.mcap"),
    )
    assert "holds no message" in line


@pytest.mark.parametrize("topic", ["/joint_states", "/imu"])
def test_bag_without_a_needed_sensor(topic, recording, tmp_path, capsys):
    bag = write(
        tmp_path / "bag.mcap",
        recording[1],
        lambda name, t, message: None if name == topic else message,
    )
    line = fails(capsys, "replay", str(bag), "--robot", "go2", "--out", str(tmp_path / "out.mcap"))
    assert f"lacks {topic[1:]}" in line and "it has /" in line


def test_bag_too_short_for_a_start(recording, tmp_path, capsys):
    bag = write(
        tmp_path / "bag.mcap", recording[1], lambda name, t, message: message if t < 0.2 else None
    )
    line = fails(capsys, "replay", str(bag), "--robot", "go2", "--out", str(tmp_path / "out.mcap"))
    assert "not enough for a start" in line and "joint_states" in line


def test_output_over_input(recording, tmp_path, capsys):
    bag = write(
        tmp_path / "bag.mcap", recording[1], lambda name, t, message: message if t < 0.1 else None
    )
    before = bag.read_bytes()
    assert "same file" in fails(capsys, "replay", str(bag), "--robot", "go2", "--out", str(bag))
    assert bag.read_bytes() == before
    for verb, folder, out in (
        ("replay", tmp_path, bag),
        ("reconstruct", tmp_path / "motion", tmp_path / "motion"),
    ):
        folder.mkdir(exist_ok=True)
        inside = folder / ("motion.mcap" if verb == "reconstruct" else "bag.mcap")
        inside.write_bytes(before)
        assert "same file" in fails(capsys, verb, str(folder), "--robot", "go2", "--out", str(out))
        assert inside.read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("evaluate", "out.mcap", "run", "--settle", "-1"), "--settle must be 0 s or more"),
        (
            ("calibrate", ".", "--robot", "go2", "--out", "out", "--iterations", "-1"),
            "--iterations must be 0 or more",
        ),
    ],
)
def test_numbers_below_zero(arguments, words, capsys):
    assert words in fails(capsys, *arguments)


@pytest.mark.parametrize("number", [0, 12])
def test_inertia_is_not_identified_without_torques(number, recording, tmp_path, capsys):
    """Or with zeros that a driver fills in: a trunk of 7.3 kg had weighed 1.2."""

    def spoil(topic, t, m):
        return dataclasses.replace(m, effort=np.zeros(number)) if topic == "/joint_states" else m

    bag = write(tmp_path / "bag.mcap", recording[1], spoil)
    line = fails(capsys, "identify", str(bag), "--robot", "go2", "--out", str(tmp_path / "out"))
    assert "has no joint torques" in line


def test_stamps_before_time_began(recording, tmp_path, capsys):
    bag = write(tmp_path / "bag.mcap", recording[1], lambda topic, t, m: shifted(m, -2e9))
    line = fails(capsys, "replay", str(bag), "--robot", "go2", "--out", str(tmp_path / "out.mcap"))
    assert "negative stamp" in line


def test_doctor_of_clocks_that_have_nothing_in_common(recording, tmp_path, capsys):
    bag = write(
        tmp_path / "bag.mcap",
        recording[1],
        lambda topic, t, m: shifted(m, 100.0) if topic == "/imu" else m,
    )
    assert cli.main(["doctor", "--bag", str(bag), "--robot", "go2"]) == 0
    said = capsys.readouterr().out
    assert "FAULT       imu is stamped by another clock" in said and "100.000 s ahead" in said
    assert "must be positive" in fails(
        capsys, "doctor", "--bag", str(bag), "--robot", "go2", "--seconds", "0"
    )


@pytest.mark.parametrize(
    ("field", "words"),
    [("position", "no positions")],
)
def test_joints_without_positions(field, words, recording, tmp_path, capsys):
    bag = write(
        tmp_path / "bag.mcap",
        recording[1],
        lambda topic, t, m: _without(m, field) if topic == "/joint_states" else m,
    )
    line = fails(capsys, "replay", str(bag), "--robot", "go2", "--out", str(tmp_path / "out.mcap"))
    assert words in line


def test_what_is_missing_at_the_end_is_said(recording, tmp_path, capsys):
    bag = write(
        tmp_path / "bag.mcap",
        recording[1],
        lambda topic, t, m: _without(m, "effort") if topic == "/joint_states" else m,
    )
    assert (
        cli.main(["replay", str(bag), "--robot", "go2", "--out", str(tmp_path / "out.mcap")]) == 0
    )
    assert "warning: at the end, torque: no data" in capsys.readouterr().err


def _degrees(topic, t, message):
    if topic != "/joint_states":
        return message
    return dataclasses.replace(message, position=np.degrees(message.position))


def _later(topic, t, message):
    return shifted(message, 1000.0) if topic == "/joint_states" else message


@pytest.mark.parametrize(
    "spoil, words",
    [
        (_degrees, "more than a turn: are they in degrees?"),
        (_later, "joints are stamped 1000 s after the IMU"),
    ],
)
def test_why_there_is_no_estimate(spoil, words, recording, tmp_path, capsys):
    bag = write(tmp_path / "bag.mcap", recording[1], spoil)
    line = fails(capsys, "replay", str(bag), "--robot", "go2", "--out", str(tmp_path / "out.mcap"))
    assert words in line and "`prime doctor --bag`" in line


def _in_g(topic, t, message):
    if topic != "/imu":
        return message
    force = message.linear_acceleration
    g = {axis: getattr(force, axis) / 9.81 for axis in "xyz"}
    return dataclasses.replace(message, linear_acceleration=dataclasses.replace(force, **g))


def test_an_inertia_of_forces_in_g(recording, tmp_path, capsys):
    bag = write(tmp_path / "bag.mcap", recording[1], _in_g)
    line = fails(capsys, "identify", str(bag), "--robot", "go2", "--out", str(tmp_path / "out"))
    assert "is it in g?" in line


def _of_no_norm(topic, t, message):
    if topic != "/mocap/pose":
        return message
    quat = dataclasses.replace(message.pose.orientation, x=0.0, y=0.0, z=0.0, w=0.0)
    return dataclasses.replace(message, pose=dataclasses.replace(message.pose, orientation=quat))


def _ahead(topic, t, message):
    return shifted(message, 10.0) if topic == "/mocap/pose" else message


def _rates_in_degrees(topic, t, message):
    """Rates in degrees per second from a second on: no start after that."""
    if topic != "/joint_states" or t < 1.0:
        return message
    return dataclasses.replace(message, velocity=np.degrees(message.velocity))


def _silence(topic, t, message):
    return message if topic == "/mocap/pose" or t < 1.2 else None


@pytest.mark.slow
@pytest.mark.parametrize(
    "spoil, words",
    [
        (_in_g, r"reads [01]\.\d+ m/s\^2 in the mean, gravity is 9.81: is it in g\?"),
        (_of_no_norm, r"mocap: (\d+) of \1 messages refused: orientation is no unit quaternion"),
        (_ahead, r"mocap: (\d+) of \1 messages refused: stamped after joints and IMU"),
        (_rates_in_degrees, r"at the end, there was no estimate for 1\.\d+ s: cannot start"),
        (_silence, r"at the end, there was no estimate for 1\.\d+ s: no readings of joints and"),
    ],
)
def test_what_may_be_wrong_is_said_at_the_end(spoil, words, recording, tmp_path, capsys):
    bag = write(tmp_path / "bag.mcap", recording[1], spoil)
    arguments = ["replay", str(bag), "--robot", "go2", "--out", str(tmp_path / "out.mcap")]
    assert cli.main(arguments) == 0
    err = capsys.readouterr().err
    assert re.search(words, err), err
    assert ("prime doctor --bag" in err) == (spoil not in (_of_no_norm, _ahead))


def _without(message, field: str):
    return dataclasses.replace(message, **{field: np.zeros(0)})


@pytest.mark.parametrize("verb", ["identify", "reconstruct"])
def test_an_imu_of_nan_is_named_where_whole_recordings_are_estimated(
    verb, recording, tmp_path, capsys
):
    def spoil(topic, t, message):
        if topic != "/imu":
            return message
        nan = dataclasses.replace(message.linear_acceleration, x=np.nan)
        return dataclasses.replace(message, linear_acceleration=nan)

    bag = write(tmp_path / "nan.mcap", recording[1], spoil)
    told = fails(capsys, verb, str(bag), "--robot", "go2", "--out", str(tmp_path / "out"))
    assert "refused: imu: NaN or infinite value" in told
