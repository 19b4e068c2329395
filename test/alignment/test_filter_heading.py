# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Heading of the IMU's own filter: its turn over seconds, the gyro's from node to node."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pinocchio as pin
import pytest

from prime_estimation.alignment.filter_heading import COMPARED
from prime_estimation.alignment.imu_readings import ImuReadings
from prime_estimation.alignment.node_window import NodeWindow
from prime_estimation.types import ImuSample

STEP, SAMPLE = 10_000_000, 2_000_000  # ns
LEAN = pin.rpy.rpyToMatrix(0.3, -0.2, 0.0)  # of the IMU


def rates(
    turn, gyro_bias=0.0, drift=0.0, jump=(np.inf, 0.0), away=(), seconds=6.0, noise=0.0, dead=9.0
):
    """Rates about the vertical [rad/s] that nodes are given, and what was counted.

    Args:
        turn: rate (t) about the vertical [rad/s].
        gyro_bias, drift: of the gyro's and of the filter's rate about it [rad/s].
        jump: from when on, by how much the filter's heading has jumped [s, rad].
        away: times between which the filter says nothing [s].
        dead: when an axis of the gyro dies [s].
    """
    counts, rng = Counter(), np.random.default_rng(0)
    readings = ImuReadings(counts, 50_000_000, False)
    heading, out = 2.0, {}
    for k in range(round(seconds * 1e9) // SAMPLE):
        t = 1e-9 * k * SAMPLE
        heading += turn(t) * 1e-9 * SAMPLE
        seen = heading + drift * t + jump[1] * (t >= jump[0]) + noise * rng.normal()
        R = pin.exp3(np.array([0.0, 0.0, seen])) @ LEAN
        quat = None if away and away[0] <= t < away[1] else pin.Quaternion(R).coeffs()
        gyro = LEAN.T @ [0.0, 0.0, turn(t) + gyro_bias] + 1e-4 * rng.normal(size=3)
        gyro[0] *= t < dead
        sample = ImuSample(k * SAMPLE, gyro, 9.81 * LEAN[2] + 1e-3 * rng.normal(size=3), quat)
        readings.push(sample)
        if k * SAMPLE % STEP == 0 and k * SAMPLE >= 3 * STEP:
            window = NodeWindow.of(readings.stream, k * SAMPLE, STEP, counts)
            out[t] = readings.fields(window).get("heading_rate")
    return out, counts


def swing(t: float) -> float:
    """Of a robot that walks [rad/s]."""
    return 0.3 + 0.5 * np.sin(9.0 * t)


def test_it_turns_as_the_filter_over_a_while_and_as_the_gyro_from_node_to_node():
    found, _ = rates(swing, gyro_bias=0.05)
    told = {t: r for t, r in found.items() if r is not None}
    assert min(told) == pytest.approx(COMPARED, abs=0.05)
    mean = {t: np.mean([swing(t - s) for s in np.linspace(0.0, 0.01, 20)]) for t in told}
    assert max(abs(told[t] - mean[t]) for t in told) < 5e-3


def test_noise_of_the_filter_is_not_that_of_the_rate():
    """What differences of its readings would have, 0.4 rad/s, is a thirtieth."""
    found, _ = rates(swing, gyro_bias=0.05, noise=0.003)
    errors = [r - swing(t - 0.005) for t, r in found.items() if r is not None]
    assert np.std(errors) < 0.03 and abs(np.mean(errors)) < 2e-3


def test_another_heading_and_a_filter_that_is_away_are_no_turn():
    found, _ = rates(swing, jump=(2.0, 0.7), away=(4.0, 4.2))
    unknown = [t for t, r in found.items() if r is None and t > 0.5]
    begin, end = zip(*((min(part), max(part)) for part in (unknown[:30], unknown[30:])))
    assert begin == pytest.approx((2.0, 4.0), abs=0.011)
    assert end == pytest.approx((2.0 + COMPARED, 4.2), abs=0.021)
    assert max(abs(r - swing(t - 0.005)) for t, r in found.items() if r is not None) < 0.02


@pytest.mark.parametrize(("drift", "used"), [(0.0, True), (0.001, True), (0.004, False)])
def test_a_heading_that_turns_at_rest_is_not_used(drift, used):
    """A filter that integrates the gyro with its bias knows no more than the gyro."""
    found, counts = rates(lambda t: 0.0, gyro_bias=drift, drift=drift)
    assert (found[max(found)] is not None) == used
    assert bool(counts["imu_heading_drifts"]) != used


def test_a_filter_that_turns_otherwise_is_not_used():
    """As inverse poses do."""
    found, counts = rates(swing, drift=-0.6)
    assert set(found.values()) == {None} and counts["imu_heading_outlier"] > 100


def test_a_turntable_is_no_rest():
    found, counts = rates(lambda t: 0.3, seconds=8.0)
    assert not counts["imu_heading_drifts"] and found[max(found)] == pytest.approx(0.3, abs=1e-3)


def test_a_gyro_with_a_dead_axis_tells_no_rate_from_node_to_node():
    found, _ = rates(swing, dead=2.0, seconds=3.0)
    assert found[1.9] is not None and found[2.5] is None


def test_without_orientation_there_is_none():
    found, _ = rates(swing, away=(0.0, 9.0), seconds=1.0)
    assert set(found.values()) == {None}
