# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Encoder glitches: refused, counted by joint, never for good."""

import numpy as np
import pytest
from helpers.streams import MS, NJ, START, STEP, feed, imu, milliseconds

from prime_estimation.alignment.encoder_glitches import GlitchCheck
from prime_estimation.alignment.synchronizer import Synchronizer
from prime_estimation.sensors.sensor import Wearer
from prime_estimation.types import JointSample

NAMES = ("hip", "thigh", "calf")


def swinging(t_ms, offset=0.0, rates=True, speed=10.0):
    """Joints on a sine of 3 Hz and so many rad/s; offset: of the calf [rad]."""
    w = 2.0 * np.pi * 3.0
    q = np.full(NJ, speed / w * np.sin(w * 1e-3 * t_ms))
    dq = np.full(NJ, speed * np.cos(w * 1e-3 * t_ms))
    q[2] += offset
    return JointSample(START + round(t_ms * MS), q, dq if rates else None)


def run(offsets, rates=True, times=np.arange(0, 300, 2.0), speed=10.0, jitter=0.0):
    """Nodes and counts of a run; offsets: function of time to the offset of the calf."""
    sync = Synchronizer(STEP, NJ, wearer=Wearer(NAMES, (), 0.01))
    rng, samples = np.random.default_rng(1), []
    for t in times:
        sample = swinging(t, offsets(t), rates, speed)
        late = round(jitter * MS * rng.uniform(-1.0, 1.0))
        samples += [JointSample(sample.stamp_ns + late, sample.position, sample.velocity), imu(t)]
    return feed(sync, samples), dict(sync.counts), sync


@pytest.mark.parametrize("size, rates", [(0.35, True), (-0.35, True), (3.0, True), (1.2, False)])
@pytest.mark.parametrize("length", [2, 4, 10])
def test_a_glitch_is_refused_and_counted_at_its_joint(length, size, rates):
    nodes, counts, sync = run(lambda t: size * (101 < t < 101 + length), rates)
    assert counts == {"joint_glitch_calf": length // 2} and sync.dropped_samples == length // 2
    for node in nodes[1:]:
        t = (node.stamp_ns - START) / MS
        np.testing.assert_allclose(node.position, swinging(t).position, atol=0.02)
    assert milliseconds(nodes) == list(range(10, 300, 10))


def test_glitches_of_a_continuous_joint_do_not_turn_it():
    """Two of them half a turn apart would look like a turn."""
    sync = Synchronizer(STEP, NJ, wearer=Wearer(NAMES, (), 0.01), turning=[2])
    samples = []
    for t in np.arange(0, 300, 2.0):
        sample = swinging(t, {100: 2.2, 102: -1.8}.get(t, 0.0), speed=2.0)
        samples += [sample, imu(t)]
    nodes = feed(sync, samples)
    assert sync.counts["joint_glitch_calf"] == 2
    assert abs(nodes[-1].position[2] - nodes[-1].position[0]) < 1e-9


def test_a_step_that_stays_is_followed():
    nodes, counts, _ = run(lambda t: 0.5 * (t > 101))
    assert 5 <= counts["joint_glitch_calf"] <= 10
    assert abs(nodes[-1].position[2] - nodes[-1].position[0] - 0.5) < 1e-9


def test_a_wrong_first_reading_is_forgotten():
    nodes, counts, _ = run(lambda t: 1.0 * (t < 1))
    assert counts["joint_glitch_calf"] <= 10
    assert abs(nodes[-1].position[2] - nodes[-1].position[0]) < 1e-9


@pytest.mark.parametrize("rates", [True, False])
@pytest.mark.parametrize("period, jitter", [(1.0, 0.4), (2.0, 0.9), (5.0, 1.0), (10.0, 1.0)])
def test_fast_joints_with_jitter_do_not_glitch(period, jitter, rates):
    counts = run(lambda t: 0.0, rates, np.arange(0, 600, period), 20.0, jitter)[1]
    assert not any("glitch" in reason for reason in counts)


@pytest.mark.parametrize("period, refused", [(2.0, True), (20.0, False)])
def test_a_knee_that_comes_down_between_two_samples_is_no_glitch(period, refused):
    """Between two readings at 50 Hz it may have moved by 0.2 rad, at no speed before and after."""
    _, counts, _ = run(lambda t: 0.2 * (t > 101), times=np.arange(0, 300, period), speed=1.0)
    assert ("joint_glitch_calf" in counts) is refused


def test_held_readings_do_not_glitch():
    """Readings that stay for four samples of a joint at 15 rad/s."""
    sync = Synchronizer(STEP, NJ, wearer=Wearer(NAMES, (), 0.01))
    for t in np.arange(0, 400, 2.0):
        held = swinging(8.0 * (t // 8.0), speed=15.0)
        feed(sync, [JointSample(START + round(t * MS), held.position, held.velocity), imu(t)])
    assert not sync.glitches and set(sync.counts) == {"joint_held"}


def glitches(moved: float, rate: float, dt: float) -> bool:
    """Whether a joint that went so far [rad] at a rate [rad/s] in a time [s] has jumped."""
    check = GlitchCheck(1)
    check.believe(0, np.array([0.0, rate]))
    return check.glitch(round(1e9 * dt), np.array([moved, rate])) is not None


@pytest.mark.parametrize("rate, dt", [(10.0, 0.02), (-10.0, 0.02), (0.0, 0.02), (0.0, 0.002)])
def test_a_jump_is_what_rates_and_impacts_do_not_explain(rate, dt):
    """|dq - dq/dt dt| beyond JUMP + APART |dq/dt| + HARDEST dt^2 / 4."""
    most = 0.1 + 0.005 * abs(rate) + 0.25 * 1500.0 * dt**2
    for sign in (1.0, -1.0):
        assert not glitches(rate * dt + sign * 0.99 * most, rate, dt)
        assert glitches(rate * dt + sign * 1.01 * most, rate, dt)
