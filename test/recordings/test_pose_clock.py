# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Motion capture that is late by more than a mount explains is named, with what compensates it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from prime_estimation.config.parameters import Config
from prime_estimation.io.bag import BagReader
from prime_estimation.recordings.pipeline import Intake, Pipeline
from prime_estimation.recordings.pose_clock import PoseClock
from prime_estimation.recordings.samples import sensor_samples
from prime_estimation.recordings.topic_choice import choose_topics
from prime_estimation.robot import Robot
from prime_estimation.types import Measurement, PoseSample

STEP, FINE = 0.01, 0.001
NOISE = 0.00873  # rad, of a pose


@pytest.fixture(scope="module")
def go2():
    return Robot(Config.load("go2").robot)


def swaying(seconds=6.0, seed=0):
    """Times [s], rates (n, 3) [rad/s] of a base that sways unevenly, and its rotations."""
    rng = np.random.default_rng(seed)
    t = np.arange(0.0, seconds, FINE)
    rates = np.zeros((len(t), 3))
    for w in rng.uniform(2.0, 14.0, 12):
        rates += 0.25 * np.cos(w * t + rng.uniform(0.0, 6.28))[:, None] * rng.standard_normal(3)
    R, turned = np.eye(3), []
    for rate in rates:
        turned.append(R)
        R = R @ pin.exp3(FINE * rate)
    return t, rates, turned


def watch(robot, late: float, mount=(0.0, 0.0, 0.0), moves=1.0, clock=None) -> PoseClock:
    """What the monitor has told after poses at 100 Hz that are late [s], of a turned body."""
    rng, clock, pending = np.random.default_rng(1), clock or PoseClock(robot, STEP), []
    t, rates, turned = swaying()
    C = pin.exp3(np.array(mount))
    for k in range(10, len(t), 10):
        if moves:
            R = turned[k] @ C @ pin.exp3(NOISE * rng.standard_normal(3))
            quat = pin.Quaternion(R).coeffs()
            pending.append(PoseSample(round(1e9 * (t[k] + late)), np.zeros(3), np.array(quat)))
        now = round(1e9 * t[k])
        due = tuple(pose for pose in pending if pose.stamp_ns <= now)
        pending = [pose for pose in pending if pose.stamp_ns > now]
        gyro = rates[k - 10 : k].mean(axis=0)
        clock.learn(Measurement(now, np.zeros(12), None, gyro, readings={"mocap": due}))
    return clock


@pytest.mark.parametrize("mount", [(0.0, 0.0, 0.0), (0.3, -1.2, 2.0)])
@pytest.mark.parametrize("late", [0.33, 0.15, -0.25])
def test_how_late_poses_are_whatever_the_mount(late, mount, go2):
    clock = watch(go2, late, mount)
    assert clock.late == pytest.approx(late, abs=0.015)
    side = "late" if late > 0.0 else "early"
    assert f"about {abs(late):.2f} s {side}" in clock.remark
    assert f"robot.mocap_delay: {late:.2f}" in clock.remark


@pytest.mark.parametrize("late", [0.0, 0.04, -0.04])
def test_what_the_estimate_finds_itself_is_left_to_it_and_ends_the_comparison(late, go2):
    clock = watch(go2, late)
    assert clock.late == 0.0 and not clock.remark and clock._settled


def test_poses_that_never_come_say_nothing(go2):
    assert not watch(go2, 0.33, moves=0.0).remark


def play(bag_path, robot, make, late: float, seconds: float):
    """What `make` takes of a bag whose poses are late [s], the last it gave."""
    with BagReader(bag_path) as bag:
        for at, sample in sensor_samples(bag, choose_topics(bag, robot, True), make.reader):
            if 1e-9 * (at - bag.start_ns) > seconds:
                return
            if isinstance(sample, PoseSample):
                sample = replace(sample, stamp_ns=sample.stamp_ns + round(1e9 * late))
            yield sample


def test_the_status_names_the_key_that_compensates_it(recorded_runs, go2):
    config, told = Config.load("go2"), ""
    pipeline = Pipeline(go2, config)
    for sample in play(recorded_runs / "go2_payload3", go2, pipeline.intake, 0.33, 5.0):
        for estimate in pipeline.push(sample):
            mocap = next(s for s in estimate.status.sensors if s.name == "mocap")
            told = mocap.message
    assert "motion capture is about 0.33 s late" in told and not mocap.ok
    assert "set robot.mocap_delay: 0.33" in told


@pytest.mark.parametrize("run", ["go2_streams_payload3", "go2_lift_payload3", "g1_walk_nominal"])
def test_poses_in_time_are_not_called_late(run, recorded_runs):
    robot = Robot(Config.load(run.split("_")[0]).robot)
    intake = Intake(robot, STEP)
    for sample in play(recorded_runs / run, robot, intake, 0.0, 12.0):
        for _ in intake.take(sample):
            assert not intake.pose_clock.remark
    assert intake.pose_clock._settled


def test_the_key_takes_it_off_and_recorded_poses_find_their_nodes(recorded_runs, go2, tmp_path):
    from helpers.spoiling import shifted, write

    with BagReader(recorded_runs / "go2_payload3") as bag:
        topics = ("/joint_states", "/imu", "/mocap/pose")
        messages = [m for m in bag.messages(topics) if 1e-9 * (m[1] - bag.start_ns) < 5.0]
    # late as they came, too: stamped on arrival
    late = [(topic, at + 330_000_000 * ("mocap" in topic), m) for topic, at, m in messages]
    path = write(
        tmp_path / "late.mcap",
        sorted(late, key=lambda m: m[1]),
        lambda topic, _, m: shifted(m, 0.33) if "mocap" in topic else m,
    )
    counted = {}
    for delay in (0.0, 0.33):
        robot = Robot(replace(Config.load("go2").robot, mocap_delay=delay))
        intake, seen = Intake(robot, STEP), 0
        with BagReader(path) as bag:
            for _, sample in sensor_samples(bag, choose_topics(bag, robot, True), intake.reader):
                seen += sum(len(node.measurement.mocap) for node in intake.take(sample))
        counted[delay] = bool(intake.pose_clock.remark), seen, intake.counts["mocap_late_node"]
    assert counted[0.0][0] and not counted[0.33][0]
    assert counted[0.33][1] > 550 and counted[0.33][2] == 0


def test_a_clock_that_is_set_later_is_found_once_poses_are_refused(go2):
    clock = watch(go2, 0.0)
    assert clock._settled
    for refused, settled in ((9, True), (10, False)):
        clock.doubt(refused)
        clock.learn(Measurement(0, np.zeros(12), None, None))
        assert clock._settled is settled
    again = watch(go2, 0.2, clock=clock)
    assert again.late == pytest.approx(0.2, abs=0.015) and "0.20 s late" in again.remark
