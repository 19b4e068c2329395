# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Feet that sink where they land are no clock: stamps of the IMU stay where nothing is late."""

from __future__ import annotations

import numpy as np
import pytest

from prime_estimation.config.parameters import Config
from prime_estimation.config.policies import IMU_CLOCK
from prime_estimation.recordings.imu_clock import ImuClock
from prime_estimation.robot import Robot


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
