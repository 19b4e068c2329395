# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Scale of poses that are refused: another unit, but not another place, is told."""

from __future__ import annotations

import numpy as np
import pytest

from prime_estimation.sensors.pose_scale import PoseScale


def said(scale: float, seconds: float = 3.0, away: float = 0.0, noise: float = 1e-3) -> str:
    """Of poses at 100 Hz of a robot that walks at 0.4 m/s, in another unit."""
    rng, told = np.random.default_rng(0), PoseScale()
    for k in range(round(100 * seconds)):
        place = np.array([0.004 * k, 0.0, 0.3])
        seen = scale * (place + noise * rng.standard_normal(3)) + away
        told.take(10_000_000 * k, seen, place)
    return told.remark()


@pytest.mark.parametrize("scale", [1000.0, 100.0, 0.001])
def test_another_unit(scale):
    assert said(scale).endswith(": are they in m?")


@pytest.mark.parametrize("scale, away", [(1.0, 0.0), (1.0, 300.0), (2.0, 0.0), (0.4, 0.0)])
def test_another_place_or_a_wrong_mount(scale, away):
    assert said(scale, away=away) == ""


def test_too_few_tell_nothing():
    assert said(1000.0, seconds=0.5) == ""
