# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Rates that lag the positions are found and left out; rates in time, however noisy, stay."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from helpers.runs import truth, velocity_errors

from prime_estimation.config.parameters import Config
from prime_estimation.io.bag import BagReader
from prime_estimation.recordings.pipeline import Pipeline
from prime_estimation.recordings.rate_lag import RateLag
from prime_estimation.recordings.samples import sensor_samples
from prime_estimation.recordings.topic_choice import choose_topics
from prime_estimation.robot import Robot
from prime_estimation.types import JointSample, Measurement

STEP, NJ, FINE = 0.01, 12, 10
NOISE = 0.002, 0.05  # rad, rad/s


def watch(
    lag=0.0, cutoff=None, size=0.6, every=1, seed=0, interval=0.0
) -> tuple[RateLag, int | None]:
    """Legs that trot, read at 1 kHz: the monitor, and the node at which it found that rates lag.

    Args:
        lag: of the rates [s]. cutoff: of a low-pass of theirs [rad/s].
        size: of the motion [rad]. every: reading that comes, of those.
        interval: between readings, as the measurement says [s].
    """
    rng, h = np.random.default_rng(seed), STEP / FINE
    t = np.arange(0.0, 4.0, h)
    phase = rng.uniform(0.0, 6.28, NJ)
    swing = lambda at: size * np.sin(11.0 * at[:, None] + phase)  # noqa: E731
    swing_rate = lambda at: 11.0 * size * np.cos(11.0 * at[:, None] + phase)  # noqa: E731
    q, v = swing(t), swing_rate(t - lag)
    if cutoff is not None:
        for k in range(1, len(v)):
            v[k] = v[k - 1] + h * cutoff * (v[k] - v[k - 1])
    q = q + NOISE[0] * rng.standard_normal(q.shape)
    v = v + NOISE[1] * rng.standard_normal(v.shape)
    rates = RateLag(STEP)
    for node, k in enumerate(range(FINE, len(t), FINE)):
        seen = slice(k - FINE + every, k + 1, every)
        stamp_ns, mean = round(1e9 * t[k]), v[seen].mean(axis=0)
        if rates.learn(Measurement(stamp_ns, q[k], mean, None, joint_interval=interval)):
            return rates, node
    return rates, None


@pytest.mark.parametrize(
    "way, lag",
    [
        (dict(lag=0.01), 0.01),
        (dict(lag=0.005), 0.005),
        (dict(lag=-0.008), -0.008),
        (dict(cutoff=2 * np.pi * 10.0), 0.016),
        (dict(cutoff=2 * np.pi * 30.0), 0.005),
    ],
)
def test_a_lag_is_found_in_a_second_and_a_half(way, lag):
    rates, node = watch(**way)
    assert node is not None and node < 160
    assert rates.lag == pytest.approx(lag, abs=2e-3)


def test_joints_that_are_read_seldom_tell_none():
    assert watch(lag=0.02)[0].lag
    assert watch(lag=0.02, interval=0.01)[0].lag == 0.0


@pytest.mark.parametrize(
    "way", [dict(), dict(every=2), dict(every=5), dict(lag=0.001), dict(lag=0.02, size=0.01)]
)
def test_rates_in_time_and_legs_at_rest_tell_none(way):
    rates, node = watch(**way)
    assert node is None and rates.lag == 0.0


def test_what_lags_is_left_out():
    rates, _ = watch(lag=0.01)
    ones = np.ones(NJ)
    m = Measurement(0, ones, ones, None, position_carried=ones)
    left = rates.without(m)
    assert left.velocity is None and left.position_carried is None and left.position is ones
    assert watch()[0].without(m) is m


@pytest.mark.slow
def test_a_walk_with_filtered_rates(tmp_path):
    """No estimate began with rates through a low-pass of 10 Hz: feet that stood seemed to move."""
    pytest.importorskip("mujoco")
    from prime_estimation import simulate

    bag = simulate.run("go1", "trot", 5.0, tmp_path / "run", seed=5)
    config = Config.load("go1")
    robot = Robot(config.robot)
    pipeline, past, out = Pipeline(robot, config, mocap=False), None, []
    with BagReader(bag) as reader:
        used = choose_topics(reader, robot, False)
        read = [sample for _, sample in sensor_samples(reader, used, pipeline.intake.reader)]
    for sample in read:
        if isinstance(sample, JointSample):
            kept = np.exp(-2.0 * np.pi * 10.0 * 0.002)
            now = sample.velocity
            past = now if past is None else kept * past + (1.0 - kept) * now
            sample = replace(sample, velocity=past)
        out += list(pipeline.push(sample))
    said = {s.name: s.message for s in out[-1].status.sensors}
    assert "rates lag the positions by 1" in said["joint_states"]
    assert "stamps" not in said["imu"]
    stamps, _ = truth(bag, "/ground_truth/odom", lambda m: 0.0)
    late = [e for e in out if e.stamp_ns > stamps[0] + 2_500_000_000]
    error = velocity_errors(bag, late)
    assert len(late) > 200 and np.sqrt(np.mean(np.sum(error**2, axis=1))) < 0.02
