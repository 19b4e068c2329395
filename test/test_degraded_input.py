# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Bad input that is borne: a degradation that is counted, told and covered by the covariance.

Nothing silent.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest
from helpers.spoiling import SECONDS, SENSORS, shifted, trot, write

from prime_estimation import cli
from prime_estimation.config.parameters import Config
from prime_estimation.io.bag import BagReader
from prime_estimation.recordings.replay import ReplaySummary, replay
from prime_estimation.robot import Robot
from prime_estimation.types import Estimate

TROUBLE = 1.2  # s


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    return trot(tmp_path_factory.mktemp("recording"))


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
    replay(
        recording[0],
        Robot(config.robot),
        config,
        tmp_path_factory.mktemp("clean") / "out.mcap",
        observer=estimates.append,
    )
    return {e.stamp_ns: e for e in estimates}


def assert_agrees(
    estimates: list[Estimate], clean: dict[int, Estimate], sigmas: float = 5.0
) -> None:
    """Velocity and mass differ from the unspoilt estimate by no more than the spoilt one's own
    uncertainty allows."""
    compared = [(e, clean[e.stamp_ns]) for e in estimates if e.stamp_ns in clean]
    assert len(compared) > 20
    for spoilt, good in compared:
        stddev = np.sqrt(np.diag(spoilt.twist_covariance)[:3] + np.diag(good.twist_covariance)[:3])
        assert np.all(
            np.abs(spoilt.linear_velocity_base - good.linear_velocity_base) < sigmas * stddev
        )
        body, same = spoilt.bodies[0], good.bodies[0]
        assert abs(body.mass - same.mass) < sigmas * np.hypot(body.mass_stddev, same.mass_stddev)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("topic", "bad"), list(zip(SENSORS, (np.nan, np.inf, np.nan), strict=True))
)
def test_nan_and_infinite_samples(topic, bad, play, clean):
    def spoil(name, t, message):
        if name != topic or not TROUBLE <= t < TROUBLE + 0.05:
            return message
        if name == "/joint_states":
            return dataclasses.replace(message, position=np.array([bad, *message.position[1:]]))
        if name == "/imu":
            return dataclasses.replace(
                message, angular_velocity=dataclasses.replace(message.angular_velocity, y=bad)
            )
        return dataclasses.replace(
            message,
            pose=dataclasses.replace(
                message.pose, position=dataclasses.replace(message.pose.position, x=bad)
            ),
        )

    result = play(spoil)
    reason = {"/joint_states": "joint_states", "/imu": "imu", "/mocap/pose": "mocap"}[topic]
    assert result.summary.counts[f"{reason}: NaN or infinite value"] >= 5
    assert result.estimates[-1].status.dropped_samples >= 5
    assert_agrees(result.between(TROUBLE, SECONDS), clean)


@pytest.mark.parametrize(
    ("topic", "jump"),
    [("/joint_states", -0.3), ("/joint_states", 2.0), ("/imu", 2.0), ("/mocap/pose", 2.0)],
)
def test_single_wrong_stamps(topic, jump, play, clean):
    """Now and then one stamp lies in the past or 2 s ahead."""
    seen = 0

    def spoil(name, t, message):
        nonlocal seen
        seen += name == topic
        return (
            shifted(message, jump) if name == topic and t > TROUBLE and seen % 40 == 0 else message
        )

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
    result = play(
        lambda name, t, message: None if name == topic and TROUBLE <= t < TROUBLE + 0.5 else message
    )
    before, during = result.between(0.0, TROUBLE)[-1], result.between(TROUBLE + 0.3, TROUBLE + 0.5)
    assert during, "nodes go on without the stream"
    name = {"/joint_states": "joint_states", "/imu": "imu", "/mocap/pose": "mocap"}[topic]
    named = [s for e in during for s in e.status.sensors if s.name == name]
    assert any(not s.ok and s.message for s in named), "the status names the sensor"
    grown = {
        "/joint_states": "twist_covariance",
        "/imu": "twist_covariance",
        "/mocap/pose": "pose_covariance",
    }[topic]
    assert np.trace(getattr(during[-1], grown)[:3, :3]) > np.trace(getattr(before, grown)[:3, :3])
    assert result.summary.final.status.restarts == 0
    assert_agrees(result.between(TROUBLE, SECONDS), clean)


@pytest.mark.slow
@pytest.mark.parametrize("robot", ["go1", "go2"])
def test_bag_of_another_robot_with_the_same_joint_names(robot, tmp_path, capsys):
    """A trotting Go1 taken for a Go2.

    The estimate goes on, and says that it may be another robot.
    """
    from prime_estimation import simulate

    bag = simulate.run("go1", "trot", 3.5, tmp_path / "run", start=1.0)
    code = cli.main(
        ["replay", str(bag), "--robot", robot, "--out", str(tmp_path / "out.mcap"), "--no-progress"]
    )
    warned = capsys.readouterr().err
    assert code == 0 and ("is it this robot" in warned) == (robot == "go2")
    with BagReader(tmp_path / "out.mcap") as out:
        *_, (_, _, last) = out.messages(["/prime/status"])
    doubts = [s for s in last.sensors if s.name == "robot"]
    assert [(s.ok, "is it this robot" in s.message) for s in doubts] == (
        [(False, True)] if robot == "go2" else []
    )
    assert all(np.isfinite(s.normalized_innovation) for s in last.sensors)


def test_truncated_bag(recording, tmp_path, capsys):
    whole = write(tmp_path / "whole.mcap", recording[1], lambda name, t, message: message)
    cut = tmp_path / "cut.mcap"
    cut.write_bytes(whole.read_bytes()[: int(0.7 * whole.stat().st_size)])
    code = cli.main(
        ["replay", str(cut), "--robot", "go2", "--out", str(tmp_path / "out.mcap"), "--json"]
    )
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
        turned = dataclasses.replace(
            q, x=c * q.x + s * q.w, y=c * q.y + s * q.z, z=c * q.z - s * q.y, w=c * q.w - s * q.x
        )
        return dataclasses.replace(
            message, pose=dataclasses.replace(message.pose, orientation=turned)
        )

    assert_agrees(play(spoil).between(TROUBLE, SECONDS), clean)


def test_no_torque(play):
    """Without effort the run goes on; the status says what is missing."""
    result = play(
        lambda name, t, message: (
            dataclasses.replace(message, effort=np.zeros(0)) if name == "/joint_states" else message
        )
    )
    torque = next(s for s in result.summary.final.status.sensors if s.name == "torque")
    assert not torque.ok and torque.message
    assert result.summary.nodes > 100
