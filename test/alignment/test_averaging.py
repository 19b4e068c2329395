# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Torques that a controller sets.

What a straight line between samples anticipates of their jumps.
"""

import numpy as np
import pytest

from prime_estimation.alignment.averaging import (
    apart,
    bend_weights,
    hold_correction,
    hold_correction_weights,
    jumps,
    linear_weights,
    unseen,
)

MS = 1_000_000
STEP = 8 * MS
STAMPS = np.arange(-18, 1, 2) * MS  # 500 Hz
TRIANGLE = 2


def triangle(t: np.ndarray) -> np.ndarray:
    return np.maximum(1.0 - np.abs(t / STEP + 1.0), 0.0)


@pytest.mark.parametrize("seed", range(3))
def test_share_of_a_jump_that_the_line_anticipates(seed):
    """Any sample times, the last one after the node.

    The line's mean less that of a step at the later sample.
    """
    rng = np.random.default_rng(seed)
    stamps = np.cumsum(rng.integers(MS // 2, 4 * MS, 14))
    stamps = stamps - stamps[-1] + int(rng.integers(0, MS // 2))
    fine = np.linspace(-2 * STEP, 0, 400_001)
    for k, share in enumerate(hold_correction_weights(stamps.tobytes(), STEP)):
        line = np.interp(fine, stamps, np.arange(len(stamps)) > k)
        assert share == pytest.approx(
            np.mean(triangle(fine) * (line - (fine >= stamps[k + 1]))) * 2.0, abs=1e-5
        )


def held_torque(t: np.ndarray, tick: int, height: np.ndarray) -> np.ndarray:
    """(n, joints): every joint follows its trend, and jumps at `tick`."""
    return 1e-7 * t[:, None] * height[::-1] + (t >= tick)[:, None] * height


def test_mean_of_a_torque_that_jumps_is_exact():
    height = np.array([3.0, -2.0, 4.0])
    fine = np.linspace(-2 * STEP, 0, 160_001)
    for tick in STAMPS[2:-2]:
        rows = held_torque(STAMPS, tick, height)
        weights, _ = linear_weights(STAMPS.tobytes(), STEP)
        truth = 2.0 * np.mean(triangle(fine)[:, None] * held_torque(fine, tick, height), axis=0)
        np.testing.assert_allclose(
            weights[TRIANGLE] @ rows - hold_correction(STAMPS, rows, STEP), truth, atol=1e-4
        )


def test_a_jump_is_found_in_noise_by_all_joints_together():
    """Twelve joints with 0.5 Nm of noise and jumps of 3 Nm.

    Linear interpolation gets the mean wrong by 0.34 Nm, of which 0.06 remain.
    """
    rng, height = np.random.default_rng(0), np.full(12, 3.0)
    rows = held_torque(STAMPS, int(STAMPS[5]), height) + 0.5 * rng.normal(
        size=(400, len(STAMPS), 12)
    )
    anticipated = hold_correction_weights(STAMPS.tobytes(), STEP)[4] * height
    assert anticipated[0] == pytest.approx(0.34, rel=0.05)
    found = np.mean([hold_correction(STAMPS, noisy, STEP) for noisy in rows], axis=0)
    np.testing.assert_allclose(found, anticipated, atol=0.06)


def test_noise_alone_moves_no_mean():
    """It adds a tenth to the noise of the mean of ten samples.

    Where it looks like a jump at all.
    """
    rng = np.random.default_rng(1)
    noise = 0.5 * rng.normal(size=(400, len(STAMPS), 12))
    found = np.array([hold_correction(STAMPS, rows, STEP) for rows in noise])
    np.testing.assert_allclose(found.mean(axis=0), 0.0, atol=0.01)
    mean = linear_weights(STAMPS.tobytes(), STEP)[0][TRIANGLE] @ noise
    assert (mean - found).std() < 1.1 * mean.std()


@pytest.mark.parametrize(
    "signal",
    [np.zeros_like, lambda t: 1e-6 * t, lambda t: np.sin(2e-7 * t), lambda t: np.exp(1e-7 * t)],
)
def test_smooth_torques_have_no_jumps(signal):
    rng = np.random.default_rng(2)
    for stamps in (STAMPS, np.sort(STAMPS + rng.integers(-MS // 4, MS // 4, len(STAMPS)))):
        assert not jumps(stamps, np.outer(signal(stamps.astype(float)), [1.0, -2.0])).any()


@pytest.mark.parametrize("count", [2, 3])
def test_few_samples_are_interpolated(count):
    stamps = np.linspace(-2 * STEP, 0, count).astype(np.int64)
    assert hold_correction(stamps, np.arange(2.0 * count).reshape(count, 2), STEP) == pytest.approx(
        np.zeros(2), abs=1e-12
    )


@pytest.mark.parametrize("period", [2.0, 5.0, 7.3, 20.0])
def test_positions_follow_the_parabola_of_their_rates(period):
    """An acceleration that is constant from one sample to the next leaves no error."""
    stamps = np.round(np.arange(-5.4, 1.0) * period * MS).astype(np.int64)
    t = 1e-9 * stamps[:, None]
    acceleration = np.array([[30.0, -200.0]])
    position, rate = 0.1 + 2.0 * t + 0.5 * acceleration * t**2, 2.0 + acceleration * t
    now = linear_weights(stamps.tobytes(), STEP)[0][3] @ position
    bend = bend_weights(stamps.tobytes()) @ rate
    assert np.abs(now - 0.1).max() > 1e-5
    np.testing.assert_allclose(now - bend, 0.1, atol=1e-9)
    at_node = bend_weights((stamps - stamps[-2]).tobytes())
    assert not at_node.any()


@pytest.mark.parametrize("apart_ns", [1, 20_000])
def test_samples_that_come_together_have_no_steep_trend(apart_ns):
    """Stamps of their arrival, three by three. With 1 ns between them torques had been 1e5 Nm."""
    rng = np.random.default_rng(2)
    bursts = 6_000_000 * np.arange(-6, 1)[:, None] + apart_ns * np.arange(3)
    stamps = bursts.ravel().astype(np.int64)
    rows = 20.0 + rng.normal(0.0, 0.5, (len(stamps), 12))
    assert np.abs(hold_correction(stamps, rows, STEP)).max() < 0.5


@pytest.mark.parametrize(
    "period, share, hidden",
    [(2, 1.0, 0.0), (5, 2.0, 0.0), (10, 4.0, 0.0), (15, 6.0, 0.5), (20, 6.0, 1.0), (40, 6.0, 1.0)],
)
def test_more_is_missed_between_samples_far_apart(period, share, hidden):
    stamps = (period * MS * np.arange(3)).tobytes()
    np.testing.assert_allclose(apart(stamps), np.full((2, 1), share))
    np.testing.assert_allclose(unseen(stamps), np.full((2, 1), hidden * np.sqrt(share**2 - 1.0)))
