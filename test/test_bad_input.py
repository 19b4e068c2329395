# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Bad input: exit code 2 with one clear line, or a degradation that is counted and covered by the covariance; nothing silent."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest
import yaml

from prime_estimation import cli
from prime_estimation.config import Config
from prime_estimation.io.bag import BagReader, BagWriter
from prime_estimation.io.messages import stamp_ns
from prime_estimation.replay import ReplaySummary, replay
from prime_estimation.robot import Robot
from prime_estimation.types import Estimate

SECONDS = 2.4  # of data: start batch, trouble at 1.2 s, and time to recover
TROUBLE = 1.2
SENSORS = ("/joint_states", "/imu", "/mocap/pose")


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """A trotting Go2, and the messages of its sensors as (topic, arrival_ns, message)."""
    pytest.importorskip("mujoco")
    from prime_estimation import simulate

    path = simulate.run("go2", "trot", SECONDS, tmp_path_factory.mktemp("recording") / "run", start=1.0)
    with BagReader(path) as bag:
        return path, list(bag.messages(SENSORS))


@pytest.fixture
def go2():
    config = Config.load("go2")
    return Robot(config.robot), config


class Result:
    """What a replay of a spoilt recording gave."""

    def __init__(self, summary: ReplaySummary, estimates: list[Estimate], start_ns: int):
        self.summary, self.estimates = summary, estimates
        self.t = np.array([e.stamp_ns - start_ns for e in estimates]) * 1e-9

    def between(self, begin: float, end: float) -> list[Estimate]:
        return [e for e, t in zip(self.estimates, self.t, strict=True) if begin < t <= end]


@pytest.fixture
def play(recording, tmp_path, go2):
    """Function: spoil every message of the recording (None drops it), replay what is left."""
    _, messages = recording
    start_ns = messages[0][1]

    def run(spoil: Callable = lambda topic, t, message: message, **options) -> Result:
        spoilt = write(tmp_path / "spoilt.mcap", messages, spoil)
        estimates: list[Estimate] = []
        summary = replay(spoilt, *go2, tmp_path / "out.mcap", observer=estimates.append, **options)
        return Result(summary, estimates, start_ns)

    return run


@pytest.fixture(scope="module")
def clean(recording, tmp_path_factory):
    """The estimates of the unspoilt recording, by stamp."""
    config = Config.load("go2")
    estimates: list[Estimate] = []
    replay(recording[0], Robot(config.robot), config, tmp_path_factory.mktemp("clean") / "out.mcap", observer=estimates.append)
    return {e.stamp_ns: e for e in estimates}


def write(path, messages, spoil: Callable):
    """A bag of the messages that `spoil(topic, seconds, message)` returns."""
    start_ns = messages[0][1]
    with BagWriter(path) as bag:
        for topic, arrival_ns, message in messages:
            changed = spoil(topic, (stamp_ns(message.header) - start_ns) * 1e-9, message)
            if changed is not None:
                bag.write(topic, arrival_ns, changed)
    return path


