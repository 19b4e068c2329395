# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Feet that sink where they land are no clock: stamps of the IMU stay where nothing is late."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from prime_estimation.config.parameters import Config
from prime_estimation.config.policies import IMU_CLOCK
from prime_estimation.io.bag import BagReader
from prime_estimation.mhe.imu_mount import ImuMount
from prime_estimation.recordings.imu_clock import ImuClock
from prime_estimation.recordings.pipeline import Intake
from prime_estimation.recordings.samples import sensor_samples
from prime_estimation.recordings.topic_choice import choose_topics
from prime_estimation.robot import GRAVITY, Robot
from prime_estimation.types import ImuSample, Measurement


def clock_that_has_seen(first: float, second: float) -> ImuClock:
    """A clock whose two halves of what it has seen tell such delays [s], with little noise."""
    clock, rng = ImuClock(Robot(Config.load("go2").robot)), np.random.default_rng(1)
    for k in range(100):
        late = first if k < 50 else second
        g = rng.normal(0.0, 2.0, (6, 3))  # of six pairs of feet
        e = -late * g + rng.normal(0.0, 1e-4, (6, 3))
        clock._rows.append(np.stack([(a * b).sum(axis=1) for a, b in ((e, e), (e, g), (g, g))]))
    return clock


@pytest.mark.parametrize(
    "first, second, lasts", [(4e-3, 4e-3, True), (4e-3, 1e-3, False), (-3.6e-3, 0.0, False)]
)
def test_both_halves_must_tell_it(first, second, lasts):
    clock = clock_that_has_seen(first, second)
    late = clock.lateness()
    assert late.seconds == pytest.approx(0.5 * (first + second), rel=0.2)
    assert clock._tells(late) and clock._lasts(late) is lasts
    assert len(clock._rows) < IMU_CLOCK.nodes


@pytest.fixture(scope="module")
def g1():
    return Robot(Config.load("g1").robot)


@pytest.mark.parametrize("late", [0.0, 0.012, -0.008])
def test_a_robot_that_sways_over_its_ankle_tells_by_its_sole(late, g1):
    """The other leg is stiff: its sole turns with the base, and is no sole that stands."""
    clock, step = ImuClock(g1), 0.01
    ankle = g1.joint_names.index("left_ankle_pitch_joint")
    R = ImuMount(g1).motion(np.zeros(g1.nj), np.zeros(g1.nj))[0].rotation

    def swings(t):
        return 2.0 * np.sin(9.0 * t) + np.sin(5.0 * t)

    for k in range(1, 401):
        t, velocity, position = (k - 0.5) * step, np.zeros(g1.nj), np.zeros(g1.nj)
        velocity[ankle] = swings(t)
        over = clock._soles.against_base(position, np.eye(g1.nj)[ankle])[0]
        gyro, up = R.T @ (-swings(t - late) * over), R.T @ np.array([0.0, 0.0, GRAVITY])
        clock.learn(Measurement(k * 10_000_000, position, velocity, gyro, accelerometer=up))
    assert 1e-9 * clock.late_ns == pytest.approx(late, rel=0.1, abs=1e-4)


@pytest.mark.parametrize("late", [0.0, 0.02, -0.008])
def test_a_recorded_walk_on_soles(late, g1, recorded_runs):
    """A G1 stands on both of its feet for a few nodes of a step: its soles tell. 20 ms late put its
    velocity 64 mm/s off, and were not found."""
    intake, nodes = Intake(g1, 0.01, False, imu_clock=True), 0
    with BagReader(recorded_runs / "g1_walk_nominal") as bag:
        used = choose_topics(bag, g1, False)
        for _, sample in sensor_samples(bag, used, intake.reader):
            if isinstance(sample, ImuSample):
                by = round(1e9 * late)
                sample = dataclasses.replace(sample, stamp_ns=sample.stamp_ns + by)
            nodes += len(list(intake.take(sample)))
    assert intake.reader.imu_late_ns == pytest.approx(1e9 * late, rel=0.12, abs=0.5e6)
    assert (intake.counts["imu_clock"] > 0) == (late != 0.0) and nodes > 1400
