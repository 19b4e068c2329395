# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Replay: complete output in data time, the same every time, paced when asked."""

from __future__ import annotations

import time
from collections import Counter

import numpy as np
import pytest

from prime_estimation.config.parameters import Config
from prime_estimation.errors import DataError
from prime_estimation.io.bag import BagReader, BagWriter
from prime_estimation.io.messages import stamp_ns
from prime_estimation.io.typestore import typestore
from prime_estimation.io.unitree import family_of
from prime_estimation.recordings.replay import replay
from prime_estimation.robot import Robot

SECONDS = 1.0


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """A trotting Go2."""
    pytest.importorskip("mujoco")
    from prime_estimation import simulate

    return simulate.run(
        "go2", "trot", SECONDS, tmp_path_factory.mktemp("recording") / "run", start=1.0
    )


def run(recording, out, **options):
    """Summary of a replay into `out`, and the output's messages."""
    config = Config.load("go2")
    summary = replay(recording, Robot(config.robot), config, out, **options)
    with BagReader(out) as bag:
        return summary, list(bag.messages())


@pytest.fixture(scope="module")
def played(recording, tmp_path_factory):
    return run(recording, tmp_path_factory.mktemp("out") / "out.mcap")


def test_output_topics(played):
    summary, messages = played
    counts = Counter(topic for topic, _, _ in messages)
    per_node = [
        "joint_states",
        "contact_wrenches",
        "inertial_parameters",
        "status",
        "external_wrench",
        *(f"wrench/{leg}_foot" for leg in ("FL", "FR", "RL", "RR")),
    ]
    assert {counts[f"/prime/{t}"] for t in per_node} | {counts["/tf"]} == {summary.nodes}
    assert summary.nodes >= 45  # half a second goes into the start batch
    assert counts["/prime/odometry"] > 4 * summary.nodes  # at the rate of the IMU


def test_stamps_are_those_of_the_data(played):
    _, messages = played
    stamps = [
        (arrival, stamp_ns(m.header))
        for topic, arrival, m in messages
        if topic == "/prime/odometry"
    ]
    assert all(arrival == stamp for arrival, stamp in stamps)
    assert np.all(np.diff([s for _, s in stamps]) > 0)
    wrenches = [
        arrival - stamp_ns(m.header)
        for topic, arrival, m in messages
        if topic == "/prime/contact_wrenches"
    ]
    assert set(wrenches) == {10_000_000}  # one node older than the state


def test_replay_is_deterministic_bit_for_bit(recording, played, tmp_path):
    def timeless(messages):
        for topic, arrival, message in messages:
            if topic == "/prime/status":
                message.solve_time_ms = message.latency_ms = 0.0  # wall-clock time
            yield topic, arrival, repr(message)

    _, again = run(recording, tmp_path / "again.mcap")
    assert list(timeless(again)) == list(timeless(played[1]))


def test_without_mocap(recording, tmp_path):
    summary, messages = run(recording, tmp_path / "out.mcap", mocap=False)
    assert "mocap" not in summary.topics and summary.nodes >= 45
    assert not any(
        "mocap" in s.name for topic, _, m in messages if topic == "/prime/status" for s in m.sensors
    )


def test_real_time_takes_its_time(recording, tmp_path):
    began = time.perf_counter()
    summary, _ = run(recording, tmp_path / "out.mcap", realtime=True)
    assert time.perf_counter() - began >= SECONDS - 0.05
    assert summary.final.status.latency_ms > 0.0


def test_progress_goes_from_nothing_to_all(recording, tmp_path):
    fractions: list[float] = []
    run(recording, tmp_path / "out.mcap", progress=fractions.append)
    assert fractions == sorted(fractions) and fractions[-1] == 1.0 and len(fractions) > 50


def blank(kind: str):
    """A message of the given type, all zeros."""
    store = typestore()

    def value(field):
        node, detail = field
        if node.name == "BASE":
            return "" if detail[0] == "string" else 0
        if node.name == "NAME":
            return blank(detail)
        inner, length = detail if node.name == "ARRAY" else (detail[0], 0)
        if inner[0].name == "BASE" and inner[1][0] != "string":
            return np.zeros(
                length, dtype=np.dtype({"octet": "uint8"}.get(inner[1][0], inner[1][0]))
            )
        return [value(inner) for _ in range(length)]

    return store.types[kind](**{name: value(field) for name, field in store.fielddefs[kind][1]})


def test_unitree_lowstate_stands_in_for_joints_and_imu(recording, played, tmp_path):
    """The same run as the robot itself sends it.

    Motor order, quaternion w first, a tick instead of a stamp.
    """
    family = family_of("go2")
    with BagReader(recording) as bag, BagWriter(tmp_path / "raw.mcap") as raw:
        imu = None
        for topic, arrival, message in bag.messages(["/joint_states", "/imu", "/mocap/pose"]):
            if topic == "/mocap/pose":
                raw.write(topic, arrival, message)
            elif topic == "/imu":
                imu = message
            elif imu is not None and arrival % 2_000_000 == 0:
                low = blank(family.type)
                low.tick = (stamp_ns(message.header) // 1_000_000) % 2**32
                for i, name in enumerate(family.joints):
                    k, motor = message.name.index(name), low.motor_state[i]
                    motor.q, motor.dq, motor.tau_est = (
                        message.position[k],
                        message.velocity[k],
                        message.effort[k],
                    )
                w, a = imu.angular_velocity, imu.linear_acceleration
                low.imu_state.gyroscope[:], low.imu_state.accelerometer[:] = (
                    (w.x, w.y, w.z),
                    (a.x, a.y, a.z),
                )
                raw.write("/lowstate", arrival, low)
    summary, _ = run(tmp_path / "raw.mcap", tmp_path / "out.mcap")
    assert (
        summary.topics == {"mocap": "/mocap/pose", "lowstate": "/lowstate"} and summary.counts == {}
    )
    assert abs(summary.final.stamp_ns - played[0].final.stamp_ns) < 20_000_000
    np.testing.assert_allclose(
        summary.final.position_world, played[0].final.position_world, atol=0.01
    )


@pytest.mark.parametrize("options", [dict(mocap=False), dict(without=["mocap"])])
def test_a_topic_of_a_sensor_that_is_left_out_is_refused(options, recording, tmp_path):
    """One of the two is meant: the result would silently be that with the sensor."""
    with pytest.raises(DataError, match="a topic is given for mocap, which is not to be used"):
        run(recording, tmp_path / "out.mcap", topics={"mocap": "/mocap/pose"}, **options)