def shifted(message, seconds: float):
    """The message with another stamp."""
    stamp = stamp_ns(message.header) + round(seconds * 1e9)
    time = type(message.header.stamp)(sec=stamp // 10**9, nanosec=stamp % 10**9)
    return dataclasses.replace(message, header=dataclasses.replace(message.header, stamp=time))


def assert_agrees(estimates: list[Estimate], clean: dict[int, Estimate], sigmas: float = 5.0) -> None:
    """Velocity and mass differ from the unspoilt estimate by no more than the spoilt one's own uncertainty allows."""
    compared = [(e, clean[e.stamp_ns]) for e in estimates if e.stamp_ns in clean]
    assert len(compared) > 20
    for spoilt, good in compared:
        stddev = np.sqrt(np.diag(spoilt.twist_covariance)[:3] + np.diag(good.twist_covariance)[:3])
        assert np.all(np.abs(spoilt.linear_velocity_base - good.linear_velocity_base) < sigmas * stddev)
        body, same = spoilt.bodies[0], good.bodies[0]
        assert abs(body.mass - same.mass) < sigmas * np.hypot(body.mass_stddev, same.mass_stddev)


def fails(capsys, *arguments: str) -> str:
    """The one line on stderr of a command that must end with exit code 2."""
    code = cli.main(list(arguments))
    captured = capsys.readouterr()
    assert code == 2 and captured.out == ""
    assert captured.err.count("\n") == 1 and "Traceback" not in captured.err
    return captured.err


# --- refused with one line ----------------------------------------------------------------------------------------


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
        arrays = {f: np.delete(getattr(message, f), gone) for f in ("position", "velocity", "effort")}
        return dataclasses.replace(message, name=names[:gone] + names[gone + 1 :], **arrays)

    bag = write(tmp_path / "bag.mcap", recording[1], spoil)
    line = fails(capsys, "replay", str(bag), "--robot", "go2", "--out", str(tmp_path / "out.mcap"))
    assert "lacks 1 of 12 joints: RL_calf_joint" in line and ("RL_knee" in line) == (change == "renamed")
    assert not (tmp_path / "out.mcap").exists() and not (tmp_path / "prime_runs").exists()


def test_wrong_robot(recording, tmp_path, capsys):
    """A bag whose joints have the names of another machine."""

    def spoil(topic, t, message):
        return dataclasses.replace(message, name=[f"left_{n}" for n in message.name]) if topic == "/joint_states" else message

    bag = write(tmp_path / "bag.mcap", recording[1], spoil)
    line = fails(capsys, "replay", str(bag), "--robot", "go2", "--out", str(tmp_path / "out.mcap"))
    assert "lacks 12 of 12 joints" in line and "Wrong robot" in line


def test_unknown_robot(recording, tmp_path, capsys):
    line = fails(capsys, "replay", str(recording[0]), "--robot", "go3", "--out", str(tmp_path / "out.mcap"))
    assert "unknown robot 'go3': known are g1, go1, go2" in line


def test_unknown_config_key(recording, tmp_path, capsys):
    changes = tmp_path / "changes.yaml"
    changes.write_text("estimator: {windw: 5}")
    line = fails(capsys, "replay", str(recording[0]), "--robot", "go2", "--config", str(changes), "--out", str(tmp_path / "out.mcap"))
    assert "unknown key 'estimator.windw'; did you mean 'window'?" in line


def test_urdf_without_inertia(recording, tmp_path, capsys):
    urdf = tmp_path / "bare.urdf"
    urdf.write_text(
        '<robot name="bare"><link name="base"/><link name="leg"/><joint name="hip" type="revolute"><parent link="base"/><child link="leg"/>'
        '<axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>'
    )
    robot = tmp_path / "bare.yaml"
    robot.write_text(yaml.safe_dump({"robot": {"name": "bare", "urdf": str(urdf)}}))
    line = fails(capsys, "replay", str(recording[0]), "--robot", str(robot), "--out", str(tmp_path / "out.mcap"))
    assert "has no mass" in line and "<inertial>" in line


@pytest.mark.parametrize("content", [b"", b"\x89MCAP0\r\n", b"not a bag at all"])
def test_broken_bag(content, tmp_path, capsys):
    bag = tmp_path / "bag.mcap"
    bag.write_bytes(content)
    assert "bag.mcap" in fails(capsys, "replay", str(bag), "--robot", "go2", "--out", str(tmp_path / "out.mcap"))


def test_empty_bag(tmp_path, capsys):
    with BagWriter(tmp_path / "bag.mcap", {"/joint_states": "sensor_msgs/msg/JointState"}):
        pass
    line = fails(capsys, "replay", str(tmp_path / "bag.mcap"), "--robot", "go2", "--out", str(tmp_path / "out.mcap"))
    assert "holds no message" in line


@pytest.mark.parametrize("topic", ["/joint_states", "/imu"])
def test_bag_without_a_needed_sensor(topic, recording, tmp_path, capsys):
    bag = write(tmp_path / "bag.mcap", recording[1], lambda name, t, message: None if name == topic else message)
    line = fails(capsys, "replay", str(bag), "--robot", "go2", "--out", str(tmp_path / "out.mcap"))
    assert f"lacks {topic[1:]}" in line and "it has /" in line


def test_bag_too_short_for_a_start(recording, tmp_path, capsys):
    bag = write(tmp_path / "bag.mcap", recording[1], lambda name, t, message: message if t < 0.2 else None)
    line = fails(capsys, "replay", str(bag), "--robot", "go2", "--out", str(tmp_path / "out.mcap"))
    assert "not enough for a start" in line and "joint_states" in line


def test_output_over_input(recording, tmp_path, capsys):
    bag = write(tmp_path / "bag.mcap", recording[1], lambda name, t, message: message if t < 0.1 else None)
    before = bag.read_bytes()
    assert "same file" in fails(capsys, "replay", str(bag), "--robot", "go2", "--out", str(bag))
    assert bag.read_bytes() == before


# --- degraded, counted, covered -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("topic", "bad"), list(zip(SENSORS, (np.nan, np.inf, np.nan), strict=True)))
def test_nan_and_infinite_samples(topic, bad, play, clean):
    def spoil(name, t, message):
        if name != topic or not TROUBLE <= t < TROUBLE + 0.05:
            return message
        if name == "/joint_states":
            return dataclasses.replace(message, position=np.array([bad, *message.position[1:]]))
        if name == "/imu":
            return dataclasses.replace(message, angular_velocity=dataclasses.replace(message.angular_velocity, y=bad))
        return dataclasses.replace(
            message, pose=dataclasses.replace(message.pose, position=dataclasses.replace(message.pose.position, x=bad))
        )

    result = play(spoil)
    reason = {"/joint_states": "joint_states", "/imu": "imu", "/mocap/pose": "mocap"}[topic]
    assert result.summary.counts[f"{reason}: NaN or infinite value"] >= 5
    assert result.estimates[-1].status.dropped_samples >= 5
    assert_agrees(result.between(TROUBLE, SECONDS), clean)


@pytest.mark.parametrize(("topic", "jump"), [("/joint_states", -0.3), ("/joint_states", 2.0), ("/imu", 2.0), ("/mocap/pose", 2.0)])
def test_single_wrong_stamps(topic, jump, play, clean):
    """Now and then one stamp lies in the past or 2 s ahead."""
    seen = 0

    def spoil(name, t, message):
        nonlocal seen
        seen += name == topic
        return shifted(message, jump) if name == topic and t > TROUBLE and seen % 40 == 0 else message

    result = play(spoil)
    assert sum(result.summary.counts.values()) >= 3
    assert result.estimates[-1].status.dropped_samples >= 3
    assert result.summary.final.status.restarts == 0
    assert_agrees(result.between(TROUBLE, SECONDS), clean)


@pytest.mark.parametrize("jump", [-5.0, 2.0])
def test_clock_jumps_for_good(jump, play):
    """All stamps jump: a new start behind the jump, counted."""
    result = play(lambda name, t, message: shifted(message, jump) if t > TROUBLE else message)
    assert result.summary.counts["clock_back" if jump < 0 else "clock_forward"] == 1
    assert result.t[-1] == pytest.approx(SECONDS + jump, abs=0.05)
    assert len(result.between(TROUBLE + jump, SECONDS + jump)) > 50


@pytest.mark.parametrize("topic", SENSORS)
def test_stream_dead_for_half_a_second(topic, play, clean):
    result = play(lambda name, t, message: None if name == topic and TROUBLE <= t < TROUBLE + 0.5 else message)
    before, during = result.between(0.0, TROUBLE)[-1], result.between(TROUBLE + 0.3, TROUBLE + 0.5)
    assert during, "nodes go on without the stream"
    name = {"/joint_states": "joint_states", "/imu": "imu", "/mocap/pose": "mocap"}[topic]
    assert any(s.startswith(name) and ":" in s for e in during for s in e.status.sensors), "the status names the sensor"
    grown = {"/joint_states": "twist_covariance", "/imu": "twist_covariance", "/mocap/pose": "pose_covariance"}[topic]
    assert np.trace(getattr(during[-1], grown)[:3, :3]) > np.trace(getattr(before, grown)[:3, :3])
    assert result.summary.final.status.restarts == 0
    assert_agrees(result.between(TROUBLE, SECONDS), clean)


@pytest.mark.parametrize("robot", ["go1", "go2"])
def test_bag_of_another_robot_with_the_same_joint_names(robot, tmp_path, capsys):
    """A trotting Go1 taken for a Go2: the estimate goes on, and says that it may be another robot."""
    from prime_estimation import simulate

    bag = simulate.run("go1", "trot", 3.5, tmp_path / "run", start=1.0)
    code = cli.main(["replay", str(bag), "--robot", robot, "--out", str(tmp_path / "out.mcap"), "--no-progress"])
    warned = capsys.readouterr().err
    assert code == 0 and ("is it this robot" in warned) == (robot == "go2")
    with BagReader(tmp_path / "out.mcap") as out:
        *_, (_, _, last) = out.messages(["/prime/status"])
    assert any(s.startswith("robot: ") for s in last.sensors) == (robot == "go2")
    assert len(last.sensors) == len(last.normalized_innovations)


def test_truncated_bag(recording, tmp_path, capsys):
    whole = write(tmp_path / "whole.mcap", recording[1], lambda name, t, message: message)
    cut = tmp_path / "cut.mcap"
    cut.write_bytes(whole.read_bytes()[: int(0.7 * whole.stat().st_size)])
    code = cli.main(["replay", str(cut), "--robot", "go2", "--out", str(tmp_path / "out.mcap"), "--json"])
    captured = capsys.readouterr()
    assert code == 0 and "Traceback" not in captured.err
    assert "is damaged" in captured.err and "recovered" in captured.err


def test_mocap_in_a_rotated_frame(play, clean):
    """A constant rotation between tracked body and base is estimated, not believed."""
    half = np.deg2rad(2.0) / 2

    def spoil(name, t, message):
        if name != "/mocap/pose":
            return message
        q = message.pose.orientation  # q * (roll by 2 degrees), in the body
        c, s = np.cos(half), np.sin(half)
        turned = dataclasses.replace(q, x=c * q.x + s * q.w, y=c * q.y + s * q.z, z=c * q.z - s * q.y, w=c * q.w - s * q.x)
        return dataclasses.replace(message, pose=dataclasses.replace(message.pose, orientation=turned))

    assert_agrees(play(spoil).between(TROUBLE, SECONDS), clean)


def test_no_torque(play):
    """Without effort the run goes on; the status says what is missing."""
    result = play(lambda name, t, message: dataclasses.replace(message, effort=np.zeros(0)) if name == "/joint_states" else message)
    assert any(s.startswith("torque:") for s in result.summary.final.status.sensors)
    assert result.summary.nodes > 100
