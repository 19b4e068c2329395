# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Replay: complete output in data time, the same every time, paced when asked."""

from __future__ import annotations

import time
from collections import Counter

import numpy as np
import pytest

from prime_estimation.config import Config
from prime_estimation.io.bag import BagReader
from prime_estimation.io.messages import stamp_ns
from prime_estimation.replay import replay
from prime_estimation.robot import Robot

SECONDS = 1.0


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """A trotting Go2."""
    pytest.importorskip("mujoco")
    from prime_estimation import simulate

    return simulate.run("go2", "trot", SECONDS, tmp_path_factory.mktemp("recording") / "run", start=1.0)


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
        *(f"wrench/{leg}_foot" for leg in ("FL", "FR", "RL", "RR")),
    ]
    assert {counts[f"/prime/{t}"] for t in per_node} | {counts["/tf"]} == {summary.nodes}
    assert summary.nodes >= 45  # half a second goes into the start batch
    assert counts["/prime/odometry"] > 4 * summary.nodes  # at the rate of the IMU


def test_stamps_are_those_of_the_data(played):
    _, messages = played
    stamps = [(arrival, stamp_ns(m.header)) for topic, arrival, m in messages if topic == "/prime/odometry"]
    assert all(arrival == stamp for arrival, stamp in stamps)
    assert np.all(np.diff([s for _, s in stamps]) > 0)
    wrenches = [arrival - stamp_ns(m.header) for topic, arrival, m in messages if topic == "/prime/contact_wrenches"]
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
    assert not any("mocap" in s for topic, _, m in messages if topic == "/prime/status" for s in m.sensors)


def test_real_time_takes_its_time(recording, tmp_path):
    began = time.perf_counter()
    summary, _ = run(recording, tmp_path / "out.mcap", realtime=True)
    assert time.perf_counter() - began >= SECONDS - 0.05
    assert summary.final.status.latency_ms > 0.0


def test_progress_goes_from_nothing_to_all(recording, tmp_path):
    fractions: list[float] = []
    run(recording, tmp_path / "out.mcap", progress=fractions.append)
    assert fractions == sorted(fractions) and fractions[-1] == 1.0 and len(fractions) > 50
